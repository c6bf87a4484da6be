import type * as Effect from "effect/Effect"
import type { Page, PageQuery } from "../domain/Page.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as Immediate from "../ports/Immediate.ts"
import type { PetRepository } from "../ports/PetRepository.ts"

/** `listPets` (contract §4.1): one page of animals by ascending id; asks the store for one more to know of a next. */
export const listPets = (
  pets: PetRepository["Service"],
  query: PageQuery
): Effect.Effect<Page, StoreUnavailable> =>
  Immediate.map(pets.page({ ...query, limit: query.limit + 1 }), (found) => {
    if (found.length <= query.limit) return { pets: found, next: undefined }
    const page = found.slice(0, query.limit)
    return { pets: page, next: page.at(-1)?.id }
  })
