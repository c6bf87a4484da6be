/** Implements `GET /pets/{petId}` (contract §4.3, deprecated), which returns one animal. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PetJson from "../codec/PetJson.ts"
import * as Int64 from "../domain/Int64.ts"
import type { Pet } from "../domain/Pet.ts"
import * as ApiError from "../errors/ApiError.ts"
import * as Operation from "./Operation.ts"
import * as Schemas from "./Schemas.ts"

const unknownAnimal = Effect.fail(ApiError.make("not_found", "There is no animal with this id."))

const outputOf = (pet: Option.Option<Pet>) =>
  Option.isNone(pet) ? unknownAnimal : Effect.succeed({ body: PetJson.encode(pet.value) })

export const getPet = Operation.make({
  id: "getPet",
  method: "GET",
  path: "/pets/{petId}",
  summary: "Get an animal",
  description: "Use `GET /pets` with the `status` filter instead.",
  removal: { policy: ({ getPetDeprecation }) => getPetDeprecation, successor: "/pets" },
  pathParameters: {
    petId: { description: "Identifier of the animal to fetch.", schema: Schemas.ref("Int64") }
  },
  success: {
    status: 200,
    description: "The animal.",
    schema: Schemas.ref("Pet"),
    examples: { pet: Schemas.examples.pet }
  },
  errors: ["not_found"],
  run: ({ path: { petId = "" }, pets }) => {
    // No animal has an id that is not canonical, so the response is 404 and not 400.
    const id = Int64.fromCanonicalText(petId)
    return id === undefined ? unknownAnimal : Effect.flatMap(pets.find(id), outputOf)
  }
})
