/** Laws about every operation while a key is denied or banned, and afterwards; contract §8.4.3 leaves bans open. */
import * as Effect from "effect/Effect"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Operations from "../../dimensions/Operations.ts"
import * as Product from "../../dimensions/Product.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, undecided } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { type Check, define } from "../Check.ts"
import * as Calls from "./Calls.ts"
import * as Envelope from "./Envelope.ts"
import { isDenied, REFILL_MS } from "./SmallKeys.ts"

const SECOND = 1_000
const DAY_S = 86_400

/**
 * The longest Retry-After, in seconds, of a denial by the per-minute limit; a longer one means a ban or the daily
 * limit.
 */
const MAX_MINUTE_WAIT_S = 70

/** The longest Retry-After, in seconds, that the suite waits for. */
const MAX_WAIT_S = 31 * DAY_S

/** Consecutive waits in seconds for responses without Retry-After. */
const UNANNOUNCED_WAITS_S = [MAX_MINUTE_WAIT_S, 600, 3_600, DAY_S, 7 * DAY_S]

/** Number of denials after which a key counts as banned, and maximum number of requests to cause them. */
const [DENIALS, REQUESTS] = [45, 150]

const product = Product.of({
  time: {
    "while denied": 1,
    "after the denials": 1,
    "while denied again": 2,
    "after the second denials": 2
  },
  operation: Operations.operations,
  accept: Accepts.accepts
})

const whileBanned = Product.of({
  operation: Operations.operations,
  accept: Product.pick(Accepts.accepts, "no Accept", "application/json")
})

type BannedCall = (typeof whileBanned.examples)[number]

const isBan = (response: Exchange["response"]): boolean => ErrorBody.codeOf(response) === "api_key_banned"

type Call = (typeof product.examples)[number]

const callsAt = (time: Call["time"]): ReadonlyArray<Call> =>
  product.examples.filter((call) => call.time === time)

const list = { path: "/pets?limit=1", key: "victim" } as const

const waitOf = (exchange: Exchange): number => RateHeaders.retryAfterSeconds(exchange) ?? 0

/**
 * Ignores 429 until the key is probably banned: until a 403, our code for bans, a long Retry-After, or `DENIALS`
 * denials. Returns the last denial; fails with `Undecided` after `REQUESTS` requests.
 */
const offend = Effect.fnUntraced(function* (http: Http): Effect.fn.Return<Exchange, Failure> {
  let denials = 0
  for (let sent = 0; sent < REQUESTS; sent++) {
    const exchange = yield* http.send(list)
    const { status } = exchange.response
    if (status === 403 || isBan(exchange.response)) return exchange
    if (status === 429 && waitOf(exchange) > MAX_MINUTE_WAIT_S) return exchange
    if (status !== 429) continue
    denials++
    if (denials === DENIALS) return exchange
    yield* http.advance(SECOND + 100)
  }
  return yield* undecided("the key was rarely denied: use a key on a smaller plan")
})

/** Waits until the key is admitted again; otherwise fails with `Undecided`, because another law checks admission. */
const waitUntilAdmitted = Effect.fnUntraced(function* (
  http: Http,
  denied: Exchange
): Effect.fn.Return<void, Failure> {
  let last = denied
  for (const unannounced of UNANNOUNCED_WAITS_S) {
    const wait = waitOf(last) === 0 ? unannounced : waitOf(last)
    if (wait > MAX_WAIT_S) return yield* undecided(`Retry-After is ${wait} s, longer than the suite waits`)
    yield* http.advance((wait + 1) * SECOND)
    last = yield* http.send(list)
    if (last.response.status === 200) return
  }
  return yield* undecided(`the key was not admitted after ${UNANNOUNCED_WAITS_S.length} waits`)
})

/**
 * Sends a call with a denied key: the response must pass `Envelope`, and a success must be as the contract promises. A
 * success is allowed: Retry-After may announce a later time than the end of the denial (§8.4.2), and the contract does
 * not describe a response to a banned key. Level design requires denials until that time (`ban.lasts`), on every
 * operation (`product.banned`).
 */
const sendWhileDenied = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  call: Call,
  prepared: Calls.Prepared
): Effect.fn.Return<void, Failure> {
  const exchange = yield* http.send({ ...prepared.sent, key: "victim" })
  yield* Envelope.check(exchange)
  if (exchange.response.status < 300) yield* Calls.expectAccepted(exchange, prepared)
  trial.tried(call)
})

/** Sends a call with a key whose denials are over: the response must be as the contract promises. */
const sendAfterwards = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  call: Call
): Effect.fn.Return<void, Failure> {
  const prepared = yield* Calls.prepare(http, trial, call)
  yield* http.advance(RateHeaders.MINUTE_PASSED_MS)
  const exchange = yield* http.send({ ...prepared.sent, key: "victim" })
  yield* Envelope.check(exchange)
  // The key's daily limit may be used up, or the server may have extended a ban.
  if (isDenied(exchange)) return
  yield* Calls.expectAccepted(exchange, prepared)
  trial.tried(call)
})

export const checks: ReadonlyArray<Check> = [
  define({
    id: "product.ban",
    law: "Each operation sends all headers while a key is denied or banned, and afterwards works as before, every time.",
    clauses: [
      "limits.headers-present",
      "ban.temporary",
      "errors.body",
      "list.status-200",
      "create.status-201",
      "get.found",
      "get.not-found",
      ...Calls.listClauses
    ],
    level: "spec",
    profile: "ban",
    on: "http",
    needs: ["victimKey", "clock"],
    requests: 90,
    product: product.shape,
    examples: [null],
    timeoutMs: 60_000,
    *holds(http, _given, trial) {
      for (const [during, after] of [
        ["while denied", "after the denials"],
        ["while denied again", "after the second denials"]
      ] as const) {
        yield* http.advance(RateHeaders.MINUTE_PASSED_MS)
        // Calls are prepared before the denials, because preparation takes time, in which a ban may end.
        const calls: Array<readonly [Call, Calls.Prepared]> = []
        for (const call of callsAt(during)) calls.push([call, yield* Calls.prepare(http, trial, call)])
        const denied = yield* offend(http)
        for (const [call, prepared] of calls) yield* sendWhileDenied(http, trial, call, prepared)
        yield* waitUntilAdmitted(http, denied)
        for (const call of callsAt(after)) yield* sendAfterwards(http, trial, call)
      }
    }
  }),
  define({
    id: "product.banned",
    law: "A banned key is denied on every operation.",
    clauses: ["ban.answer", "ban.unchanged-by-requests"],
    level: "design",
    profile: "ban",
    on: "http",
    needs: ["victimKey", "clock"],
    requests: 45,
    product: whileBanned.shape,
    examples: [null],
    timeoutMs: 60_000,
    *holds(http, _given, trial) {
      yield* http.advance(REFILL_MS)
      const calls: Array<readonly [BannedCall, Calls.Prepared]> = []
      for (const call of whileBanned.examples) calls.push([call, yield* Calls.prepare(http, trial, call)])
      yield* offend(http)
      for (const [call, prepared] of calls) {
        const { did, response } = yield* http.send({ ...prepared.sent, key: "victim" })
        yield* expect(
          response.status === 429 && (call.operation.startsWith("HEAD") || isBan(response)),
          `429 api_key_banned to ${did}`,
          outcome(response)
        )
        trial.tried(call)
      }
    }
  })
]
