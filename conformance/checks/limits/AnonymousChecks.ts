/** Laws about callers without a valid key. Contract §8.3 leaves their limits open; ours are those of the Free plan. */
import * as Effect from "effect/Effect"
import * as Plan from "../../../core/limits/Plan.ts"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, type Failure, Violation } from "../../evaluation/Outcome.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import * as Conversation from "../../subjects/Conversation.ts"
import { type Check, family, type LawGenerator } from "../Check.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

const { perMinute } = Plan.standard.Free

const withoutKey = { path: "/pets?limit=1", key: "none" } as const satisfies Sent
const withKey = { path: "/pets?limit=1" } as const satisfies Sent

const rateOf = Effect.fnUntraced(function* ({
  response
}: Exchange): Effect.fn.Return<RateHeaders.RateHeaders, Violation> {
  const rate = RateHeaders.of(response)
  return rate === undefined
    ? yield* new Violation({ expected: "the three rate headers", actual: Conversation.outcome(response) })
    : rate
})

/** Evaluates a law with a full bucket, and waits until the bucket is full again, because other laws also use it. */
const withFullBucket = (http: Http, law: Effect.Effect<void, Failure>): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    yield* http.advance(DAY + MINUTE)
    yield* law
    yield* http.advance(MINUTE + SECOND)
  })

/** Defines a check that starts with a full bucket on a new day, because a day allows only 1,000 requests. */
const anonymous = ({
  holds,
  ...rest
}: Pick<Check, "id" | "law" | "clauses" | "requests"> & {
  readonly holds: (http: Http) => LawGenerator
}): Check =>
  family({ level: "design", profile: "limits", on: "http", needs: ["clock"], examples: [null] })({
    ...rest,
    holds: (http) =>
      withFullBucket(
        http,
        Effect.gen(() => holds(http))
      )
  })

/** Sends requests without a key until a 429; fails if more are admitted than the bucket allows. */
const sendUntilDenied = Effect.fnUntraced(function* (http: Http) {
  const begin = yield* http.now
  for (let sent = 0; ; sent++) {
    const exchange = yield* http.send(withoutKey)
    if (exchange.response.status === 429) return exchange
    // The bucket regains one request per second.
    const max = perMinute + Math.ceil(((yield* http.now) - begin) / SECOND) + 1
    yield* expect(
      sent < max,
      `429 after ${max} requests without a key`,
      `${sent + 1} of them had another status`
    )
  }
})

export const checks: ReadonlyArray<Check> = [
  anonymous({
    id: "anonymous.counted",
    law: "Each 401 costs one request of a bucket with the limits of the Free plan, and shows that bucket.",
    clauses: ["limits.anonymous"],
    requests: 5,
    *holds(http) {
      const begin = yield* http.now
      for (let sent = 1; sent <= 5; sent++) {
        const invalid = { ...withoutKey, authorization: ["Bearer no-such-key"] }
        const exchange = yield* http.send(sent % 2 === 0 ? invalid : withoutKey)
        const rate = yield* rateOf(exchange)
        const regained = Math.ceil(((yield* http.now) - begin) / SECOND)
        yield* expect(
          exchange.response.status === 401 && rate.limit === perMinute,
          `401 with Limit ${perMinute}, as in the Free plan`,
          `${exchange.response.status} with Limit ${rate.limit}`
        )
        yield* expect(
          rate.remaining >= perMinute - sent && rate.remaining <= perMinute - sent + regained,
          `${perMinute - sent} remaining after ${sent} requests without a valid key`,
          `${rate.remaining} remaining`
        )
      }
    }
  }),
  anonymous({
    id: "anonymous.exhausted",
    law: "A request without a valid key gets 429 when the bucket is empty, and 401 again after Retry-After.",
    clauses: ["limits.anonymous-exhausted"],
    requests: 62,
    *holds(http) {
      const denied = yield* sendUntilDenied(http)
      const rate = yield* rateOf(denied)
      yield* expect(
        rate.limit === perMinute && rate.remaining === 0,
        `0 of ${perMinute} remaining with the 429`,
        `${rate.remaining} of ${rate.limit}`
      )
      yield* http.advance((RateHeaders.retryAfterSeconds(denied) ?? 0) * SECOND)
      const { response } = yield* http.send(withoutKey)
      yield* expect(response.status === 401, "401 again after Retry-After", String(response.status))
    }
  }),
  anonymous({
    id: "anonymous.keys-unaffected",
    law: "A valid key is admitted while the bucket of its network is empty.",
    clauses: ["limits.anonymous-apart"],
    requests: 62,
    *holds(http) {
      yield* sendUntilDenied(http)
      const { status } = (yield* http.sendUnpaced(withKey)).response
      yield* expect(status === 200, "200 to a valid key of that network", String(status))
    }
  }),
  anonymous({
    id: "anonymous.untouched-by-keys",
    law: "A request with a valid key does not affect the bucket of its network.",
    clauses: ["limits.anonymous-apart"],
    requests: 8,
    *holds(http) {
      const before = yield* rateOf(yield* http.send(withoutKey))
      for (let sent = 0; sent < 6; sent++) yield* http.send(withKey)
      const later = yield* rateOf(yield* http.send(withoutKey))
      yield* expect(
        later.limit === before.limit && later.remaining >= before.remaining - 1,
        `${before.remaining - 1} of ${before.limit} remaining after six requests with a key`,
        `${later.remaining} of ${later.limit}`
      )
    }
  }),
  anonymous({
    id: "anonymous.guesses-apart",
    law: "A request with a wrong key does not use the budget of any key, even a similar one.",
    clauses: ["limits.guesses-apart"],
    requests: 10,
    *holds(http) {
      const { mainKey } = http.facts
      const guess = {
        ...withKey,
        credential: "the key with another last character",
        authorization: [`Bearer ${mainKey.slice(0, -1)}${mainKey.endsWith("0") ? 1 : 0}`]
      }
      const before = yield* rateOf(yield* http.send(withKey))
      for (let sent = 0; sent < 8; sent++) yield* http.send(guess)
      const later = yield* rateOf(yield* http.send(withKey))
      yield* expect(
        later.limit !== before.limit || later.remaining >= before.remaining - 1,
        `${before.remaining - 1} remaining after eight guesses at the key`,
        `${later.remaining} remaining`
      )
    }
  }),
  anonymous({
    id: "anonymous.never-banned",
    law: "A client without a valid key is never banned, however often it retries.",
    clauses: ["ban.anonymous-never"],
    requests: 187,
    *holds(http) {
      yield* sendUntilDenied(http)
      // The maximum number of denied requests that get a slot.
      for (let sent = 0; sent < 60; sent++) yield* http.send(withoutKey)
      for (let round = 0; round < 22; round++) {
        yield* http.advance(SECOND)
        for (let sent = 0; sent < 3; sent++) {
          const { response } = yield* http.send(withoutKey)
          const isBan = ErrorBody.codeOf(response) === "api_key_banned"
          yield* expect(!isBan, "401, or 429 only for the limit", Conversation.outcome(response))
        }
      }
    }
  })
]
