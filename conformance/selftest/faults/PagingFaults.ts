/** Defines faults in pages and cursors. */
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Pages from "../spoilers/Pages.ts"

const pages = (rules: Pages.Rules): Where => AtHttp.transport(Pages.server(rules))

export const faults: ReadonlyArray<Fault> = [
  fault("paging.skips-one", "Skips one animal between two pages.")
    .breaks("list.paging.complete")
    .by(pages({ follows: (id, after) => id > after + 1n })),
  fault("paging.filter-dropped", "Ignores the filter from the second page on.")
    .breaks("list.paging.filter")
    .by(pages({ filter: () => null })),
  fault("paging.cursor-unbound", "Accepts a cursor together with a different filter.")
    .breaks("list.paging.bound")
    .by(pages({ isUnbound: true })),
  fault("paging.cursor-unsealed", "Accepts an altered cursor that has the right form.")
    .breaks("list.paging.forged")
    .by(pages({ forged: (cursor) => (/^[0-9]+\.[0-9]+$/.test(cursor) ? 1n : undefined) })),
  fault("paging.link-when-full", "Links to a next page whenever a page is full, even if nothing follows.")
    .breaks("list.paging.last")
    .by(pages({ isLinked: (_more, listed, limit) => listed.length === limit })),
  fault("paging.link-to-one-more-missing", "Does not link to a page with a single animal.")
    .breaks("list.paging")
    .by(pages({ isLinked: (more) => more > 1 })),
  fault("paging.link-to-elsewhere", "Links to the next page at an internal address.")
    .breaks("list.paging.address")
    .by(pages({ address: (path) => `backend.internal:8080${path}` }))
]
