/** Counts the requests that hosts pass to the service, so that stores can close after the last one has ended. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

export class Requests {
  readonly #idle = Latch.makeUnsafe(true)
  #count = 0
  /** Whether any request has begun. */
  hasBegun = false

  begin(): void {
    this.hasBegun = true
    if (this.#count++ === 0) this.#idle.closeUnsafe()
  }

  end(): void {
    if (--this.#count === 0) this.#idle.openUnsafe()
  }

  /** Waits until no request is in flight. */
  get idle(): Effect.Effect<void> {
    return this.#idle.await
  }
}

/** The counter of all hosts of a service; `undefined` by default, and then hosts do not count. */
export const InFlight = Context.Reference<Requests | undefined>("animal-store/core/service/InFlight", {
  defaultValue: () => undefined
})
