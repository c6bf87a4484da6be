/** Defines faults in pages and cursors. */
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Pages from "../spoilers/Pages.ts"

const pages = (rules: Pages.Rules): Where => AtHttp.transport(Pages.server(rules))

export const faults: ReadonlyArray<Fault> = [
  fault("paging.none", "Never links to a next page.")
    .breaks("list.paging", "list.paging.walk", "some page no page with {id")
    .by(pages({ isLinked: () => false })),
  fault("paging.skips-one", "Skips one animal between two pages.")
    .breaks("list.paging.complete", "list.paging.walk", "some page no page with {id")
    .by(pages({ follows: (id, after) => id > after + 1n })),
  fault("paging.repeats-one", "Begins a page with the last animal of the previous page.")
    .breaks("list.paging.complete", "list.paging.walk", "only one page twice {id")
    .by(pages({ follows: (id, after) => id >= after })),
  fault("paging.filter-dropped", "Ignores the filter from the second page on.")
    .breaks("list.paging.filter", "list.paging.walk", "on every page {id")
    .by(pages({ filter: () => null })),
  fault("paging.limit-omitted", "Omits the limit from the link to the next page.")
    .breaks("list.paging.filter", "list.paging.walk", "2 animals a page of")
    .by(pages({ changeParameters: (parameters) => parameters.delete("limit") })),
  fault("paging.cursor-unbound", "Accepts a cursor together with a different filter.")
    .breaks("list.paging.bound", "list.paging.bound", "400 invalid_parameter to ?limit=1&cursor=")
    .by(pages({ isUnbound: true })),
  fault("paging.cursor-readable", "Accepts any number as a cursor.")
    .breaks("list.paging.forged", "list.paging.forged", "400 invalid_parameter to ?cursor=0 200")
    .by(pages({ forged: (cursor) => (/^[0-9]+$/.test(cursor) ? BigInt(cursor) : undefined) })),
  fault("paging.cursor-unsealed", "Accepts an altered cursor that has the right form.")
    .breaks("list.paging.forged", "list.paging.forged", "400 invalid_parameter to ?limit=1&cursor=0.1 200")
    .by(pages({ forged: (cursor) => (/^[0-9]+\.[0-9]+$/.test(cursor) ? 1n : undefined) })),
  fault("paging.unknown-cursor-first-page", "Returns the first page for an unknown cursor.")
    .breaks("list.paging.forged", "list.paging.forged", "400 invalid_parameter to ?cursor= 200")
    .by(pages({ forged: () => -1n })),
  fault("paging.link-when-full", "Links to a next page whenever a page is full, even if nothing follows.")
    .breaks("list.paging.last", "list.paging.last", "no animal follows Link: <")
    .by(pages({ isLinked: (_more, listed, limit) => listed.length === limit })),
  fault("paging.link-to-one-more-missing", "Does not link to a page with a single animal.")
    .breaks("list.paging", "list.paging.last", "one more animal follows Link: absent")
    .by(pages({ isLinked: (more) => more > 1 })),
  fault("paging.link-to-elsewhere", "Links to the next page at an internal address.")
    .breaks("list.paging.address", "list.paging.address", "<backend.internal:8080")
    .by(pages({ address: (path) => `backend.internal:8080${path}` }))
]
