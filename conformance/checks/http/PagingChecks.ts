/** Laws about the pages of a list over HTTP, and about the link from each page to the next (contract §4.1). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { limit as pageLimit } from "../../../core/domain/Page.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, undecided, Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import * as RequestTarget from "../../http/RequestTarget.ts"
import { headerValues } from "../../http/Wire.ts"
import { listPath } from "../../subjects/HttpCatalogue.ts"
import { type Check, family } from "../Check.ts"
import * as Lists from "./Lists.ts"
import * as NextPage from "./NextPage.ts"

type Status = PetStatus.PetStatus

const optionalStatus = fc.option(fc.constantFrom(...PetStatus.all), { nil: undefined })

/** Maximum number of pages of a list that a law requests. */
const MAX_PAGES = 60

/** Number of pages after which a law requests pages of maximum size, so that a store may have thousands of animals. */
const SMALL_PAGES = 20

/** Returns an animal of the page whose id is in `seen`, if there is one. */
const findRepeated = (seen: ReadonlySet<bigint>, page: ReadonlyArray<Animal>): Animal | undefined =>
  page.find(({ id }) => seen.has(id))

/**
 * Follows next links and returns all pages. `onPage` runs between two pages and returns the path of the next one. Fails
 * with a `Violation` at a page that is too long or repeats an animal. After `MAX_PAGES` pages, fails with a
 * `Violation` if the last `SMALL_PAGES` are empty, otherwise with `Undecided`.
 */
const walk = Effect.fnUntraced(function* (
  http: Http,
  query: string,
  onPage: (page: number, next: string) => Effect.Effect<string, Failure>
): Effect.fn.Return<ReadonlyArray<ReadonlyArray<Animal>>, Failure> {
  const pages: Array<ReadonlyArray<Animal>> = []
  const seen = new Set<bigint>()
  let path = Lists.pathOf(query)
  while (pages.length < MAX_PAGES) {
    const exchange = yield* http.send({ path })
    const page = yield* Lists.listOf(exchange)
    yield* expect(
      page.length <= pageLimit.max,
      `at most ${pageLimit.max} animals on a page`,
      `${page.length}`,
      "list.limit.ceiling"
    )
    // This also detects a cycle of links, which has no end.
    const twice = findRepeated(seen, page)
    yield* expect(
      twice === undefined,
      "each animal on only one page",
      twice ? `twice ${PetJson.line(twice)}` : ""
    )
    for (const { id } of page) seen.add(id)
    pages.push(page)
    const next = yield* NextPage.pathOf(http, exchange)
    if (next === undefined) return pages
    path = yield* onPage(pages.length, next)
  }
  yield* expect(
    pages.slice(-SMALL_PAGES).some((page) => page.length > 0),
    "no next link after the last animal",
    `${SMALL_PAGES} empty pages in a row, each with a next link`,
    "list.paging.last"
  )
  return yield* undecided(`there are more than ${MAX_PAGES} pages; use a store with fewer animals`)
})

/** Fails unless the pages show each animal once, in order, with the status, and all animals in `before` that match. */
const expectPages = (
  pages: ReadonlyArray<ReadonlyArray<Animal>>,
  status: Status | undefined,
  before: ReadonlyArray<Animal>
): Effect.Effect<void, Violation> => {
  const all = pages.flat()
  const ids = new Set(all.map(({ id }) => id))
  const twice = all.find(({ id }) => !ids.delete(id))
  const listed = new Set(all.map(({ id }) => id))
  const other = status === undefined ? undefined : all.find((animal) => animal.status !== status)
  const missing = before.find(
    (animal) => (status ?? animal.status) === animal.status && !listed.has(animal.id)
  )
  const unordered = all.find(({ id }, index) => id < (all[index - 1]?.id ?? id))
  const show = (animal: Animal | undefined) => (animal === undefined ? "" : PetJson.line(animal))
  return Effect.all(
    [
      expect(twice === undefined, "each animal on only one page", `twice ${show(twice)}`),
      expect(other === undefined, `only animals with status ${status} on every page`, show(other)),
      expect(missing === undefined, "every animal on some page", `no page with ${show(missing)}`),
      expect(unordered === undefined, "ascending ids from page to page", `out of order ${show(unordered)}`)
    ],
    { discard: true }
  )
}

