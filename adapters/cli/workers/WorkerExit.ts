/** Waits until a worker has exited and its last message has arrived. */
import type { Worker } from "node:cluster"

/** Time in milliseconds to wait for the remaining messages of a process that has exited. */
const LAST_MESSAGES_MS = 1_000

/**
 * Calls `done` once, after the worker has exited and its last message was received, at most `LAST_MESSAGES_MS` later.
 * The event `disconnect` is not enough: Node never emits it if the worker exits while a connection is being sent to it.
 */
export const once = (
  worker: Worker,
  done: (code: number | null, signal: NodeJS.Signals | null) => void
): void => {
  worker.process.once("exit", (code, signal) => {
    if (!worker.isConnected()) return done(code, signal)
    let isDone = false
    const finish = (): void => {
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      done(code, signal)
    }
    const timer = setTimeout(() => {
      // Otherwise `node:cluster` would continue to hand connections to it.
      worker.disconnect()
      finish()
    }, LAST_MESSAGES_MS)
    worker.once("disconnect", finish)
  })
}
