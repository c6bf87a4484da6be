/**
 * Resumes connections with pipelined requests, a few at a time. The event loop stays free for other clients, and the
 * stores process a bounded number of pipelined requests, however many such connections exist.
 */

/** Maximum number of connections that resume in one turn of the event loop. */
const MAX_PER_TURN = 2

/** Maximum number of resumed connections whose requests the service processes at the same time. */
const MAX_IN_FLIGHT = 16

export interface Resumable {
  readonly resume: () => void
  /** Whether the service is processing the latest request of the connection. */
  readonly isInFlight: boolean
}

export class ResumeQueue {
  readonly #queued = new Set<Resumable>()
  readonly #inFlight = new Set<Resumable>()

  /** Schedules `resume` for a later turn of the event loop. */
  add(connection: Resumable): void {
    this.#queued.add(connection)
    if (this.#queued.size === 1) setImmediate(this.#run)
  }

  readonly #run = (): void => {
    for (const connection of this.#inFlight) {
      if (!connection.isInFlight) this.#inFlight.delete(connection)
    }
    let free = Math.min(MAX_PER_TURN, MAX_IN_FLIGHT - this.#inFlight.size)
    const isFull = free === 0
    for (const connection of this.#queued) {
      if (free-- === 0) break
      this.#queued.delete(connection)
      this.#inFlight.add(connection)
      connection.resume()
    }
    if (this.#queued.size === 0) return
    if (isFull) setTimeout(this.#run, 1)
    else setImmediate(this.#run)
  }
}
