/** Implements `PetRepository` in memory. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Int64 } from "../../core/domain/Int64.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import { Pet } from "../../core/domain/Pet.ts"
import type { PetStatus } from "../../core/domain/PetStatus.ts"
import type * as Once from "../../core/idempotency/Once.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { OnceRecords } from "./OnceRecords.ts"

/** Creates an empty repository, whose ids start at 1. */
export const layer: Layer.Layer<PetRepository> = Layer.sync(PetRepository, () => {
  const pets: Array<Pet> = []
  const byStatus: { readonly [status in PetStatus]: Array<Pet> } = { available: [], pending: [], sold: [] }

  const insert = (newPet: NewPet): Pet => {
    const pet = new Pet(BigInt(pets.length + 1), newPet)
    pets.push(pet)
    byStatus[pet.status].push(pet)
    return pet
  }

  const recorded = new OnceRecords<Pet>()

  const insertOnce = (newPet: NewPet, once: Once.Once): Once.Outcome => {
    const existing = recorded.find(once)
    if (existing !== undefined) {
      return existing.fingerprint === once.fingerprint
        ? { _tag: "Replayed", pet: existing.value }
        : { _tag: "Mismatch" }
    }
    const pet = insert(newPet)
    recorded.add(once, pet)
    return { _tag: "Inserted", pet }
  }

  // Animals are never removed, so the animal with id n is at index n − 1.
  const find = (id: Int64): Option.Option<Pet> => Option.fromUndefinedOr(pets[Number(id) - 1])

  const page = ({ after, limit, status }: PageQuery): ReadonlyArray<Pet> => {
    const candidates = status === undefined ? pets : byStatus[status]
    const start = after === undefined ? 0 : firstAbove(candidates, after)
    return candidates.slice(start, start + limit)
  }

  return {
    insert: (newPet) => Effect.sync(() => insert(newPet)),
    insertOnce: (newPet, once) => Effect.sync(() => insertOnce(newPet, once)),
    find: (id) => Effect.sync(() => find(id)),
    page: (query) => Effect.sync(() => page(query))
  } satisfies Required<PetRepository["Service"]>
})

/** Returns the index of the first animal with an id above `after`, by binary search. */
const firstAbove = (pets: ReadonlyArray<Pet>, after: Int64): number => {
  let low = 0
  let high = pets.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const pet = pets[middle]
    if (pet !== undefined && pet.id <= after) low = middle + 1
    else high = middle
  }
  return low
}
