/**
 * Bounds the number of admissions in progress, and of those that carry usage over. Otherwise, thousands of requests that
 * arrive together would call the stores at once, and fail at the deadline of these calls although the stores respond.
 * Callers that wait take turns, so that many requests of one caller do not delay those of others: a caller is a secret,
 * or the network of a request without a well-formed one (docs/decisions/connections.md#bytes-in-flight).
 */
import * as Effect from "effect/Effect"

/** Maximum number of admissions in progress; a store that shares a statement among calls needs far fewer. */
const MAX = 256

/** The turn of one request. */
export interface Turn {
  /** Whether the admission is in progress; before that, the request waits. */
  hasCome: boolean
  readonly caller: string
  start?: () => void
}

/** The turn of requests that need not wait. */
const immediate: Turn = { hasCome: true, caller: "" }

export class AdmissionTurns {
  readonly #max: number
  #inProgress = 0
  /** What waits, in order of arrival; the order of the map is that of the callers' next turns. */
  readonly #waiting = new Map<string, Set<Turn>>()

  constructor(max = MAX) {
    this.#max = max
  }

  /**
   * Starts the admission of a request, or queues the request if too many are in progress; `leave` must follow. The caller
   * is only determined if the request must wait.
   */
  enter(callerOf: () => string): Turn {
    if (this.#inProgress < this.#max) {
      this.#inProgress++
      return immediate
    }
    const caller = callerOf()
    const turn: Turn = { hasCome: false, caller }
    const turns = this.#waiting.get(caller)
    if (turns === undefined) this.#waiting.set(caller, new Set([turn]))
    else turns.add(turn)
    return turn
  }

  /** Waits until the turn has come. */
  wait(turn: Turn): Effect.Effect<void> {
    return Effect.callback((resume) => {
      if (turn.hasCome) resume(Effect.void)
      turn.start = () => resume(Effect.void)
    })
  }

  /**
   * Ends the admission of a request, or its wait. If a store is unavailable, all requests start that wait: each of them
   * must fail within its own deadline.
   */
  leave(turn: Turn, isOutage: boolean): void {
    if (!turn.hasCome) return void this.#remove(turn)
    this.#inProgress--
    if (this.#inProgress < this.#max) this.#startNext()
    if (isOutage) while (this.#startNext()) {}
  }

  /** Starts the next request of the caller whose turn it is; returns false if none waits. */
  #startNext(): boolean {
    for (const [caller, turns] of this.#waiting) {
      for (const turn of turns) {
        this.#waiting.delete(caller)
        turns.delete(turn)
        // The caller moves behind all others.
        if (turns.size > 0) this.#waiting.set(caller, turns)
        this.#inProgress++
        turn.hasCome = true
        turn.start?.()
        return true
      }
    }
    return false
  }

  #remove(turn: Turn): void {
    const turns = this.#waiting.get(turn.caller)
    turns?.delete(turn)
    if (turns?.size === 0) this.#waiting.delete(turn.caller)
  }
}
