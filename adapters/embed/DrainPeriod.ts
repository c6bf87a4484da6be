/** The time between the announcement that a store is about to close and its closing: load balancers need it to notice. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { Service } from "../../core/service/Service.ts"
import { InFlight } from "./InFlight.ts"

export interface DrainPeriod {
  /** Announces the end, then waits for so many milliseconds; a store that has received no request does not wait. */
  readonly run: (ms: number) => Effect.Effect<void>
  /** Ends the wait early. */
  readonly end: Effect.Effect<void>
}

export const make: Effect.Effect<DrainPeriod, never, Service | InFlight> = Effect.gen(function* () {
  const service = yield* Service
  const inFlight = yield* InFlight
  const ended = Latch.makeUnsafe(false)
  return {
    run: Effect.fnUntraced(function* (ms) {
      yield* service.drain
      if (inFlight.hasServed()) yield* Effect.raceFirst(Effect.sleep(ms), ended.await)
    }),
    end: Effect.sync(() => ended.openUnsafe())
  }
})
