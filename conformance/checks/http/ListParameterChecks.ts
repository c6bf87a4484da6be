/** Parameters, order and pages of a list over HTTP (contract §4.1, §8.1). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { limit as pageLimit } from "../../../core/domain/Page.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { expect, type Failure } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import * as PetJson from "../../http/PetJson.ts"
import { listPath } from "../../subjects/HttpCatalogue.ts"
import type { Animal } from "../Catalogue.ts"
import { type Check, define } from "../Check.ts"
import type { Http } from "../Http.ts"
import * as Lists from "./Lists.ts"
import * as PagingChecks from "./PagingChecks.ts"

type Status = PetStatus.PetStatus

/** Text of a query after `?`. */
interface Query {
  readonly query: string
}

const anyStatus = fc.constantFrom(...PetStatus.all)

const statusOrNone = fc.option(anyStatus, { nil: undefined })

/** Creates what is missing until a list of 100 shows so many animals, of this status or of any. */
const stock = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  animals: number,
  status?: Status
): Effect.fn.Return<void, Failure> {
  const query = `limit=${pageLimit.max}${Lists.statusParameter(status)}`
  const there = (yield* Lists.list(http, query)).length
  if (there >= animals) return
  const statuses = Array.from({ length: animals - there }, (_, index) => status ?? PetStatus.all[index % 3])
  yield* Lists.createAll(http, trial, statuses)
  const then = (yield* Lists.list(http, query)).length
  yield* expect(
    then >= animals,
    `a list of at most ${pageLimit.max} animals to hold those that are there: ${animals} at least`,
    `${then} after ${animals - there} more were created`
  )
})

/** Makes sure that there are more animals than any list may hold. */
const stockBeyondLists = (http: Http, trial: Trial): Effect.Effect<void, Failure> =>
  Effect.andThen(stock(http, trial, pageLimit.max), Lists.createAll(http, trial, ["sold"]))

/** Text that is no limit, as it goes into a query. */
const noLimit = fc
  .oneof(
    fc.string({ maxLength: 6 }),
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.double().map(String),
    fc.integer().map((value) => `0x${value.toString(16)}`),
    fc
      .record({
        before: fc.constantFrom("+", " ", "0", "00", "\t", "'"),
        value: fc.integer({ min: 1, max: 100 })
      })
      .map(({ before, value }) => `${before}${value}`),
    fc
      .record({
        value: fc.integer({ min: 1, max: 100 }),
        after: fc.constantFrom(" ", ".0", "e0", "n", ",", "\n", "%")
      })
      .map(({ after, value }) => `${value}${after}`)
  )
  .filter((value) => !/^[1-9][0-9]{0,2}$/.test(value))
  .map((value) => ({ query: `limit=${encodeURIComponent(value)}` }))

const noStatus = fc
  .oneof(
    fc.string({ maxLength: 8 }),
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.record({ status: anyStatus, cut: fc.nat(8) }).map(({ cut, status }) => status.slice(0, cut)),
    fc
      .record({ status: anyStatus, tail: fc.constantFrom(" ", "s", "\0", "%", "'--", "\n") })
      .map(({ status, tail }) => `${status}${tail}`)
  )
  .filter((value) => !PetStatus.is(value))
  .map((value) => ({ query: `status=${encodeURIComponent(value)}` }))

