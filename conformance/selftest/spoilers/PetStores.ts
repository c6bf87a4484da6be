/** Makes faulty repositories, which store, find or list the wrong animals. */
import * as Effect from "effect/Effect"
import type { Int64 } from "../../../core/domain/Int64.ts"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import type { PageQuery } from "../../../core/domain/Page.ts"
import type { Pet } from "../../../core/domain/Pet.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import type { Spoil } from "../Fault.ts"

export type Pets = PetRepository["Service"]

/** The query for all animals. */
export const everything: PageQuery = { limit: Number.MAX_SAFE_INTEGER, status: undefined, after: undefined }

/** Changes fields of an animal before it is stored and returned. */
export const changingInserted =
  (change: (pet: NewPet) => Partial<NewPet>): Spoil<Pets> =>
  (real) => ({ ...real, insert: (pet) => real.insert({ ...pet, ...change(pet) }) })

/** Replaces `insert`. */
export const replacingInsert =
  (insert: (pet: NewPet, real: Pets) => ReturnType<Pets["insert"]>): Spoil<Pets> =>
  (real) => ({ ...real, insert: (pet) => insert(pet, real) })

/** Replaces `find`. */
export const replacingFind =
  (find: (id: Int64, real: Pets) => ReturnType<Pets["find"]>): Spoil<Pets> =>
  (real) => ({ ...real, find: (id) => find(id, real) })

/** Changes the query of a page. */
export const changingQuery =
  (change: (query: PageQuery) => Partial<PageQuery>): Spoil<Pets> =>
  (real) => ({ ...real, page: (query) => real.page({ ...query, ...change(query) }) })

/** Changes the animals of a page. */
export const changingPage =
  (change: (pets: ReadonlyArray<Pet>, query: PageQuery) => ReadonlyArray<Pet>): Spoil<Pets> =>
  (real) => ({ ...real, page: (query) => Effect.map(real.page(query), (pets) => change(pets, query)) })
