/** Waits between the start of a drain and the close of a store, so that load balancers detect the drain. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { InFlight } from "../../core/service/InFlight.ts"
import { Service } from "../../core/service/Service.ts"

export interface DrainPeriod {
  /** Starts the drain. Then waits for `ms` milliseconds or until `end`, if the store has received any request. */
  readonly run: (ms: number) => Effect.Effect<void>
  /** Ends current and future waits immediately. */
  readonly end: Effect.Effect<void>
}

export const make: Effect.Effect<DrainPeriod, never, Service> = Effect.gen(function* () {
  const service = yield* Service
  const inFlight = yield* InFlight
  const ended = Latch.makeUnsafe(false)
  return {
    run: Effect.fnUntraced(function* (ms) {
      yield* service.drain
      if (inFlight?.hasBegun) yield* Effect.raceFirst(Effect.sleep(ms), ended.await)
    }),
    end: Effect.sync(() => ended.openUnsafe())
  }
})