/** Returns the path and the cursor of the second page of a list with a limit of 1; creates animals if necessary. */
const secondPage = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  status: Status | undefined
): Effect.fn.Return<{ readonly path: string; readonly cursor: string }, Failure> {
  const first = listPath({ limit: 1, status })
  const next = Effect.flatMap(http.send({ path: first }), (exchange) => NextPage.pathOf(http, exchange))
  if ((yield* next) === undefined) yield* Lists.createAll(http, trial, [status, status])
  const path = yield* next
  const cursor = path && RequestTarget.parameter(path, "cursor")
  if (path !== undefined && cursor !== undefined && cursor !== "") return { path, cursor }
  return yield* new Violation({
    expected: `a link to the next page with a cursor, because several animals match ${first}`,
    actual: "none"
  })
})

/** Replaces one letter or digit of a percent-encoded cursor, outside its escapes; appends a 0 if it has none. */
const alter = (cursor: string, at: number): string => {
  const places = [...cursor.matchAll(/%[0-9a-f]{2}|[a-z0-9]/gi)].filter(([found]) => found.length === 1)
  const place = places[at % places.length]
  if (place === undefined) return `${cursor}0`
  const [character] = place
  return `${cursor.slice(0, place.index)}${character === "0" ? "1" : "0"}${cursor.slice(place.index + 1)}`
}

/** Fails unless a path below the base address is rejected because of an invalid parameter. */
const expectRejected = (http: Http, path: string): Effect.Effect<void, Failure> =>
  Lists.expectRejected(http, path.slice(path.indexOf("?") + 1))

const design = family({ level: "design", profile: "core", on: "http" })

