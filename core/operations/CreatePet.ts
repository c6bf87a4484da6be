import type * as Effect from "effect/Effect"
import type { NewPet } from "../domain/NewPet.ts"
import type { Pet } from "../domain/Pet.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { PetRepository } from "../ports/PetRepository.ts"

/** `createPet` (contract §4.2): stores the animal and answers with it and its new id. */
export const createPet = (
  pets: PetRepository["Service"],
  pet: NewPet
): Effect.Effect<Pet, StoreUnavailable> => pets.insert(pet)
