/** Laws of `PetRepository` about pages. */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as Int64 from "../../../core/domain/Int64.ts"
import type { PageQuery } from "../../../core/domain/Page.ts"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import { expect } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { type Check, family } from "../Check.ts"
import * as Animals from "./Animals.ts"

/** The statuses of the animals to insert in sequence, and the page to read afterwards. */
interface PageCase {
  readonly statuses: ReadonlyArray<PetStatus>
  readonly query: Animals.Query
}

const pageCase: fc.Arbitrary<PageCase> = fc.record({ statuses: Animals.statuses, query: Animals.query })

/** Inserts an animal of each status in sequence, then reads a page. */
const readPage = (pets: Animals.Pets, { query, statuses: wanted }: PageCase, trial: Trial) =>
  Effect.gen(function* () {
    const inserted = yield* Animals.insertAll(
      pets,
      wanted.map((status) => Animals.plain(trial, status)),
      trial
    )
    const { after } = query
    const pageQuery: PageQuery = {
      ...query,
      after: after === undefined ? undefined : Animals.idOf(after, inserted)
    }
    return { inserted, pageQuery, page: yield* Animals.page(pets, pageQuery, trial) }
  })

/** The number of animals to insert before and after a page is read, and the status of the page. */
interface SnapshotCase {
  readonly before: number
  readonly after: number
  readonly status: PetStatus | undefined
}

const law = family({ level: "design", profile: "port", on: "pets", requests: 0 })
const pageLaw = family({
  level: "design",
  profile: "port",
  on: "pets",
  requests: 0,
  cases: pageCase,
  runs: { port: 15, http: 0 }
})

export const checks: ReadonlyArray<Check> = [
  pageLaw({
    id: "pets.page-order",
    law: "A page is sorted by id in ascending order and contains no animal twice.",
    clauses: ["pets.page.order"],
    mustSee: ["a page of several animals"],
    examples: [{ statuses: Animals.nine, query: Animals.whole }],
    *holds(pets, given, trial) {
      const { page } = yield* readPage(pets, given, trial)
      if (page.length > 1) trial.saw("a page of several animals")
      for (const [index, { id }] of page.entries()) {
        const before = page[index - 1]?.id
        yield* expect(before === undefined || before < id, `an id above ${before} next on the page`, `${id}`)
      }
    }
  }),
  pageLaw({
    id: "pets.page-after",
    law: "A page with `after` contains only animals with a greater id, over the whole range of int64.",
    clauses: ["pets.page.after"],
    mustSee: ["an animal that `after` excludes"],
    examples: [
      ...[-1n, 0n, 1n].map((plus) => ({
        statuses: Animals.nine,
        query: { ...Animals.whole, after: { nth: 4, plus } }
      })),
      ...Animals.boundaries.map((after) => ({
        statuses: ["sold", "sold"] as const,
        query: { ...Animals.whole, after }
      }))
    ],
    *holds(pets, given, trial) {
      const { pageQuery, inserted, page } = yield* readPage(pets, given, trial)
      const { after } = pageQuery
      if (after === undefined) return
      if (inserted.some(({ id }) => id <= after)) trial.saw("an animal that `after` excludes")
      for (const { id } of page) yield* expect(id > after, `only ids above ${after}`, `the id ${id}`)
    }
  }),
  pageLaw({
    id: "pets.page-status",
    law: "A page with a status contains only animals of that status.",
    clauses: ["pets.page.status"],
    mustSee: ["an animal that the status excludes"],
    examples: [undefined, { nth: 1, plus: 0n }].flatMap((after) =>
      Animals.nine
        .slice(0, 3)
        .map((status) => ({ statuses: Animals.nine, query: { limit: 100, status, after } }))
    ),
    *holds(pets, given, trial) {
      const { status } = given.query
      const { inserted, page } = yield* readPage(pets, given, trial)
      if (status === undefined) return
      if (inserted.some((pet) => pet.status !== status)) trial.saw("an animal that the status excludes")
      for (const pet of page) {
        yield* expect(pet.status === status, `only animals that are ${status}`, `one that is ${pet.status}`)
      }
    }
  }),
  pageLaw({
    id: "pets.page-limit",
    law: "A page contains at most `limit` animals.",
    clauses: ["pets.page.limit"],
    mustSee: ["more animals than the limit"],
    examples: [
      { statuses: Animals.nine, query: { ...Animals.whole, limit: 1 } },
      { statuses: Animals.nine, query: { ...Animals.whole, limit: 8 } },
      { statuses: Animals.nine, query: { limit: 2, status: "sold", after: undefined } },
      {
        statuses: Array.from({ length: 102 }, () => "sold" as const),
        query: { ...Animals.whole, limit: 101 }
      }
    ],
    *holds(pets, given, trial) {
      const { limit } = given.query
      const { inserted, page } = yield* readPage(pets, given, trial)
      if (inserted.length > limit) trial.saw("more animals than the limit")
      yield* expect(page.length <= limit, `at most ${limit} animals`, `${page.length} animals`)
    }
  }),
  pageLaw({
    id: "pets.page-first",
    law: "A page contains the first `limit` animals that match, or all of them if there are fewer.",
    clauses: [
      "pets.page.first",
      "pets.page.full",
      "pets.page.undefined",
      "pets.page.sees-insert",
      "pets.page.exact"
    ],
    examples: [
      { statuses: [], query: Animals.whole },
      { statuses: Animals.nine, query: Animals.whole },
      { statuses: Animals.nine, query: { limit: 3, status: undefined, after: undefined } },
      { statuses: Animals.nine, query: { limit: 9, status: "pending", after: undefined } },
      { statuses: Animals.nine, query: { limit: 2, status: "pending", after: undefined } },
      { statuses: Animals.nine, query: { limit: 4, status: "available", after: { nth: 0, plus: 0n } } },
      { statuses: Animals.nine, query: { ...Animals.whole, after: { nth: 2, plus: -1n } } },
      { statuses: Animals.nine, query: { ...Animals.whole, after: -1n } },
      { statuses: Animals.nine, query: { ...Animals.whole, after: Int64.min } },
      {
        statuses: Array.from({ length: 102 }, () => "sold" as const),
        query: { ...Animals.whole, limit: 101 }
      }
    ],
    runs: { port: 30, http: 0 },
    *holds(pets, given, trial) {
      const { pageQuery, inserted, page } = yield* readPage(pets, given, trial)
      yield* Animals.expectAll(page, Animals.pageOf(inserted, pageQuery), "on the page")
    }
  }),
  law<SnapshotCase>({
    id: "pets.page-kept",
    law: "Later inserts do not change a page that was returned.",
    clauses: ["pets.page.kept"],
    examples: [
      { before: 0, after: 1, status: undefined },
      { before: 2, after: 2, status: undefined },
      { before: 2, after: 2, status: "sold" }
    ],
    cases: fc.record({
      before: fc.nat(3),
      after: fc.nat(3),
      status: fc.option(Animals.status, { nil: undefined })
    }),
    runs: { port: 10, http: 0 },
    *holds(pets, { after, before, status }, trial) {
      const plainAnimals = (count: number) =>
        Array.from({ length: count }, () => Animals.plain(trial, status))
      yield* Animals.insertAll(pets, plainAnimals(before), trial)
      const page = yield* Animals.page(pets, { ...Animals.whole, status }, trial)
      const copy = [...page]
      yield* Animals.insertAll(pets, plainAnimals(after), trial)
      yield* Animals.expectAll(page, copy, "the page as it was returned")
    }
  })
]
