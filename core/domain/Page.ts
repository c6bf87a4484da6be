/** Defines the pages in which animals are listed, by ascending id (contract §4.1, §8.1). */
import type * as Int64 from "./Int64.ts"
import type * as Pet from "./Pet.ts"
import type * as PetStatus from "./PetStatus.ts"

/** Bounds of `limit`, the number of animals on one page (contract §8.1). */
export const limit = { min: 1, max: 100, default: 20 } as const

/** Selects at most `limit` animals with this `status` and an id above `after`; `undefined` sets no condition. */
export interface PageQuery {
  readonly limit: number
  readonly status: PetStatus.PetStatus | undefined
  readonly after: Int64.Int64 | undefined
}

/** One page; `next` is the id after which the next page starts, `undefined` on the last page. */
export interface Page {
  readonly pets: ReadonlyArray<Pet.Pet>
  readonly next: Int64.Int64 | undefined
}
