/** Laws about the parameters of a list over HTTP (contract §4.1, §8.1). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { limit as pageLimit } from "../../../core/domain/Page.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import * as Character from "../../dimensions/Character.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { listPath } from "../../subjects/HttpCatalogue.ts"
import { type Check, family } from "../Check.ts"
import * as Lists from "./Lists.ts"
import * as PagingChecks from "./PagingChecks.ts"

type Status = PetStatus.PetStatus

/** A case: the query string after `?`. */
interface Query {
  readonly query: string
}

/** Returns a case for each query; the queries of a line are separated by spaces. */
const queries = (...lines: ReadonlyArray<string>): ReadonlyArray<Query> =>
  lines.flatMap((line) => line.split(" ")).map((query) => ({ query }))

const anyStatus = fc.constantFrom(...PetStatus.all)

const optionalStatus = fc.option(anyStatus, { nil: undefined })

/**
 * Creates animals if a list with the maximum limit shows fewer than `animals` with this status, or with any status if
 * none is given. Fails if the list still shows fewer afterwards.
 */
const stock = Effect.fnUntraced(function* (http: Http, trial: Trial, animals: number, status?: Status) {
  const query = `limit=${pageLimit.max}${Lists.statusParameter(status)}`
  const before = (yield* Lists.list(http, query)).length
  if (before >= animals) return
  const statuses = Array.from({ length: animals - before }, (_, index) => status ?? PetStatus.all[index % 3])
  yield* Lists.createAll(http, trial, statuses)
  const after = (yield* Lists.list(http, query)).length
  yield* expect(
    after >= animals,
    `a list of at most ${pageLimit.max} animals to hold the existing ones, at least ${animals}`,
    `${after} after ${animals - before} more were created`
  )
})

/** Ensures that the store has more animals than a list may show. */
const stockBeyondLists = (http: Http, trial: Trial): Effect.Effect<void, Failure> =>
  Effect.andThen(stock(http, trial, pageLimit.max), Lists.createAll(http, trial, ["sold"]))

