/** Implements `PetRepository` in memory. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Int64 } from "../../core/domain/Int64.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import { Pet } from "../../core/domain/Pet.ts"
import type { PetStatus } from "../../core/domain/PetStatus.ts"
import * as Once from "../../core/idempotency/Once.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"

/** A recorded insert; the record expires at `expiresAt`, in epoch milliseconds. */
interface Recorded {
  readonly fingerprint: string
  readonly pet: Pet
  readonly expiresAt: number
}

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

  /** Recorded inserts, oldest first, by caller and key joined by a line break; no key contains a line break. */
  const recorded = new Map<string, Recorded>()

  const insertOnce = (newPet: NewPet, { caller, fingerprint, key, now }: Once.Once): Once.Outcome => {
    for (const [id, { expiresAt }] of recorded) {
      if (expiresAt > now) break
      recorded.delete(id)
    }
    const id = `${caller}\n${key}`
    const known = recorded.get(id)
    if (known !== undefined && known.expiresAt > now) {
      return known.fingerprint === fingerprint ? { _tag: "Replayed", pet: known.pet } : { _tag: "Mismatch" }
    }
    const pet = insert(newPet)
    // Without the deletion, `set` would keep the position of an expired record, and the map would not be in order of
    // expiry.
    recorded.delete(id)
    recorded.set(id, { fingerprint, pet, expiresAt: now + Once.RETENTION_MS })
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
  }
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
