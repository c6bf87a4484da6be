/** `POST /pets` (contract §4.2): stores an animal. */
import * as Effect from "effect/Effect"
import * as NewPetBody from "../codec/NewPetBody.ts"
import * as PetJson from "../codec/PetJson.ts"
import type * as QueryParameters from "../codec/QueryParameters.ts"
import * as Deprecation from "../deprecation/Deprecation.ts"
import type { NewPet } from "../domain/NewPet.ts"
import * as Operation from "./Operation.ts"
import * as Schemas from "./Schemas.ts"

/** Whether `Location` can point to an animal, by the phase of `getPet`. */
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
  description: "Stores an animal and returns it with the id that it was given.",
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
        description: "Address of the created animal, as long as `getPet` is not removed.",
        example: (address) => `${address("/pets")}/1`
      }
    }
  },
  run: Effect.fnUntraced(function* ({
    address,
    body,
    now,
    options,
    pets
  }: Operation.Input<QueryParameters.None, NewPet>) {
    const pet = yield* pets.insert(body)
    const phase = Deprecation.phaseAt(options.getPetDeprecation, now)
    return {
      body: PetJson.encode(pet),
      headers: isReadable[phase] ? [["Location", `${address("/pets")}/${pet.id}`]] : []
    }
  })
})