/** Generates queries with an invalid limit. */
const invalidLimit = fc
  .oneof(
    fc.string({ maxLength: 6 }),
    fc.string({ unit: Character.any, maxLength: 4 }),
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

const invalidStatus = fc
  .oneof(
    fc.string({ maxLength: 8 }),
    fc.string({ unit: Character.any, maxLength: 4 }),
    fc.record({ status: anyStatus, cut: fc.nat(8) }).map(({ cut, status }) => status.slice(0, cut)),
    fc
      .record({ status: anyStatus, tail: fc.constantFrom(" ", "s", "\0", "%", "'--", "\n") })
      .map(({ status, tail }) => `${status}${tail}`)
  )
  .filter((value) => !PetStatus.is(value))
  .map((value) => ({ query: `status=${encodeURIComponent(value)}` }))

const spec = family({ level: "spec", profile: "core", on: "http" })
const design = family({ level: "design", profile: "core", on: "http" })

/** Defines checks whose queries must be rejected. */
const rejected = family({
  level: "design",
  profile: "core",
  on: "http",
  holds: (http, { query }: Query) => Lists.expectRejected(http, query)
})

export const checks: ReadonlyArray<Check> = [
  spec<{ readonly limit: number; readonly status: Status | undefined }>({
    id: "list.limit.accepted",
    law: "Every limit from 1 to 100 is accepted, with each status and without one.",
    clauses: ["list.limit.accepted", "list.status-200", "list.array", "list.status.accepted"],
    requests: 18,
    examples: [
      { limit: 1, status: undefined },
      { limit: 20, status: undefined },
      { limit: 100, status: undefined },
      { limit: 99, status: "sold" },
      { limit: 9, status: "pending" },
      { limit: 10, status: "available" }
    ],
    cases: fc.record({ limit: fc.integer({ min: 1, max: 100 }), status: optionalStatus }),
    runs: { port: 0, http: 3 },
    *holds(http, listing, trial) {
      if ((yield* Lists.list(http, "")).length < 2) yield* Lists.createAll(http, trial, ["sold", "available"])
      yield* Effect.flatMap(http.send({ path: listPath(listing) }), Lists.listOf)
    }
  }),
  spec<Query>({
    id: "list.status.others",
    law: "Whatever the status filter is, no animal of another status is returned.",
    clauses: ["list.status.filter"],
    requests: 68,
    examples: queries(
      "status=lost status=SOLD status=Pending status=sol status=sol%25 status=s_ld status=%25 status=%20sold",
      "status=sold%20 status=sold%00 status=sold'-- status='%20OR%20'1'='1 status=sold&status=pending",
      "status=sold,pending"
    ),
    cases: invalidStatus.filter(({ query }) => /[a-z0-9]/i.test(decodeURIComponent(query.slice(7)))),
    runs: { port: 0, http: 3 },
    *holds(http, { query }, trial) {
      for (const status of PetStatus.all) {
        if ((yield* Lists.list(http, `limit=1&status=${status}`)).length === 0)
          yield* Lists.createAll(http, trial, [status])
      }
      // Letter case, blanks and repetition can be interpreted in several ways; only other statuses are wrong.
      const decoded = decodeURIComponent(query).toLowerCase()
      const animals = yield* Effect.flatMap(
        http.send({ path: Lists.pathOf(`${query}&limit=100`) }),
        Lists.listIfAccepted
      )
      const other = animals.find(({ status }) => status === undefined || !decoded.includes(status))
      yield* expect(
        other === undefined,
        `no animal of another status to ?${query}`,
        other === undefined ? "" : PetJson.line(other)
      )
    }
  }),
  rejected({
    id: "list.limit.range",
    law: "A limit below 1 or above 100 is rejected, never clamped.",
    clauses: ["list.limit.range", "list.parameter-code"],
    requests: 14,
    examples: queries(
      "limit=0 limit=101 limit=-1 limit=-100 limit=1000 limit=2147483649 limit=4294967297",
      `limit=18446744073709551617 limit=${"9".repeat(400)}`
    ),
    cases: fc
      .oneof(fc.integer({ max: 0 }), fc.integer({ min: 101 }), fc.bigInt({ min: 2n ** 63n }))
      .map((limit) => ({ query: `limit=${limit}` })),
    runs: { port: 0, http: 5 }
  }),
  rejected({
    id: "list.limit.syntax",
    law: "A limit that is not a plain decimal number is rejected.",
    clauses: ["list.limit.syntax", "list.parameter-code"],
    requests: 42,
    examples: queries(
      "limit= limit=05 limit=001 limit=+5 limit=%2B5 limit=%205 limit=5%20 limit=5+ limit=%095 limit=5%0A",
      "limit=5%00 limit=1.0 limit=5. limit=5.5 limit=.5 limit=1e1 limit=1E1 limit=0x10 limit=0b11 limit=1_0",
      "limit=1,0 limit=10abc limit=5n limit=[5] limit=true limit=NaN limit=null limit=%EF%BC%95 limit=%D9%A5",
      "limit=%C2%B2 limit=%E2%85%A4 limit=%255"
    ),
    cases: invalidLimit,
    runs: { port: 0, http: 10 }
  }),
  rejected({
    id: "list.limit.repeated",
    law: "A repeated limit is rejected, even with the same value, and however its name is encoded.",
    clauses: ["list.limit.repeated", "list.parameter-code"],
    requests: 4,
    examples: queries("limit=5&limit=5 limit=1&status=sold&limit=100 limit=5&%6Cimit=6 limit=&limit=5")
  }),
  rejected({
    id: "list.status.unknown",
    law: "A status that is not exactly one of the three values is rejected.",
    clauses: ["list.status.unknown", "list.status.exact", "list.parameter-code"],
    requests: 28,
    examples: queries(
      "status= status=lost status=SOLD status=Available status=sold%20 status=+sold status=%20sold status=sol",
      "status=solds status=s_ld status=sol%25 status=sold,pending status=sold%00",
      "status=%F0%9D%90%AC%6F%6C%64 status=%C5%BFold status=null status=undefined status=toString"
    ),
    cases: invalidStatus,
    runs: { port: 0, http: 10 }
  }),
  rejected({
    id: "list.status.repeated",
    law: "A repeated status is rejected, even with the same value.",
    clauses: ["list.status.repeated", "list.parameter-code"],
    requests: 3,
    examples: queries("status=sold&status=sold status=sold&status=pending status=sold&limit=5&%73tatus=sold")
  }),
  design<{ readonly written: string; readonly means: string }>({
    id: "list.parameters.decoded",
    law: "Names and values of parameters are percent-decoded.",
    clauses: ["list.limit.accepted", "list.status.accepted"],
    // The contract does not define how a query is encoded; by RFC 3986 §2.3 both spellings are equivalent.
    advisedBy: "RFC 3986 §2.3",
    requests: 3,
    examples: [
      { written: "limit=%31", means: "limit=1" },
      { written: "%6Cimit=1&status=s%6Fld", means: "limit=1&status=sold" },
      { written: "limit=%31%30%30&st%61tus=%70ending", means: "limit=100&status=pending" }
    ],
    *holds(http, { means, written }) {
      const limit = Number(new URLSearchParams(means).get("limit"))
      const status = new URLSearchParams(means).get("status")
      const animals = yield* Lists.list(http, written)
      yield* expect(
        animals.length <= limit && animals.every((animal) => status === null || animal.status === status),
        `?${written} to be read as ?${means}`,
        `${animals.length} animals, ${[...new Set(animals.map((animal) => animal.status))].join(", ")}`
      )
    }
  }),
  design<Query>({
    id: "list.unknown-parameters",
    law: "A parameter that the contract does not name changes nothing.",
    clauses: ["list.unknown-parameters"],
    requests: 48,
    examples: queries(
      "colour=red Limit=1 LIMIT=0 limit%20=1 limit[]=1 Status=sold offset=1 page=2 sort=-id constructor=1 = &&"
    ),
    cases: fc
      .record({
        name: fc
          .string({ minLength: 1, maxLength: 8 })
          .filter((name) => !["limit", "status", "cursor"].includes(name)),
        value: fc.string({ maxLength: 5 })
      })
      .map(({ name, value }) => ({ query: `${encodeURIComponent(name)}=${encodeURIComponent(value)}` })),
    runs: { port: 0, http: 4 },
    *holds(http, { query }, trial) {
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
    }
  }),
  ...PagingChecks.checks,
  spec<{ readonly status: Status | undefined }>({
    id: "list.limit.default",
    law: "A list without a limit holds 20 animals if at least 20 match, and never more.",
    clauses: ["list.limit.default", "list.limit.default-fills"],
    requests: 10,
    examples: [{ status: undefined }, ...PetStatus.all.map((status) => ({ status }))],
    *holds(http, { status }, trial) {
      yield* stock(http, trial, pageLimit.default + 1, status)
      const animals = yield* Effect.flatMap(
        http.send({ path: listPath({ limit: undefined, status }) }),
        Lists.listOf
      )
      yield* expect(
        animals.length === pageLimit.default,
        `${pageLimit.default} ${status ?? "animals"} in a list without a limit, because more exist`,
        `${animals.length}`
      )
    }
  }),
  spec({
    id: "list.limit.full",
    law: "With 100 or more animals in the store, every list without a filter is full.",
    clauses: ["list.limit.maximum-returned", "list.complete"],
    requests: 30,
    examples: [{ limit: 100 }, { limit: 99 }, { limit: 21 }],
    cases: fc.record({ limit: fc.integer({ min: 1, max: 100 }) }),
    runs: { port: 0, http: 2 },
    *holds(http, { limit }, trial) {
      yield* stock(http, trial, pageLimit.max)
      const animals = yield* Lists.list(http, `limit=${limit}`)
      yield* expect(animals.length === limit, `a full list of ${limit} animals`, `${animals.length}`)
    }
  }),
  spec<{ readonly queries: ReadonlyArray<string> }>({
    id: "list.limit.ceiling",
    law: "No list holds more than 100 animals, whatever the requested limit.",
    clauses: ["list.limit.ceiling"],
    requests: 16,
    // All queries are in one case, because every case creates an animal, and animals cannot be deleted.
    examples: [
      {
        queries: [
          ..."limit=101 limit=102 limit=1000 limit=0 limit=-1 limit=1e3 limit=0x3e8 limit=2147483648".split(
            " "
          ),
          ..."limit=99999999999999999999 limit= limit=all limit=null limit=100&limit=1000".split(" "),
          "limit=1000&limit=100"
        ]
      }
    ],
    *holds(http, { queries }, trial) {
      yield* stockBeyondLists(http, trial)
      for (const query of queries) {
        const animals = yield* Effect.flatMap(http.send({ path: Lists.pathOf(query) }), Lists.listIfAccepted)
        yield* expect(
          animals.length <= pageLimit.max,
          `at most ${pageLimit.max} animals to ?${query}`,
          `${animals.length}`
        )
      }
    }
  })
]
