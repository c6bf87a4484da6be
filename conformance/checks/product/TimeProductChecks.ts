/** Laws about every operation at boundaries of time, after bans and after the removal of getPet (contract §8, §9). */
import * as Effect from "effect/Effect"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Operations from "../../dimensions/Operations.ts"
import * as Product from "../../dimensions/Product.ts"
import * as Queries from "../../dimensions/Queries.ts"
import * as Times from "../../dimensions/Times.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, postponed, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../../http/Removal.ts"
import { type Check, family } from "../Check.ts"
import { iso, momentsOf } from "../exchanges/ExchangeLaws.ts"
import * as Credentials from "../http/Credentials.ts"
import * as Calls from "./Calls.ts"
import * as CreationCase from "./CreationCase.ts"
import * as Envelope from "./Envelope.ts"
import { isDenied } from "./SmallKeys.ts"

const MINUTE_MS = 60_000

const atTimes = Product.of({
  time: Times.times,
  operation: Operations.operations,
  accept: Accepts.accepts,
  key: { main: "main", tiny: "tiny", none: "none" }
})

type Call = (typeof atTimes.examples)[number] & {
  readonly query?: Queries.QueryName
  /** The invalid credential to send; only if `key` is `none`. */
  readonly credential?: Credentials.Credential
}

/** Moments just before the end of a window, at which each operation is also sent in its simplest form. */
const BEFORE_ENDS: ReadonlySet<Times.TimeName> = new Set(["before the end of a minute", "before midnight"])

/**
 * Returns each operation in its simplest form with the main key, lists with two other queries, a list without a
 * key, and a list with a key that was never issued.
 */
const plainAt = (time: Times.TimeName): ReadonlyArray<Call> => {
  const plain = { time, accept: "no Accept" } as const
  const list = { ...plain, operation: "list animals" } as const
  return [
    ...Operations.names.map((operation) => ({ ...plain, operation, key: "main" }) as const),
    { ...list, key: "main", query: "status alone" },
    { ...list, key: "main", query: "limit, then status" },
    { ...list, key: "none" },
    { ...list, key: "none", credential: "a key that was never issued" }
  ]
}

/** A server may reject this creation. If it accepts it, the animal must be returned as sent, whatever the time. */
const unusualCreation = {
  characters: "letters and digits",
  length: "65 UTF-16 units",
  category: "beyond doubles",
  status: "sold",
  shown: "its id"
} as const satisfies CreationCase.Creation

const afterRemoval = Product.of({
  operation: Operations.operations,
  accept: Accepts.accepts,
  query: Product.pick(Queries.queries, "no query", "status alone", "an unknown parameter")
})

/** Returns the calls for a moment; those with the small key stay within its per-minute limit, to avoid a ban. */
const callsAt = (time: Times.TimeName, { facts }: Http): ReadonlyArray<Call> => {
  const calls = atTimes.examples.filter((call) => call.time === time)
  const max = facts.tinyPlan?.perMinute ?? 0
  return [
    ...calls.filter(({ key }) => key !== "tiny"),
    ...calls.filter(({ key }) => key === "tiny").slice(0, max),
    ...(BEFORE_ENDS.has(time) ? plainAt(time) : [])
  ]
}

/** Fails if a success with the small key shows the per-minute limit, but a Reset more than a minute ahead. */
const expectResetInTime = (
  exchange: Exchange,
  { facts: { tinyPlan } }: Http
): Effect.Effect<void, Violation> => {
  const rate = RateHeaders.of(exchange.response)
  const showsMinute =
    exchange.key === "tiny" &&
    exchange.response.status < 300 &&
    rate?.limit === tinyPlan?.perMinute &&
    tinyPlan?.perMinute !== tinyPlan?.perDay
  if (rate === undefined || !showsMinute) return Effect.void
  return expect(
    rate.resetAt * 1_000 <= momentsOf(exchange)[1] + MINUTE_MS,
    `Reset at most 60 s ahead with Limit ${rate.limit}, the plan's requests per minute`,
    `${Math.round(rate.resetAt - exchange.receivedAt / 1_000)} s ahead, at ${iso(exchange)}`
  )
}

/** Sends the call with the key, or without one; the response must be the promised one, unless it is a denial. */
const sendAt = Effect.fnUntraced(function* (http: Http, trial: Trial, call: Call) {
  const prepared = yield* Calls.prepare(http, trial, call)
  const credential = call.credential === undefined ? {} : yield* Credentials.fieldsOf(call.credential, http)
  const exchange = yield* http.send({ ...prepared.sent, key: call.key, ...credential })
  yield* Envelope.check(exchange)
  // The small key may have reached its per-minute limit, or other laws may have caused a ban.
  if (isDenied(exchange)) return
  yield* expectResetInTime(exchange, http)
  yield* call.key === "none"
    ? Calls.expectUnauthorized(exchange, prepared)
    : Calls.expectAccepted(exchange, prepared)
  const { credential: _credential, query: _query, ...tried } = call
  trial.tried(tried)
})

const spec = family({ level: "spec", on: "http", needs: ["clock"] })

export const checks: ReadonlyArray<Check> = [
  spec<{ readonly time: Times.TimeName }>({
    id: "product.time",
    needsOneOf: ["getPet"],
    law: "Each operation works with each key, but not without a valid one, at the boundaries of seconds, minutes, days, months and years, and an accepted animal is returned as sent.",
    clauses: [
      "limits.headers-present",
      "limits.reset-ahead",
      "limits.reset-not-past",
      "list.status-200",
      "create.status-201",
      "get.found",
      "errors.no-5xx",
      "auth.required",
      "auth.invalid",
      "create.returns-created",
      "create.status-kept",
      "create.int64-exact",
      "get.faithful",
      ...Calls.listClauses
    ],
    profile: "limits",
    needs: ["clock", "tinyPlan"],
    requests: 148,
    product: atTimes.shape,
    examples: atTimes.shape.values.time?.map((time) => ({ time: time as Times.TimeName })) ?? [],
    *holds(http, { time }, trial) {
      const { follows, next } = Times.times[time]
      // The per-minute limit of the small key must be full again.
      if (!follows) yield* http.advance(RateHeaders.MINUTE_PASSED_MS)
      const moment = next(yield* http.now)
      if (moment >= REMOVAL_BEGINS) {
        return yield* postponed(`getPet is removed before the next moment "${time}"`)
      }
      yield* http.advanceUntil(moment)
      // A rejection decides nothing.
      yield* CreationCase.createAndFind(http, unusualCreation, trial)
      for (const call of callsAt(time, http)) yield* sendAt(http, trial, call)
    }
  })
]

/** Laws that move time beyond the removal of getPet, so that they come last. */
export const closing: ReadonlyArray<Check> = [
  spec({
    id: "product.removed",
    law: "After the removal each operation except getPet works as before, whatever the query and the Accept header.",
    clauses: [
      "get.removed",
      "get.removed-alone",
      "limits.headers-present",
      "errors.body",
      ...Calls.listClauses
    ],
    profile: "deprecation",
    requests: 54,
    product: afterRemoval.shape,
    examples: afterRemoval.examples,
    *holds(http, call, trial) {
      yield* http.advanceUntil(REMOVAL_OVER)
      const prepared = yield* Calls.prepare(http, trial, call)
      const exchange = yield* http.send(prepared.sent)
      yield* Envelope.check(exchange)
      yield* Calls.expectAccepted(exchange, prepared)
      trial.tried(call)
    }
  })
]
