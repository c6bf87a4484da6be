/** A lock that faulty stores forget to give back. */
import * as Effect from "effect/Effect"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"

/** Guards calls; whoever dies or is interrupted keeps it, and whoever finds it taken fails, as with SQLite. */
export const make = (): (<A>(
  call: Effect.Effect<A, StoreUnavailable>
) => Effect.Effect<A, StoreUnavailable>) => {
  let isTaken = false
  return (call) =>
    Effect.gen(function* () {
      if (isTaken) {
        return yield* new StoreUnavailable({ retryable: true, cause: new Error("database is locked") })
      }
      isTaken = true
      yield* Effect.yieldNow
      const answer = yield* call
      yield* Effect.yieldNow
      isTaken = false
      return answer
    })
}
