/** Is preloaded into an attacked server, and reports its memory and handles after a garbage collection, over IPC. */

/** The memory and handles of a server. */
export interface Inspection {
  /** Bytes in use on the heap and in buffers outside it. */
  readonly memory: number
  /** Open handles and pending requests of libuv, without timers. */
  readonly handles: number
}

/** The number of garbage collections; a background thread releases buffers after each, so one is not enough. */
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
// The channel must not keep the server alive.
process.channel?.unref()
