import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as Int64 from "../domain/Int64.ts"
import type { Pet } from "../domain/Pet.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as Immediate from "../ports/Immediate.ts"
import type { PetRepository } from "../ports/PetRepository.ts"

/**
 * `getPet` (contract §4.3, deprecated): the animal whose id has this canonical text; any other text, and an id that
 * is not in use, is `not_found`. From its sunset on the operation answers as `policy` says; `now` in epoch ms.
 */
export const getPet = (
  pets: PetRepository["Service"],
  petId: string,
  policy: Deprecation.Deprecation,
  now: number
): Effect.Effect<
  Pet,
  ApiError.ApiError<"not_found"> | ApiError.ApiError<"operation_removed"> | StoreUnavailable
> => {
  if (Deprecation.phaseAt(policy, now) === "removed") {
    return policy.afterSunset === "not-found"
      ? Effect.fail(ApiError.make("not_found"))
      : Effect.fail(ApiError.make("operation_removed"))
  }
  const id = Int64.fromCanonicalText(petId)
  if (id === undefined) return noSuchAnimal
  return Immediate.flatMap(pets.find(id), (found) =>
    Option.isSome(found) ? Effect.succeed(found.value) : noSuchAnimal
  )
}

const noSuchAnimal = Effect.fail(ApiError.make("not_found", "There is no animal with this id."))
