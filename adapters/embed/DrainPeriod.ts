/** The period between the start of a drain and the close of a store, in which load balancers notice the drain. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { Service } from "../../core/service/Service.ts"
import { InFlight } from "./InFlight.ts"

export interface DrainPeriod {
  /** Starts the drain and waits for `ms` milliseconds; a store that has received no request does not wait. */
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
