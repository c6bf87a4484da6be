/**
 * Bounds the number of admissions in progress. Otherwise, thousands of requests that arrive together would call the
 * stores at once, and fail at the deadline of these calls although the stores respond. Callers that wait take turns, so
 * that many requests of one caller do not delay those of others.
 */
import * as Effect from "effect/Effect"

/** Maximum number of admissions in progress; a store that shares a statement among calls needs far fewer. */
const MAX = 256

/** The place of one request. */
interface Place {
  isStarted: boolean
  /** The caller and its turn, while the request waits. */
  caller?: string
  start?: () => void
}

export class AdmissionTurns {
  readonly #max: number
  #inProgress = 0
  /** What waits, in order of arrival; the order of the map is that of the callers' next turns. */
  readonly #waiting = new Map<string, Set<Place>>()

  constructor(max = MAX) {
    this.#max = max
  }

  /**
   * Runs the admission of a request in turn. After a result for which `isOutage` is true, all requests start that wait:
   * while a store is unavailable, each of them must fail within its own deadline.
   */
  run<A>(
    callerOf: () => string,
    admission: Effect.Effect<A>,
    isOutage: (result: A) => boolean
  ): Effect.Effect<A> {
    const place: Place = { isStarted: false }
    const result = Effect.suspend(() => {
      if (this.#inProgress < this.#max) this.#start(place)
      return place.isStarted ? admission : Effect.andThen(this.#wait(place, callerOf()), admission)
    })
    return Effect.onExit(result, (exit) => {
      this.#leave(place)
      if (exit._tag === "Success" && isOutage(exit.value)) while (this.#startNext()) {}
      return Effect.void
    })
  }

  #start(place: Place): void {
    place.isStarted = true
    this.#inProgress++
    place.start?.()
  }

  #wait(place: Place, caller: string): Effect.Effect<void> {
    return Effect.callback((resume) => {
      place.caller = caller
      place.start = () => resume(Effect.void)
      const places = this.#waiting.get(caller)
      if (places === undefined) this.#waiting.set(caller, new Set([place]))
      else places.add(place)
    })
  }

  #leave(place: Place): void {
    if (!place.isStarted) return void this.#remove(place)
    this.#inProgress--
    if (this.#inProgress < this.#max) this.#startNext()
  }

  /** Starts the next request of the caller whose turn it is; returns false if none waits. */
  #startNext(): boolean {
    for (const [caller, places] of this.#waiting) {
      for (const place of places) {
        this.#waiting.delete(caller)
        places.delete(place)
        // The caller moves behind all others.
        if (places.size > 0) this.#waiting.set(caller, places)
        this.#start(place)
        return true
      }
    }
    return false
  }

  #remove(place: Place): void {
    if (place.caller === undefined) return
    const places = this.#waiting.get(place.caller)
    places?.delete(place)
    if (places?.size === 0) this.#waiting.delete(place.caller)
  }
}
