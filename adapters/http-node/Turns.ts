/**
 * Connections whose clients sent requests ahead. They go on a few at a time, so that requests of other clients are
 * handled in between, and wait for the stores behind few of theirs, however many of these connections there are.
 */

/** Connections that go on in one turn of the event loop. */
const PER_TURN = 2

/** Their requests that the service may work on at the same time. */
const MAX_UNDER_WAY = 16

export interface Waiting {
  readonly goOn: () => void
  /** Whether the service works on a request of it. */
  readonly isUnderWay: boolean
}

export class Turns {
  readonly #waiting = new Set<Waiting>()
  readonly #underWay = new Set<Waiting>()

  /** Lets `one` go on in a later turn of the event loop. */
  add(one: Waiting): void {
    this.#waiting.add(one)
    if (this.#waiting.size === 1) setImmediate(this.#run)
  }

  readonly #run = (): void => {
    for (const one of this.#underWay) {
      if (!one.isUnderWay) this.#underWay.delete(one)
    }
    let left = Math.min(PER_TURN, MAX_UNDER_WAY - this.#underWay.size)
    const isFull = left === 0
    for (const one of this.#waiting) {
      if (left-- === 0) break
      this.#waiting.delete(one)
      this.#underWay.add(one)
      one.goOn()
    }
    if (this.#waiting.size === 0) return
    if (isFull) setTimeout(this.#run, 1)
    else setImmediate(this.#run)
  }
}