export const checks: ReadonlyArray<Check> = [
  define<"http", { readonly limit: number; readonly status: Status | undefined }>({
    id: "list.limit.accepted",
    law: "Every limit from 1 to 100 is accepted, with each status and without.",
    clauses: ["list.limit.accepted", "list.status-200", "list.array", "list.status.accepted"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 20,
    examples: [
      { limit: 1, status: undefined },
      { limit: 20, status: undefined },
      { limit: 100, status: undefined },
      { limit: 99, status: "sold" },
      { limit: 9, status: "pending" },
      { limit: 10, status: "available" }
    ],
    cases: fc.record({ limit: fc.integer({ min: 1, max: 100 }), status: statusOrNone }),
    runs: { port: 0, http: 3 },
    holds: (http, listing, trial) =>
      Effect.gen(function* () {
        if ((yield* Lists.list(http, "")).length < 2)
          yield* Lists.createAll(http, trial, ["sold", "available"])
        yield* Effect.flatMap(http.send({ path: listPath(listing) }), Lists.listOf)
      })
  }),
  define<"http", Query>({
    id: "list.status.others",
    law: "Whatever a status filter says, no animal of another status comes back.",
    clauses: ["list.status.filter"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 24,
    examples: [
      "status=lost",
      "status=SOLD",
      "status=Pending",
      "status=sol",
      "status=sol%25",
      "status=s_ld",
      "status=%25",
      "status=%20sold",
      "status=sold%20",
      "status=sold%00",
      "status=sold'--",
      "status='%20OR%20'1'='1",
      "status=sold&status=pending",
      "status=sold,pending"
    ].map((query) => ({ query })),
    cases: noStatus.filter(({ query }) => /[a-z0-9]/i.test(decodeURIComponent(query.slice(7)))),
    runs: { port: 0, http: 3 },
    holds: (http, { query }, trial) =>
      Effect.gen(function* () {
        for (const status of PetStatus.all) {
          if ((yield* Lists.list(http, `limit=1&status=${status}`)).length === 0)
            yield* Lists.createAll(http, trial, [status])
        }
        // Case, blanks and repetition may be read in several ways; what none of them asks for is wrong.
        const asked = decodeURIComponent(query).toLowerCase()
        const animals = yield* Effect.flatMap(
          http.send({ path: Lists.pathOf(`${query}&limit=100`) }),
          Lists.listOrRefusal
        )
        const other = animals.find(({ status }) => status === undefined || !asked.includes(status))
        yield* expect(
          other === undefined,
          `no animal of another status to ?${query}`,
          other === undefined ? "" : PetJson.line(other)
        )
      })
  }),
  define<"http", Query>({
    id: "list.limit.range",
    law: "A limit below 1 or above 100 is Lists.refused, never moved into the range.",
    clauses: ["list.limit.range", "list.parameter-code"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 14,
    examples: [
      "0",
      "101",
      "-1",
      "-100",
      "1000",
      "2147483649",
      "4294967297",
      "18446744073709551617",
      "9".repeat(400)
    ].map((limit) => ({ query: `limit=${limit}` })),
    cases: fc
      .oneof(fc.integer({ max: 0 }), fc.integer({ min: 101 }), fc.bigInt({ min: 2n ** 63n }))
      .map((limit) => ({ query: `limit=${limit}` })),
    runs: { port: 0, http: 5 },
    holds: (http, { query }) => Lists.refused(http, query)
  }),
  define<"http", Query>({
    id: "list.limit.syntax",
    law: "A limit that is not written in plain decimal digits is Lists.refused.",
    clauses: ["list.limit.syntax", "list.parameter-code"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 42,
    examples: [
      "",
      "05",
      "001",
      "+5",
      "%2B5",
      "%205",
      "5%20",
      "5+",
      "%095",
      "5%0A",
      "5%00",
      "1.0",
      "5.",
      "5.5",
      ".5",
      "1e1",
      "1E1",
      "0x10",
      "0b11",
      "1_0",
      "1,0",
      "10abc",
      "5n",
      "[5]",
      "true",
      "NaN",
      "null",
      "%EF%BC%95",
      "%D9%A5",
      "%C2%B2",
      "%E2%85%A4",
      "%255"
    ].map((limit) => ({ query: `limit=${limit}` })),
    cases: noLimit,
    runs: { port: 0, http: 10 },
    holds: (http, { query }) => Lists.refused(http, query)
  }),
  define<"http", Query>({
    id: "list.limit.repeated",
    law: "A limit given twice is Lists.refused, even with the same value and however its name is written.",
    clauses: ["list.limit.repeated", "list.parameter-code"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 4,
    examples: ["limit=5&limit=5", "limit=1&status=sold&limit=100", "limit=5&%6Cimit=6", "limit=&limit=5"].map(
      (query) => ({ query })
    ),
    holds: (http, { query }) => Lists.refused(http, query)
  }),
  define<"http", Query>({
    id: "list.status.unknown",
    law: "A status that is none of the three, letter by letter, is Lists.refused.",
    clauses: ["list.status.unknown", "list.status.exact", "list.parameter-code"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 28,
    examples: [
      "",
      "lost",
      "SOLD",
      "Available",
      "sold%20",
      "+sold",
      "%20sold",
      "sol",
      "solds",
      "s_ld",
      "sol%25",
      "sold,pending",
      "sold%00",
      "%F0%9D%90%AC%6F%6C%64",
      "%C5%BFold",
      "null",
      "undefined",
      "toString"
    ].map((status) => ({ query: `status=${status}` })),
    cases: noStatus,
    runs: { port: 0, http: 10 },
    holds: (http, { query }) => Lists.refused(http, query)
  }),
  define<"http", Query>({
    id: "list.status.repeated",
    law: "A status given twice is Lists.refused, even with the same value.",
    clauses: ["list.status.repeated", "list.parameter-code"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 3,
    examples: [
      "status=sold&status=sold",
      "status=sold&status=pending",
      "status=sold&limit=5&%73tatus=sold"
    ].map((query) => ({ query })),
    holds: (http, { query }) => Lists.refused(http, query)
  }),
  define<"http", { readonly written: string; readonly means: string }>({
    id: "list.parameters.decoded",
    law: "Names and values of parameters are percent-decoded before they are read.",
    clauses: ["list.limit.accepted", "list.status.accepted"],
    // The contract does not say how a query is encoded; RFC 3986 §2.3 says that both spellings are the same.
    level: "design",
    advisedBy: "RFC 3986 §2.3",
    profile: "core",
    on: "http",
    requests: 10,
    examples: [
      { written: "limit=%31", means: "limit=1" },
      { written: "%6Cimit=1&status=s%6Fld", means: "limit=1&status=sold" },
      { written: "limit=%31%30%30&st%61tus=%70ending", means: "limit=100&status=pending" }
    ],
    holds: (http, { means, written }) =>
      Effect.gen(function* () {
        const limit = Number(new URLSearchParams(means).get("limit"))
        const status = new URLSearchParams(means).get("status")
        const animals = yield* Lists.list(http, written)
        yield* expect(
          animals.length <= limit && animals.every((animal) => status === null || animal.status === status),
          `?${written} to be read as ?${means}`,
          `${animals.length} animals, ${[...new Set(animals.map((animal) => animal.status))].join(", ")}`
        )
      })
  }),
  define<"http", Query>({
    id: "list.unknown-parameters",
    law: "A parameter that the contract does not name changes nothing.",
    clauses: ["list.unknown-parameters"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 24,
    examples: [
      "colour=red",
      "Limit=1",
      "LIMIT=0",
      "limit%20=1",
      "limit[]=1",
      "Status=sold",
      "offset=1",
      "page=2",
      "sort=-id",
      "constructor=1",
      "=",
      "&&"
    ].map((query) => ({ query })),
    cases: fc
      .record({
        name: fc
          .string({ minLength: 1, maxLength: 8 })
          .filter((name) => !["limit", "status", "cursor"].includes(name)),
        value: fc.string({ maxLength: 5 })
      })
      .map(({ name, value }) => ({ query: `${encodeURIComponent(name)}=${encodeURIComponent(value)}` })),
    runs: { port: 0, http: 4 },
    holds: (http, { query }, trial) =>
      Effect.gen(function* () {
        if ((yield* Lists.list(http, "limit=2")).length < 2)
          yield* Lists.createAll(http, trial, ["sold", "pending"])
        const without = yield* Lists.list(http, "")
        const animals = yield* Lists.list(http, query)
        const ids = (all: ReadonlyArray<Animal>) => all.map(({ id }) => id).join(", ")
        yield* expect(
          ids(animals) === ids(without),
          `the same list as without ?${query}`,
          `ids ${ids(animals)}`
        )
      })
  }),
  ...PagingChecks.checks,
  define<"http", { readonly status: Status | undefined }>({
    id: "list.limit.default",
    law: "A list without limit holds 20 animals when at least so many belong to it, and never more.",
    clauses: ["list.limit.default", "list.limit.default-fills"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 72,
    examples: [{ status: undefined }, ...PetStatus.all.map((status) => ({ status }))],
    holds: (http, { status }, trial) =>
      Effect.gen(function* () {
        yield* stock(http, trial, pageLimit.default + 1, status)
        const animals = yield* Effect.flatMap(
          http.send({ path: listPath({ limit: undefined, status }) }),
          Lists.listOf
        )
        yield* expect(
          animals.length === pageLimit.default,
          `${pageLimit.default} ${status ?? "animals"} in a list without limit, since more are there`,
          `${animals.length}`
        )
      })
  }),
  define({
    id: "list.limit.full",
    law: "With more than 100 animals in the store every list without filter is full.",
    clauses: ["list.limit.maximum-returned", "list.complete"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 120,
    examples: [{ limit: 100 }, { limit: 99 }, { limit: 21 }],
    cases: fc.record({ limit: fc.integer({ min: 1, max: 100 }) }),
    runs: { port: 0, http: 2 },
    holds: (http, { limit }, trial) =>
      Effect.gen(function* () {
        yield* stock(http, trial, pageLimit.max)
        const animals = yield* Lists.list(http, `limit=${limit}`)
        yield* expect(animals.length === limit, `a full list of ${limit} animals`, `${animals.length}`)
      })
  }),
  define<"http", { readonly queries: ReadonlyArray<string> }>({
    id: "list.limit.ceiling",
    law: "No list holds more than 100 animals, whatever limit was asked for.",
    clauses: ["list.limit.ceiling"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 20,
    // Together: each time it takes one animal more, and nobody takes them away again.
    examples: [
      {
        queries: [
          "limit=101",
          "limit=102",
          "limit=1000",
          "limit=0",
          "limit=-1",
          "limit=1e3",
          "limit=0x3e8",
          "limit=2147483648",
          "limit=99999999999999999999",
          "limit=",
          "limit=all",
          "limit=null",
          "limit=100&limit=1000",
          "limit=1000&limit=100"
        ]
      }
    ],
    holds: (http, { queries }, trial) =>
      Effect.gen(function* () {
        yield* stockBeyondLists(http, trial)
        for (const query of queries) {
          const animals = yield* Effect.flatMap(http.send({ path: Lists.pathOf(query) }), Lists.listOrRefusal)
          yield* expect(
            animals.length <= pageLimit.max,
            `at most ${pageLimit.max} animals to ?${query}`,
            `${animals.length}`
          )
        }
      })
  })
]
