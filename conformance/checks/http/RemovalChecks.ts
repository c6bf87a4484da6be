/** The end of getPet on 5 December 2030 (contract §4.3, §9.3), in the order of dates: time moves forward. */
import * as Effect from "effect/Effect"
import { expect, type Failure, undecided, type Violation } from "../../engine/Outcome.ts"
import { outcome } from "../../http/Conversation.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as Moment from "../../http/Moment.ts"
import { header, headerValues } from "../../http/Wire.ts"
import { REMOVAL_BEGINS } from "../../subjects/HttpCatalogue.ts"
import type { Animal } from "../Catalogue.ts"
import { type Check, define } from "../Check.ts"
import type { Http } from "../Http.ts"
import * as Answers from "./Answers.ts"

/** The 5th of December begins in UTC, which is our answer to the question whose 5th is meant. */
const SUNSET = Date.UTC(2030, 11, 5)

/** The 5th of December is over everywhere, west of all (UTC-12) too. */
const OVER = Date.UTC(2030, 11, 6, 12)

/** Ms that a request may take before a moment that it has to come before. */
const MARGIN = 1_500

/** Moves the subject's time forward to a moment; stays where that has passed. */
const until = (http: Http, moment: number): Effect.Effect<void, Failure> =>
  Effect.flatMap(http.now, (now) => (now < moment ? http.pass(moment - now) : Effect.void))

const get = (http: Http, { id }: Pick<Animal, "id">): Effect.Effect<Exchange, Failure> =>
  http.send({ path: `/pets/${id}` })

/** Fails unless the answer announces the deprecation, the removal and what to use instead. */
const announces = ({ response }: Exchange, { facts }: Http): Effect.Effect<void, Violation> => {
  const deprecation = header(response, "deprecation")
  const sunset = header(response, "sunset")
  const successor = `<${facts.basePath}/pets>; rel="successor-version"`
  const links = headerValues(response, "link")
  const what = `the ${response.status} of getPet`
  return Effect.all(
    [
      expect(
        /^@[0-9]+$/.test(deprecation ?? ""),
        `Deprecation: @<Unix time> on ${what}`,
        deprecation ?? "none"
      ),
      expect(
        sunset === "Thu, 05 Dec 2030 00:00:00 GMT",
        `Sunset: Thu, 05 Dec 2030 00:00:00 GMT on ${what}`,
        sunset ?? "none"
      ),
      expect(
        links.some(
          (link) => link === successor || /^<https?:[^>]*\/pets>; rel="successor-version"$/.test(link)
        ),
        `Link: ${successor} on ${what}`,
        links.join(", ") || "none"
      )
    ],
    { discard: true }
  )
}

export const checks: ReadonlyArray<Check> = [
  define({
    id: "deprecation.announced",
    law: "Every answer of getPet carries Deprecation (RFC 9745), Sunset (RFC 8594) and Link to the list.",
    clauses: ["get.deprecation-headers", "deprecation.date", "deprecation.sunset", "deprecation.successor"],
    level: "design",
    profile: "deprecation",
    on: "http",
    requests: 4,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        const animal = yield* Answers.own(http, trial, "sold")
        yield* announces(yield* get(http, animal), http)
        yield* announces(yield* get(http, { id: 5_318_008_317_345_021n }), http)
        yield* announces(yield* Answers.sendUnknown(http, { path: `/pets/${animal.id}` }), http)
      })
  }),
  define({
    id: "deprecation.only-get",
    law: "No answer of another operation carries Deprecation or Sunset.",
    clauses: ["deprecation.getpet-only"],
    level: "design",
    profile: "deprecation",
    on: "http",
    requests: 3,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        const answers = [
          yield* http.send({ path: "/pets?limit=1" }),
          yield* http.send(Answers.creation(Answers.filled(Answers.plain, http, trial))),
          yield* http.send(Answers.creation("{}"))
        ]
        for (const { request, response } of answers) {
          const signs = response.headers.filter(([name]) => /^(?:deprecation|sunset)$/i.test(name))
          yield* expect(
            signs.length === 0,
            `neither Deprecation nor Sunset on ${request.method} /pets`,
            signs.map(([name, value]) => `${name}: ${value}`).join(", ")
          )
        }
      })
  }),
  define({
    id: "removal.not-before",
    law: "An animal can be fetched until 5 December 2030 has begun somewhere on earth.",
    clauses: ["get.available-until-removal"],
    level: "spec",
    profile: "deprecation",
    on: "http",
    needs: ["clock"],
    requests: 2,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        // By then nobody can tell any more what was answered before.
        if ((yield* http.now) >= REMOVAL_BEGINS) return
        yield* until(http, REMOVAL_BEGINS - 60_000)
        const animal = yield* Answers.own(http, trial, "sold")
        const exchange = yield* get(http, animal)
        if (exchange.receivedAt >= REMOVAL_BEGINS) {
          return yield* undecided("by the server's date 5 December 2030 has begun somewhere, or is over")
        }
        yield* expect(
          exchange.response.status === 200,
          `200 at ${Moment.iso(exchange.receivedAt)}: nowhere has 5 December 2030 begun`,
          outcome(exchange.response)
        )
      })
  }),
  define({
    id: "removal.exact",
    law: "GET /pets/{petId} works until 5 December 2030, 00:00:00 UTC, and answers 410 operation_removed from then on.",
    clauses: ["get.gone", "get.deprecation-headers"],
    level: "design",
    profile: "deprecation",
    on: "http",
    needs: ["clock"],
    requests: 4,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        const animal = yield* Answers.own(http, trial, "sold")
        yield* until(http, SUNSET - MARGIN)
        const before = yield* get(http, animal)
        if (before.receivedAt < SUNSET) {
          yield* expect(
            before.response.status === 200,
            `200 at ${Moment.iso(before.receivedAt)}, before the removal`,
            outcome(before.response)
          )
        }
        yield* until(http, SUNSET)
        const after = yield* get(http, animal)
        yield* Answers.refused(after, { status: [410], code: "operation_removed" })
        yield* announces(after, http)
      })
  }),
  define({
    id: "removal.done",
    law: "No animal can be fetched once 5 December 2030 is over everywhere: 404 or 410 with an Error body.",
    clauses: ["get.removed"],
    level: "spec",
    profile: "deprecation",
    on: "http",
    needs: ["clock"],
    requests: 2,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        const animal = yield* Answers.own(http, trial, "sold")
        yield* until(http, OVER)
        yield* Answers.refused(yield* get(http, animal), { status: [404, 410] })
      })
  }),
  define({
    id: "removal.alone",
    law: "Animals are listed and created as before when getPet is removed.",
    clauses: ["get.removed-alone"],
    level: "spec",
    profile: "deprecation",
    on: "http",
    needs: ["clock"],
    requests: 2,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        yield* until(http, OVER)
        yield* Answers.own(http, trial, "sold")
        for (const path of ["/pets", "/pets?status=sold&limit=5"]) {
          yield* Answers.hasStatus(yield* http.send({ path }), 200)
        }
      })
  })
]
