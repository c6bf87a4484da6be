/** Laws about the removal of getPet on 5 December 2030 (contract §4.3, §9.3); they run in order of time. */
import * as Effect from "effect/Effect"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, postponed, undecided, type Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as Moment from "../../http/Moment.ts"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../../http/Removal.ts"
import { header, headerValues } from "../../http/Wire.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "./Creations.ts"
import * as Responses from "./Responses.ts"

/** The beginning of 5 December in UTC; the contract names no time zone. */
const SUNSET = Date.UTC(2030, 11, 5)

/** How long before a deadline, in ms, a request is sent that must be handled before the deadline. */
const MARGIN = 1_500

/** Moves the subject's time forward to a moment; does nothing if the moment has passed. */
const moveTimeTo = (http: Http, moment: number): Effect.Effect<void, Failure> =>
  Effect.flatMap(http.now, (now) => (now < moment ? http.advance(moment - now) : Effect.void))

const get = (http: Http, { id }: Pick<Animal, "id">): Effect.Effect<Exchange, Failure> =>
  http.send({ path: `/pets/${id}` })

/** Fails unless the response announces the deprecation, the removal and the successor. */
const expectAnnouncement = ({ response }: Exchange, { facts }: Http): Effect.Effect<void, Violation> => {
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

const announcement = family({ level: "design", profile: "deprecation", on: "http" })
const spec = family({ level: "spec", profile: "deprecation", on: "http", needs: ["clock"] })

export const checks: ReadonlyArray<Check> = [
  announcement({
    id: "deprecation.announced",
    law: "Every response of getPet has Deprecation (RFC 9745), Sunset (RFC 8594) and Link to the list.",
    clauses: ["get.deprecation-headers", "deprecation.date", "deprecation.sunset", "deprecation.successor"],
    requests: 4,
    examples: [undefined],
    *holds(http, _, trial) {
      const animal = yield* Creations.createOwn(http, trial, "sold")
      yield* expectAnnouncement(yield* get(http, animal), http)
      yield* expectAnnouncement(yield* get(http, { id: 5_318_008_317_345_021n }), http)
      yield* expectAnnouncement(yield* Responses.sendWithoutKey(http, { path: `/pets/${animal.id}` }), http)
    }
  }),
  announcement({
    id: "deprecation.only-get",
    law: "No response of another operation has Deprecation or Sunset.",
    clauses: ["deprecation.getpet-only"],
    requests: 3,
    examples: [undefined],
    *holds(http, _, trial) {
      const exchanges = [
        yield* http.send({ path: "/pets?limit=1" }),
        yield* http.send(Creations.request(http, trial)),
        yield* http.send(Creations.withBody("{}"))
      ]
      for (const { request, response } of exchanges) {
        const found = response.headers.filter(([name]) => /^(?:deprecation|sunset)$/i.test(name))
        yield* expect(
          found.length === 0,
          `neither Deprecation nor Sunset on ${request.method} /pets`,
          found.map(([name, value]) => `${name}: ${value}`).join(", ")
        )
      }
    }
  }),
  spec({
    id: "removal.not-before",
    needsOneOf: ["getPet"],
    law: "An animal can be fetched until 5 December 2030 has begun somewhere on earth.",
    clauses: ["get.available-until-removal"],
    requests: 2,
    examples: [undefined],
    *holds(http, _, trial) {
      if ((yield* http.now) >= REMOVAL_BEGINS) {
        return yield* postponed(
          "by the server's time, getPet is removed: restart the server with an earlier time"
        )
      }
      yield* moveTimeTo(http, REMOVAL_BEGINS - 60_000)
      const animal = yield* Creations.createOwn(http, trial, "sold")
      const exchange = yield* get(http, animal)
      if (exchange.receivedAt >= REMOVAL_BEGINS) {
        return yield* undecided("by the server's date, 5 December 2030 has begun somewhere on earth")
      }
      yield* expect(
        exchange.response.status === 200,
        `200 at ${Moment.iso(exchange.receivedAt)}, before 5 December 2030 begins anywhere`,
        outcome(exchange.response)
      )
    }
  }),
  announcement({
    id: "removal.exact",
    law: "GET /pets/{petId} works until 5 December 2030, 00:00:00 UTC, and responds with 410 operation_removed from then on.",
    clauses: ["get.gone", "get.deprecation-headers"],
    needs: ["clock"],
    requests: 3,
    examples: [undefined],
    *holds(http, _, trial) {
      const animal = yield* Creations.createOwn(http, trial, "sold")
      yield* moveTimeTo(http, SUNSET - MARGIN)
      const before = yield* get(http, animal)
      if (before.receivedAt < SUNSET) {
        yield* expect(
          before.response.status === 200,
          `200 at ${Moment.iso(before.receivedAt)}, before the removal`,
          outcome(before.response)
        )
      }
      yield* moveTimeTo(http, SUNSET)
      const after = yield* get(http, animal)
      yield* Responses.expectRejection(after, { status: [410], code: "operation_removed" })
      yield* expectAnnouncement(after, http)
    }
  }),
  spec({
    id: "removal.done",
    law: "No animal can be fetched after 5 December 2030 has ended everywhere; the response is 404 or 410 with an Error body.",
    clauses: ["get.removed"],
    requests: 2,
    examples: [undefined],
    *holds(http, _, trial) {
      const animal = yield* Creations.createOwn(http, trial, "sold")
      yield* moveTimeTo(http, REMOVAL_OVER)
      yield* Responses.expectRejection(yield* get(http, animal), { status: [404, 410] })
    }
  }),
  spec({
    id: "removal.alone",
    law: "Animals are listed and created as before after getPet is removed.",
    clauses: ["get.removed-alone"],
    requests: 3,
    examples: [undefined],
    *holds(http, _, trial) {
      yield* moveTimeTo(http, REMOVAL_OVER)
      yield* Creations.createOwn(http, trial, "sold")
      for (const path of ["/pets", "/pets?status=sold&limit=5"]) {
        yield* Responses.expectStatus(yield* http.send({ path }), 200)
      }
    }
  })
]
