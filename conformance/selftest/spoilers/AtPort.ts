/** Places faults at a storage port, and makes a lock that faulty stores do not always release. */
import * as Effect from "effect/Effect"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import type { ApiKeyStore } from "../../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import type { SpoiledPorts, Where } from "../Fault.ts"

type Pets = PetRepository["Service"]
type Keys = ApiKeyStore["Service"]

/** Replaces some methods of a repository. */
export const pets = (methods: (real: Pets) => Partial<Pets>): Where => ({
  at: "port",
  pets: (real) => ({ ...real, ...methods(real) })
})

/** Replaces some methods of a store of API keys. */
export const keys = (methods: (real: Keys) => Partial<Keys>): Where => ({
  at: "port",
  keys: (real) => ({ ...real, ...methods(real) })
})

/** Replaces a store of rate limits; methods that are absent are derived from `modify`. */
export const limits = (spoil: NonNullable<SpoiledPorts["limits"]>): Where => ({ at: "port", limits: spoil })

type Guard = <A>(call: Effect.Effect<A, StoreUnavailable>) => Effect.Effect<A, StoreUnavailable>

/** Creates a guard for calls: after a defect or an interruption the lock stays held, and later calls fail, as in SQLite. */
export const leakyLock = (): Guard => {
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
