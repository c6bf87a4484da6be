import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as Int64 from "../domain/Int64.ts"
import type { Pet } from "../domain/Pet.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { PetRepository } from "../ports/PetRepository.ts"

/**
 * `getPet` (contract §4.3, deprecated): the animal whose id has this canonical text; any other text, and an id that
 * is not in use, is `not_found`. From its sunset on the operation answers as `policy` says.
 */
export const getPet = Effect.fnUntraced(function* (
  petId: string,
  policy: Deprecation.Deprecation
): Effect.fn.Return<
  Pet,
  ApiError.ApiError<"not_found"> | ApiError.ApiError<"operation_removed"> | StoreUnavailable,
  PetRepository
> {
  const now = yield* Clock.currentTimeMillis
  if (Deprecation.phaseAt(policy, now) === "removed") {
    return yield* Effect.fail(
      policy.afterSunset === "not-found" ? ApiError.make("not_found") : ApiError.make("operation_removed")
    )
  }
  const id = Int64.fromCanonicalText(petId)
  const found = id === undefined ? Option.none() : yield* (yield* PetRepository).find(id)
  if (Option.isNone(found)) {
    return yield* Effect.fail(ApiError.make("not_found", "There is no animal with this id."))
  }
  return found.value
})
