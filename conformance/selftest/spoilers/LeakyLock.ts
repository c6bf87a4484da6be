/** Makes a lock that faulty stores do not always release. */
import * as Effect from "effect/Effect"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"

/** Returns a guard for calls: after a defect or an interruption the lock stays held, and later calls fail, as in SQLite. */
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
      const result = yield* call
      yield* Effect.yieldNow
      isTaken = false
      return result
    })
}
