/**
 * Resumes connections with pipelined requests, a few at a time. The event loop stays free for other clients, and the
 * stores process a bounded number of pipelined requests, however many such connections exist.
 */
import { LinkedQueue } from "../storage/LinkedQueue.ts"

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
  readonly #queued = new LinkedQueue<Resumable>()
  #inFlight: ReadonlyArray<Resumable> = []
  #isScheduled = false

  /** Schedules `resume` for a later turn of the event loop; a connection that waits must not be added again. */
  add(connection: Resumable): void {
    this.#queued.add(connection)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#run)
  }

  readonly #run = (): void => {
    const inFlight = this.#inFlight.filter(({ isInFlight }) => isInFlight)
    const free = Math.min(MAX_PER_TURN, MAX_IN_FLIGHT - inFlight.length)
    const resuming: Array<Resumable> = []
    while (resuming.length < free) {
      const connection = this.#queued.shift()
      if (connection === undefined) break
      resuming.push(connection)
    }
    this.#inFlight = [...inFlight.filter((connection) => !resuming.includes(connection)), ...resuming]
    for (const connection of resuming) connection.resume()
    this.#isScheduled = this.#queued.size > 0
    if (!this.#isScheduled) return
    if (free === 0) setTimeout(this.#run, 1)
    else setImmediate(this.#run)
  }
}
