/** Repositories of animals that store, find or list something else. */
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Int64 } from "../../../core/domain/Int64.ts"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import type { PageQuery } from "../../../core/domain/Page.ts"
import type { Pet } from "../../../core/domain/Pet.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import type { Spoil } from "../Fault.ts"

export type Pets = PetRepository["Service"]

/** The query for all animals. */
export const everything: PageQuery = { limit: Number.MAX_SAFE_INTEGER, status: undefined, after: undefined }

/** Stores and returns other fields than were given. */
export const storing =
  (change: (pet: NewPet) => Partial<NewPet>): Spoil<Pets> =>
  (real) => ({ ...real, insert: (pet) => real.insert({ ...pet, ...change(pet) }) })

/** Changes an insert as a whole. */
export const inserting =
  (insert: (pet: NewPet, real: Pets) => ReturnType<Pets["insert"]>): Spoil<Pets> =>
  (real) => ({ ...real, insert: (pet) => insert(pet, real) })

/** Changes the result of `find`. */
export const found =
  (change: (found: Option.Option<Pet>, id: Int64) => Option.Option<Pet>): Spoil<Pets> =>
  (real) => ({ ...real, find: (id) => Effect.map(real.find(id), (pet) => change(pet, id)) })

/** Changes `find` as a whole. */
export const finding =
  (find: (id: Int64, real: Pets) => ReturnType<Pets["find"]>): Spoil<Pets> =>
  (real) => ({ ...real, find: (id) => find(id, real) })

/** Lists a page for another query than was given. */
export const querying =
  (change: (query: PageQuery) => Partial<PageQuery>): Spoil<Pets> =>
  (real) => ({ ...real, page: (query) => real.page({ ...query, ...change(query) }) })

/** Changes the animals of a page. */
export const paged =
  (change: (pets: ReadonlyArray<Pet>, query: PageQuery) => ReadonlyArray<Pet>): Spoil<Pets> =>
  (real) => ({ ...real, page: (query) => Effect.map(real.page(query), (pets) => change(pets, query)) })

/** Changes `page` as a whole. */
export const paging =
  (page: (query: PageQuery, real: Pets) => ReturnType<Pets["page"]>): Spoil<Pets> =>
  (real) => ({ ...real, page: (query) => page(query, real) })
