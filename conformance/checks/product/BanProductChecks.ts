/** Laws about every operation of a key during its bans and after them (contract §8.4.3, which leaves open if there are any). */
import * as Effect from "effect/Effect"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Operations from "../../dimensions/Operations.ts"
import * as Product from "../../dimensions/Product.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, undecided } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { type Check, define } from "../Check.ts"
import * as Calls from "./Calls.ts"
import * as Envelope from "./Envelope.ts"

const SECOND = 1_000
const DAY_S = 86_400

/** Ms in which any window of a minute passes. */
const MINUTE_PASSED = 61_000

/** A longer wait in seconds is not for the minute. */
const BEYOND_MINUTE_S = 70

/** Longest wait in seconds that the suite waits for. */
const MOST_WAITED_S = 31 * DAY_S

/** Most denials that are tried to get a key banned, and most requests for that. */
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

type Call = (typeof product.examples)[number]

const callsAt = (time: Call["time"]): ReadonlyArray<Call> =>
  product.examples.filter((call) => call.time === time)

const list = { path: "/pets?limit=1", key: "victim" } as const

const waitOf = (exchange: Exchange): number => RateHeaders.retryAfterSeconds(exchange) ?? 0

/** Ignores 429 until the key is probably banned; returns the last denial. */
const offend = Effect.fnUntraced(function* (http: Http): Effect.fn.Return<Exchange, Failure> {
  let denials = 0
  for (let sent = 0; sent < REQUESTS; sent++) {
    const exchange = yield* http.send(list)
    const { status } = exchange.response
    if (status === 403 || (status === 429 && waitOf(exchange) > BEYOND_MINUTE_S)) return exchange
    if (status !== 429) continue
    denials++
    if (denials === DENIALS) return exchange
    yield* http.pass(SECOND + 100)
  }
  return yield* undecided("the key was hardly denied: give one on a smaller plan")
})

/** Waits for Retry-After until the key is admitted again; another law checks that it is. */
const returned = Effect.fnUntraced(function* (http: Http, denied: Exchange): Effect.fn.Return<void, Failure> {
  let last = denied
  for (let waits = 0; waits < 5; waits++) {
    const wait = Math.max(waitOf(last), BEYOND_MINUTE_S)
    if (wait > MOST_WAITED_S) return yield* undecided(`Retry-After asks to wait ${wait} s`)
    yield* http.pass((wait + 1) * SECOND)
    last = yield* http.send(list)
    if (last.response.status === 200) return
  }
  return yield* undecided("the key was not admitted after waiting for Retry-After five times")
})

/** A denied key gets an error with all headers; a banned one from each operation. */
const whileDenied = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  call: Call,
  isBanned: boolean
): Effect.fn.Return<void, Failure> {
  const { sent } = yield* Calls.prepare(http, trial, call)
  const exchange = yield* http.send({ ...sent, key: "victim" })
  yield* Envelope.holds(exchange)
  const { response } = exchange
  yield* expect(!isBanned || response.status >= 400, "a denial while the key is banned", outcome(response))
  trial.tried(call)
})

/** A key whose denials are over gets the promised response from each operation. */
const afterwards = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  call: Call
): Effect.fn.Return<void, Failure> {
  yield* http.pass(MINUTE_PASSED)
  const prepared = yield* Calls.prepare(http, trial, call)
  const exchange = yield* http.send({ ...prepared.sent, key: "victim" })
  yield* Envelope.holds(exchange)
  if (exchange.response.status === 429) return
  yield* Calls.accepted(exchange, prepared)
  trial.tried(call)
})

export const checks: ReadonlyArray<Check> = [
  define({
    id: "product.ban",
    law: "Each operation has all headers while a key is denied or banned, and works as before afterwards, each time.",
    clauses: [
      "limits.headers-present",
      "ban.temporary",
      "errors.body",
      "list.status-200",
      "create.status-201",
      "get.found",
      "get.not-found"
    ],
    level: "design",
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
        yield* http.pass(MINUTE_PASSED)
        const denied = yield* offend(http)
        const isBanned = denied.response.status === 403 || waitOf(denied) > BEYOND_MINUTE_S
        for (const call of callsAt(during)) yield* whileDenied(http, trial, call, isBanned)
        yield* returned(http, denied)
        for (const call of callsAt(after)) yield* afterwards(http, trial, call)
      }
    }
  })
]
