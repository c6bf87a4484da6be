/** Implements `POST /pets` (contract §4.2), which stores an animal. */
import * as Effect from "effect/Effect"
import * as NewPetBody from "../codec/NewPetBody.ts"
import * as PetJson from "../codec/PetJson.ts"
import type * as QueryParameters from "../codec/QueryParameters.ts"
import * as Deprecation from "../deprecation/Deprecation.ts"
import { identity, type NewPet } from "../domain/NewPet.ts"
import type { Pet } from "../domain/Pet.ts"
import * as ApiError from "../errors/ApiError.ts"
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
    const created = (pet: Pet, isReplayed = false): Created => {
      const phase = Deprecation.phaseAt(options.getPetDeprecation, now)
      const headers: Array<Header> = isReadable[phase] ? [["Location", `${address("/pets")}/${pet.id}`]] : []
      if (isReplayed) headers.push(RunOnce.replayed)
      return { body: PetJson.encode(pet), headers }
    }
    if (once === undefined || pets.insertOnce === undefined)
      return Effect.map(pets.insert(body), (pet) => created(pet))
    return Effect.flatMap(
      pets.insertOnce(body, once),
      (outcome): Effect.Effect<Created, ApiError.ApiError> => {
        switch (outcome._tag) {
          case "Mismatch":
            return Effect.fail(ApiError.make("idempotency_key_reused"))
          case "InProgress":
            return Effect.fail(ApiError.make("idempotency_key_in_use"))
          default:
            return Effect.succeed(created(outcome.pet, outcome._tag === "Replayed"))
        }
      }
    )
  }
})

type Created = Operation.Output & { readonly body: string }
