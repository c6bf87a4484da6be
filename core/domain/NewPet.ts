/** Defines an animal in a create request, before the service assigns an id (contract §2 `NewPet`). */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Int64 } from "./Int64.ts"
import { PetName } from "./PetName.ts"
import * as PetStatus from "./PetStatus.ts"

/** A new animal, as a schema; an absent `status` is decoded as `PetStatus.initial`. */
export const NewPet = Schema.Struct({
  name: PetName,
  categoryId: Int64,
  status: PetStatus.PetStatus.pipe(Schema.withDecodingDefaultKey(Effect.succeed(PetStatus.initial)))
})

export type NewPet = typeof NewPet.Type
