/** Laws about the retrieval of one animal, until the operation is removed (contract §4.3). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, postponed } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "./Creations.ts"
import * as Responses from "./Responses.ts"

/** Time in ms before the earliest removal within which these laws send no request, because a request takes time. */
const MARGIN = 60_000

/** Fails with `Inapplicable` if the operation is removed, or soon will be, by the subject's date. */
const requireGetPet = (http: Http): Effect.Effect<void, Failure> =>
  Effect.flatMap(http.now, (now) =>
    now < REMOVAL_BEGINS - MARGIN
      ? Effect.void
      : postponed("by the server's date, GET /pets/{petId} is removed or soon will be")
  )

const get = (http: Http, segment: string): Effect.Effect<Exchange, Failure> =>
  http.send({ path: `/pets/${segment}` })

/** Fills a template of a path segment: `$id` becomes the id, `$first` its first character and `$rest` the others. */
const segmentOf = (template: string, { id }: Animal): string =>
  template
    .replace("$id+2^64", String(id + 2n ** 64n))
    .replaceAll("$id", String(id))
    .replace("$first", String(id).charAt(0))
    .replace("$rest", String(id).slice(1))

/** Fails unless the path segment from this template gets the rejection `expected`, because no animal has this id. */
const expectNotFound = Effect.fnUntraced(function* (
  http: Http,
  template: string,
  trial: Trial,
  expected: Responses.Rejection
) {
  yield* requireGetPet(http)
  const segment = template.includes("$id")
    ? segmentOf(template, yield* Creations.createOwn(http, trial))
    : template
  yield* Responses.expectRejection(yield* get(http, segment), expected)
})

const TWO_63 = 2n ** 63n

const spec = family({ level: "spec", profile: "core", on: "http" })
const design = family({ level: "design", profile: "core", on: "http" })

export const checks: ReadonlyArray<Check> = [
  spec({
    id: "get.created",
    needsOneOf: ["getPet"],
    law: "The operation getPet responds with 200 and the animal that has the id.",
    clauses: ["get.found", "get.faithful", "http.base-path"],
    requests: 14,
    examples: [{ statuses: PetStatus.all }],
    cases: fc.record<{ readonly statuses: ReadonlyArray<PetStatus.PetStatus> }>({
      statuses: fc.array(fc.constantFrom(...PetStatus.all), { minLength: 1, maxLength: 2 })
    }),
    runs: { port: 10, http: 2 },
    *holds(http, { statuses }, trial) {
      yield* requireGetPet(http)
      const animals: Array<Animal> = []
      for (const status of statuses) animals.push(yield* Creations.createOwn(http, trial, status))
      for (const animal of animals) {
        const shown = yield* Responses.petOf(yield* get(http, String(animal.id)), 200)
        yield* expect(
          PetJson.isSameAnimal(shown, animal),
          `the animal as created, ${PetJson.line(animal)}`,
          PetJson.line(shown)
        )
      }
    }
  }),
  spec({
    id: "get.unknown",
    needsOneOf: ["getPet"],
    law: "The operation getPet responds with 404 and an Error body to an unknown id.",
    clauses: ["get.not-found", "errors.listed-statuses"],
    requests: 10,
    examples: [
      { id: 5_318_008_317_345_021n, isCertain: true },
      { id: 0n, isCertain: false },
      { id: -1n, isCertain: false },
      { id: TWO_63 - 1n, isCertain: false },
      { id: -TWO_63, isCertain: false }
    ],
    cases: fc.record({ id: fc.bigInt({ min: 2n ** 55n, max: 2n ** 62n }), isCertain: fc.constant(true) }),
    runs: { port: 20, http: 5 },
    *holds(http, { id, isCertain }) {
      yield* requireGetPet(http)
      const exchange = yield* get(http, String(id))
      // Unlike a random id, a boundary value may be the id of an animal.
      if (exchange.response.status === 200 && !isCertain) {
        const shown = yield* Responses.petOf(exchange, 200)
        yield* expect(shown.id === id, `404, or the animal ${id}`, PetJson.line(shown))
        return
      }
      yield* Responses.expectRejection(exchange, { status: [404] })
    }
  }),
  spec({
    id: "get.no-integer",
    needsOneOf: ["getPet"],
    law: "A petId that is not an int64 is rejected with 400 or 404 and an Error body.",
    clauses: ["get.not-found", "errors.no-5xx"],
    requests: 20,
    examples: [
      ..."abc $idabc abc$id $id.5 $id,$id $id+2^64 9223372036854775808 -9223372036854775809".split(" "),
      ..."99999999999999999999999999999999999999999 %F0%9F%90%88 %FF null NaN - %27%20OR%201=1--".split(" ")
    ],
    holds: (http, template, trial) => expectNotFound(http, template, trial, { status: [400, 404] })
  }),
  design({
    id: "get.malformed",
    law: "A petId that is not an int64, or is not written in its shortest form, is rejected with 404 not_found.",
    clauses: ["get.malformed-id", "get.canonical-id", "http.malformed-escape"],
    requests: 25,
    examples: [
      ..."0$id +$id $id.0 $ide0 0x$id %20$id $id%20 $id%0A %2B$id -0 abc 9223372036854775808".split(" "),
      ..."%zz %3 %FF %D9%A1".split(" ")
    ],
    holds: (http, template, trial) =>
      expectNotFound(http, template, trial, { status: [404], code: "not_found" })
  }),
  design({
    id: "get.percent-encoded",
    law: "A path is percent-decoded exactly once.",
    clauses: ["http.decoded-once"],
    requests: 4,
    examples: [
      { template: "%3$first$rest", status: 200 },
      { template: "%253$first$rest", status: 404 }
    ],
    *holds(http, { status, template }, trial) {
      yield* requireGetPet(http)
      const animal = yield* Creations.createOwn(http, trial)
      yield* Responses.expectStatus(yield* get(http, segmentOf(template, animal)), status)
    }
  })
]
