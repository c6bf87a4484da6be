/** Preloaded into an attacked server: reports over IPC what is in use, after a garbage collection. */

/** What a server holds. */
export interface Inspection {
  /** Bytes of the heap and of buffers outside it. */
  readonly memory: number
  /** Open handles and pending requests of libuv, without timers. */
  readonly handles: number
}

/** Buffers are released by a thread that runs behind the collector. */
const COLLECTIONS = 5

const inspect = async (): Promise<void> => {
  for (let round = 0; round < COLLECTIONS; round++) {
    globalThis.gc?.()
    await new Promise(setImmediate)
  }
  const { external, heapUsed } = process.memoryUsage()
  const handles = process.getActiveResourcesInfo().filter((name) => !/^(Timeout|Immediate)$/.test(name))
  const inspection: Inspection = { memory: heapUsed + external, handles: handles.length }
  process.send?.(inspection)
}

process.on("message", () => void inspect())
// The server ends when it has closed, as it would without this.
process.channel?.unref()
