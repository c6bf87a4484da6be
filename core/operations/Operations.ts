/** Lists all operations of the HTTP interface (contract §4). */
import { createPet } from "./CreatePet.ts"
import { getPet } from "./GetPet.ts"
import { listPets } from "./ListPets.ts"
import type { Operation } from "./Operation.ts"

export const all: ReadonlyArray<Operation> = [listPets, createPet, getPet]
