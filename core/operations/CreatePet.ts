/** Implements `POST /pets` (contract §4.2), which stores an animal. */
import * as Effect from "effect/Effect"
import * as NewPetBody from "../codec/NewPetBody.ts"
import * as PetJson from "../codec/PetJson.ts"
import type * as QueryParameters from "../codec/QueryParameters.ts"
import * as Deprecation from "../deprecation/Deprecation.ts"
import { identity, type NewPet } from "../domain/NewPet.ts"
import type { Pet } from "../domain/Pet.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { Outcome } from "../idempotency/Once.ts"
import * as RunOnce from "../idempotency/RunOnce.ts"
import type { Header } from "../service/ServiceResponse.ts"
import * as Operation from "./Operation.ts"
import * as Schemas from "./Schemas.ts"

/** Whether `getPet` returns animals, by its phase; `Location` is sent only if it does. */
const isReadable: { readonly [phase in Deprecation.Phase]: boolean } = {
  active: true,
  deprecated: true,
  removed: false
}

export const createPet = Operation.make({
  id: "createPet",
  method: "POST",
  path: "/pets",
  summary: "Add an animal",
  description: "Stores an animal and returns it with its new id.",
  body: {
    description: "The animal",
    schema: Schemas.ref("NewPet"),
    examples: { minimal: Schemas.examples.minimalNewPet, full: Schemas.examples.fullNewPet },
    decode: NewPetBody.decode
  },
  success: {
    status: 201,
    description: "The created animal.",
    schema: Schemas.ref("Pet"),
    examples: { pet: Schemas.examples.pet },
    headers: {
      Location: {
        description: "URL of the created animal; absent after `getPet` is removed.",
        example: (address) => `${address("/pets")}/1`
      }
    }
  },
  // Identifies the decoded animal, not its JSON text, because a client may encode it differently for each attempt.
  fingerprint: identity,
  run: ({ address, body, now, once, options, pets }: Operation.Input<QueryParameters.None, NewPet>) => {
    const insertion: Effect.Effect<Insertion, Operation.Failure> =
      once === undefined || pets.insertOnce === undefined
        ? Effect.map(pets.insert(body), (pet) => ({ _tag: "Inserted", pet }))
        : insertionOrError(pets.insertOnce(body, once))
    return Effect.map(insertion, ({ _tag, pet }) => {
      const phase = Deprecation.phaseAt(options.getPetDeprecation, now)
      const headers: Array<Header> = isReadable[phase] ? [["Location", `${address("/pets")}/${pet.id}`]] : []
      if (_tag === "Replayed") headers.push(RunOnce.replayed)
      return { body: PetJson.encode(pet), headers }
    })
  }
})

/** An outcome with an animal: stored by this request or by an earlier one. */
type Insertion = Extract<Outcome, { readonly pet: Pet }>

const insertionOrError = (
  insertion: Effect.Effect<Outcome, StoreUnavailable>
): Effect.Effect<Insertion, StoreUnavailable | ApiError.ApiError> =>
  Effect.flatMap(insertion, (outcome): Effect.Effect<Insertion, ApiError.ApiError> => {
    switch (outcome._tag) {
      case "Mismatch":
        return Effect.fail(ApiError.make("idempotency_key_reused"))
      case "InProgress":
        return Effect.fail(ApiError.make("idempotency_key_in_use"))
      default:
        return Effect.succeed(outcome)
    }
  })
