/** Makes repositories with race conditions or stale reads. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Pet } from "../../../core/domain/Pet.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import type { Spoil } from "../Fault.ts"

export type Pets = PetRepository["Service"]

/** Implements the reads of a repository; each read calls `all` for the current animals. */
const readsFrom = (all: () => ReadonlyArray<Pet>): Omit<Pets, "insert"> => ({
  find: (id) => Effect.sync(() => Option.fromUndefinedOr(all().find((pet) => pet.id === id))),
  page: ({ after = -1n, limit, status }) =>
    Effect.sync(() =>
      all()
        .filter((pet) => pet.id > after && (status === undefined || pet.status === status))
        .slice(0, limit)
    )
})

/** Inserts by reading all animals, and writing them back with the new one after a pause. */
export const lostUpdate =
  (pause: Effect.Effect<void>): Spoil<Pets> =>
  () => {
    let all: ReadonlyArray<Pet> = []
    let ids = 0n
    return {
      ...readsFrom(() => all),
      insert: Effect.fnUntraced(function* (pet) {
        const before = all
        yield* pause
        const stored = new Pet(++ids, pet)
        all = [...before, stored]
        return stored
      })
    }
  }

/** Inserts by picking the next id, and storing the animal with this id after a pause. */
export const racyId =
  (pause: Effect.Effect<void>): Spoil<Pets> =>
  () => {
    const all: Array<Pet> = []
    return {
      ...readsFrom(() => all),
      insert: Effect.fnUntraced(function* (pet) {
        const id = BigInt(all.length + 1)
        yield* pause
        const stored = new Pet(id, pet)
        all.push(stored)
        return stored
      })
    }
  }

/** Reads from a snapshot; the first of every `reads` reads refreshes it. */
export const stale =
  (reads: number): Spoil<Pets> =>
  (real) => {
    let seen = 0n
    let newest = 0n
    let count = 0
    const refresh = Effect.sync(() => {
      if (count++ % reads === 0) seen = newest
    })
    const isSeen = ({ id }: Pet) => id <= seen
    return {
      insert: (pet) => Effect.tap(real.insert(pet), ({ id }) => Effect.sync(() => (newest = id))),
      find: (id) => Effect.andThen(refresh, Effect.map(real.find(id), Option.filter(isSeen))),
      page: (query) =>
        Effect.andThen(
          refresh,
          Effect.map(real.page(query), (pets) => pets.filter(isSeen))
        )
    }
  }
