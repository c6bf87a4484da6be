/** Repositories that are asked for one animal and change what is found. */
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Int64 } from "../../core/domain/Int64.ts"
import type { Pet } from "../../core/domain/Pet.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { Spoil } from "./Fault.ts"

export const found =
  (change: (found: Option.Option<Pet>, id: Int64) => Option.Option<Pet>): Spoil<PetRepository["Service"]> =>
  (real) => ({ ...real, find: (id) => Effect.map(real.find(id), (pet) => change(pet, id)) })
