/** A module preloaded into an attacked server, which reports over IPC what is in use after a garbage collection. */

/** The memory and handles of a server. */
export interface Inspection {
  /** Bytes of the heap and of buffers outside it. */
  readonly memory: number
  /** Open handles and pending requests of libuv, without timers. */
  readonly handles: number
}

/** Delay in ms, because a background thread releases buffers after the collection. */
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
