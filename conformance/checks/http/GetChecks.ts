/** One animal by its id, until that operation is removed (contract §4.3). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { expect, type Failure, inapplicable } from "../../engine/Outcome.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../../subjects/HttpCatalogue.ts"
import type { Animal } from "../Catalogue.ts"
import { type Check, define } from "../Check.ts"
import type { Http } from "../Http.ts"
import * as Answers from "./Answers.ts"

/** Ms before the earliest removal from which on these laws ask for nothing: a request takes its time. */
const MARGIN = 60_000

/** `Inapplicable` once the operation is removed, or may be any moment, by the subject's date. */
const isThere = (http: Http): Effect.Effect<void, Failure> =>
  Effect.flatMap(http.now, (now) =>
    now < REMOVAL_BEGINS - MARGIN
      ? Effect.void
      : inapplicable("by the server's date GET /pets/{petId} is removed, or about to be")
  )

const get = (http: Http, segment: string): Effect.Effect<Exchange, Failure> =>
  http.send({ path: `/pets/${segment}` })

/** A template of a path segment with the id of an animal for `$id`, or its first digit and the rest. */
const segmentOf = (template: string, { id }: Animal): string =>
  template
    .replace("$id+2^64", String(id + 2n ** 64n))
    .replaceAll("$id", String(id))
    .replace("$first", String(id).charAt(0))
    .replace("$rest", String(id).slice(1))

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
    examples: [{ statuses: PetStatus.all }],
    cases: fc.record<{ readonly statuses: ReadonlyArray<PetStatus.PetStatus> }>({
      statuses: fc.array(fc.constantFrom(...PetStatus.all), { minLength: 1, maxLength: 2 })
    }),
    runs: { port: 10, http: 2 },
    holds: (http, { statuses }, trial) =>
      Effect.gen(function* () {
        yield* isThere(http)
        const animals: Array<Animal> = []
        for (const status of statuses) animals.push(yield* Answers.own(http, trial, status))
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
        yield* isThere(http)
        const exchange = yield* get(http, String(id))
        // The service may have assigned this very id; that it drew one of the random ones is unthinkable.
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
      "%F0%9F%90%88",
      "%FF",
      "null",
      "NaN",
      "-",
      "%27%20OR%201=1--"
    ],
    holds: (http, template, trial) =>
      Effect.gen(function* () {
        yield* isThere(http)
        const segment = template.includes("$id")
          ? segmentOf(template, yield* Answers.own(http, trial))
          : template
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
        yield* isThere(http)
        const segment = template.includes("$id")
          ? segmentOf(template, yield* Answers.own(http, trial))
          : template
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
      { template: "%3$first$rest", status: 200 },
      { template: "%253$first$rest", status: 404 }
    ],
    holds: (http, { status, template }, trial) =>
      Effect.gen(function* () {
        yield* isThere(http)
        const animal = yield* Answers.own(http, trial)
        yield* Answers.hasStatus(yield* get(http, segmentOf(template, animal)), status)
      })
  })
]