export const checks: ReadonlyArray<Check> = [
  design<{ readonly limits: ReadonlyArray<number>; readonly status: Status | undefined }>({
    id: "list.paging.walk",
    law: "Following the next links shows each animal that existed at the start exactly once, despite new creations.",
    clauses: ["list.paging", "list.paging.complete", "list.paging.filter", "list.order"],
    requests: 66,
    mustSee: ["several pages"],
    examples: [
      { limits: [7], status: undefined },
      { limits: [2], status: "sold" },
      { limits: [20, 1, 50], status: undefined }
    ],
    cases: fc.record({
      limits: fc.array(fc.integer({ min: 8, max: 100 }), { minLength: 1, maxLength: 3 }),
      status: optionalStatus
    }),
    runs: { port: 0, http: 2 },
    *holds(http, { limits, status }, trial) {
      const own = yield* Lists.createAll(http, trial, ["sold", "pending", "sold", "sold"])
      const [first = 1, ...others] = limits
      let wanted = first
      const query = `limit=${first}${Lists.statusParameter(status)}`
      const pages = yield* walk(http, query, (page, next) =>
        Effect.gen(function* () {
          if (page === 1) {
            trial.saw("several pages")
            yield* Lists.createAll(http, trial, [status])
          }
          // The next link keeps the limit; a client may also change the limit.
          const other = others[page - 1] ?? (page === SMALL_PAGES ? pageLimit.max : undefined)
          if (other === undefined) return next
          wanted = Math.max(wanted, other)
          return RequestTarget.withParameter(next, "limit", String(other))
        })
      )
      yield* expectPages(pages, status, own)
      const largest = Math.max(...pages.map((page) => page.length))
      yield* expect(largest <= wanted, `pages of at most ${wanted} animals`, `a page of ${largest}`)
    }
  }),
  design({
    id: "list.paging.last",
    law: "A list has a next link if and only if more animals follow.",
    clauses: ["list.paging", "list.paging.last"],
    requests: 11,
    examples: [{ status: "sold" }, { status: undefined }],
    cases: fc.record({ status: optionalStatus }),
    runs: { port: 0, http: 0 },
    *holds(http, { status }: { readonly status?: Status | undefined }, trial) {
      yield* Lists.createAll(http, trial, [status, status])
      // The last page is requested again with a limit of exactly its number of animals, and of one less.
      const query = `limit=${pageLimit.max}${Lists.statusParameter(status)}`
      let last = Lists.pathOf(query)
      const pages = yield* walk(http, query, (_, next) =>
        Effect.sync(() => {
          last = next
          return next
        })
      )
      const left = pages.at(-1)?.length ?? 0
      for (const limit of [left, left - 1]) {
        if (limit < 1) continue
        const path = RequestTarget.withParameter(last, "limit", String(limit))
        const exchange = yield* http.send({ path })
        yield* Lists.listOf(exchange)
        yield* expect(
          (NextPage.targetOf(exchange) !== undefined) === limit < left,
          limit < left
            ? "a next link, because one more animal follows"
            : "no next link, because no animal follows",
          `Link: ${headerValues(exchange.response, "link").join(", ") || "absent"}`
        )
      }
    }
  }),
  design<{ readonly createdFor: Status | undefined; readonly usedWith: string }>({
    id: "list.paging.bound",
    law: "A cursor is valid for the filter for which it was created, and rejected with any other.",
    clauses: ["list.paging.bound", "list.parameter-code"],
    requests: 9,
    examples: [
      { createdFor: "sold", usedWith: "" },
      { createdFor: "sold", usedWith: "&status=pending" },
      { createdFor: undefined, usedWith: "&status=sold" }
    ],
    holds: (http, given, trial) =>
      Effect.flatMap(secondPage(http, trial, given.createdFor), ({ path }) =>
        expectRejected(
          http,
          RequestTarget.withParameter(
            path,
            "status",
            given.usedWith === "" ? undefined : given.usedWith.slice(8)
          )
        )
      )
  }),
  design<{ readonly alter: number } | { readonly cursor: string }>({
    id: "list.paging.forged",
    law: "A cursor that was forged or altered is rejected.",
    clauses: ["list.paging.forged", "list.parameter-code"],
    requests: 28,
    examples: [
      ...["", "0", "1", "-1", "abc", "null", "0".repeat(32), "f".repeat(32), "%00", "MQ==", "..%2F.."].map(
        (cursor) => ({
          cursor
        })
      ),
      { alter: 0 },
      { alter: 15 },
      { alter: 31 }
    ],
    cases: fc.oneof(
      fc.record({ alter: fc.nat(63) }),
      fc.record({ cursor: fc.string({ maxLength: 40 }).map(encodeURIComponent) })
    ),
    runs: { port: 0, http: 6 },
    holds: (http, given, trial) =>
      "cursor" in given
        ? Lists.expectRejected(http, `cursor=${given.cursor}`)
        : Effect.flatMap(secondPage(http, trial, undefined), ({ cursor, path }) =>
            expectRejected(http, RequestTarget.withParameter(path, "cursor", alter(cursor, given.alter)))
          )
  }),
  design<{ readonly status: Status | undefined }>({
    id: "list.paging.address",
    law: "The target of a next link is the path or the absolute address of a list.",
    clauses: ["list.paging.address"],
    requests: 6,
    examples: [{ status: undefined }, { status: "sold" }],
    *holds(http, { status }, trial) {
      yield* secondPage(http, trial, status)
      const exchange = yield* http.send({ path: listPath({ limit: 1, status }) })
      const target = NextPage.targetOf(exchange) ?? ""
      const isAddress = target.startsWith("/") ? !target.startsWith("//") : /^https?:\/\//i.test(target)
      yield* expect(
        isAddress && NextPage.resolved(exchange)?.path.endsWith("/pets") === true,
        "a next link to a path or an absolute address that ends in /pets",
        `<${target}>`
      )
    }
  })
]
