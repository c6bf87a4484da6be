/** An animal of the catalogue (contract §2 `Pet`). */
import type * as Int64 from "./Int64.ts"
import type { NewPet } from "./NewPet.ts"
import type * as PetStatus from "./PetStatus.ts"

/**
 * An animal with the id the service gave it. Immutable; its wire text is built on first use and kept, so a store
 * that keeps `Pet` values also keeps them encoded.
 *
 * @example
 * ```ts
 * new Pet(1n, { name: "Rex", categoryId: 7n, status: "sold" }).json
 * // {"id":1,"name":"Rex","categoryId":7,"status":"sold"}
 * ```
 */
export class Pet implements NewPet {
  readonly id: Int64.Int64
  readonly name: string
  readonly categoryId: Int64.Int64
  readonly status: PetStatus.PetStatus
  #json: string | undefined

  constructor(id: Int64.Int64, pet: NewPet) {
    this.id = id
    this.name = pet.name
    this.categoryId = pet.categoryId
    this.status = pet.status
  }

  /** The animal as JSON text; int64 fields are JSON numbers with all their digits. */
  get json(): string {
    if (this.#json === undefined) {
      this.#json = `{"id":${this.id},"name":${JSON.stringify(this.name)},"categoryId":${this.categoryId},"status":"${this.status}"}`
      // V8 keeps such a text as a tree of its pieces until it is read, and every list would walk through it again.
      this.#json.charCodeAt(0)
    }
    return this.#json
  }
}

/** The animals as a JSON array. Added up: with `map` and `join` twenty took 2.4 µs instead of 1.3, bytes included. */
export const jsonOf = (pets: ReadonlyArray<Pet>): string => {
  let items = ""
  for (const pet of pets) items += items === "" ? pet.json : `,${pet.json}`
  return `[${items}]`
}
