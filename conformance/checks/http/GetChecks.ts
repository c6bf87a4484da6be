/** One animal by its id, until that operation is removed (contract §4.3). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { expect, type Failure, undecided } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../../subjects/HttpCatalogue.ts"
import type { Animal } from "../Catalogue.ts"
import { type Check, define } from "../Check.ts"
import type { Http } from "../Http.ts"
import * as Answers from "./Answers.ts"

/** Asks for what stands behind `/pets/`; `Undecided` once the operation may be removed. */
const get = (http: Http, segment: string): Effect.Effect<Exchange, Failure> =>
  Effect.tap(http.send({ path: `/pets/${segment}` }), ({ receivedAt, response }) =>
    receivedAt >= REMOVAL_BEGINS && response.status !== 200
      ? undecided("by the server's date GET /pets/{petId} is removed, or about to be")
      : Effect.void
  )

const own = (http: Http, trial: Trial, status?: PetStatus.PetStatus): Effect.Effect<Animal, Failure> =>
  http.create({
    name: trial.name(),
    categoryId: http.facts.categories === "any" ? 1n : (http.facts.categories[0] ?? 1n),
    status
  })

/** A template of a path segment with the id of an animal of ours in place of `$id`. */
const segmentOf = (template: string, { id }: Animal): string =>
  template
    .replace("$id+2^64", String(id + 2n ** 64n))
    .replace("$id", String(id))
    .replace("$first", `%3${String(id).replace("-", "")[0]}`)
    .replace("$rest", String(id).replace("-", "").slice(1))

const TWO_63 = 2n ** 63n

export const checks: ReadonlyArray<Check> = [
  define({
    id: "get.created",
    law: "The id of an animal answers 200 with that animal.",
    clauses: ["get.found", "get.faithful", "http.base-path"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 12,
    examples: [{ statuses: ["sold", "pending"] }],
    cases: fc.record({
      statuses: fc.array(fc.constantFrom(...PetStatus.all), { minLength: 1, maxLength: 2 })
    }),
    runs: { port: 10, http: 2 },
    holds: (http, { statuses }, trial) =>
      Effect.gen(function* () {
        const animals: Array<Animal> = []
        for (const status of statuses)
          animals.push(yield* own(http, trial, PetStatus.is(status) ? status : undefined))
        for (const animal of animals) {
          const shown = yield* Answers.pet(yield* get(http, String(animal.id)), 200)
          yield* expect(
            shown.id === animal.id && shown.name === animal.name && shown.categoryId === animal.categoryId,
            `the animal as created, ${PetJson.line(animal)}`,
            PetJson.line(shown)
          )
        }
      })
  }),
  define({
    id: "get.unknown",
    law: "An id that no animal has answers 404 with an Error body.",
    clauses: ["get.not-found", "errors.listed-statuses"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 12,
    examples: [
      { id: 5_318_008_317_345_021n, isCertain: true },
      { id: 0n, isCertain: false },
      { id: -1n, isCertain: false },
      { id: TWO_63 - 1n, isCertain: false },
      { id: -TWO_63, isCertain: false }
    ],
    cases: fc.record({ id: fc.bigInt({ min: 2n ** 55n, max: 2n ** 62n }), isCertain: fc.constant(true) }),
    runs: { port: 20, http: 5 },
    holds: (http, { id, isCertain }) =>
      Effect.gen(function* () {
        const exchange = yield* get(http, String(id))
        // The service assigns the ids, and may have assigned this one; that it drew a random one is out of the question.
        if (exchange.response.status === 200 && !isCertain) {
          const shown = yield* Answers.pet(exchange, 200)
          yield* expect(shown.id === id, `404, or the animal ${id}`, PetJson.line(shown))
          return
        }
        yield* Answers.refused(exchange, { status: [404] })
      })
  }),
  define({
    id: "get.no-integer",
    law: "What is no int64 finds no animal: it answers 400 or 404 with an Error body.",
    clauses: ["get.not-found", "errors.no-5xx"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 14,
    examples: [
      "abc",
      "$idabc",
      "abc$id",
      "$id.5",
      "$id,$id",
      "$id+2^64",
      "9223372036854775808",
      "-9223372036854775809",
      "99999999999999999999999999999999999999999",
      "%zz",
      "%",
      "%00",
      "%F0%9F%90%88",
      "%FF",
      "null",
      "NaN",
      "-",
      "%27%20OR%201=1--"
    ],
    holds: (http, template, trial) =>
      Effect.gen(function* () {
        const segment = template.includes("$id") ? segmentOf(template, yield* own(http, trial)) : template
        yield* Answers.refused(yield* get(http, segment), { status: [400, 404] })
      })
  }),
  define({
    id: "get.malformed",
    law: "An id that is no int64, or is not written in its shortest form, answers 404 not_found.",
    clauses: ["get.malformed-id", "get.canonical-id", "http.malformed-escape"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 30,
    examples: [
      "0$id",
      "+$id",
      "$id.0",
      "$ide0",
      "0x$id",
      "%20$id",
      "$id%20",
      "$id%0A",
      "%2B$id",
      "-0",
      "abc",
      "9223372036854775808",
      "%zz",
      "%3",
      "%FF",
      "%D9%A1"
    ],
    holds: (http, template, trial) =>
      Effect.gen(function* () {
        const segment = template.includes("$id") ? segmentOf(template, yield* own(http, trial)) : template
        yield* Answers.refused(yield* get(http, segment), { status: [404], code: "not_found" })
      })
  }),
  define({
    id: "get.percent-encoded",
    law: "A path is percent-decoded, once.",
    clauses: ["http.decoded-once"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 4,
    examples: [
      { template: "$first$rest", status: 200 },
      { template: "%25$first$rest", status: 404 }
    ],
    holds: (http, { status, template }, trial) =>
      Effect.gen(function* () {
        const animal = yield* own(http, trial)
        const segment = segmentOf(template, animal).replace("%25%", "%25")
        yield* Answers.hasStatus(yield* get(http, segment), status)
      })
  })
]
