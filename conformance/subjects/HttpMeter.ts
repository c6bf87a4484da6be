/** Implements the meter, which tests the limits of a key, over HTTP. Each of its requests is a list of one animal. */
import * as Effect from "effect/Effect"
import type { Plan } from "../../core/limits/Plan.ts"
import type { Meter, Reading } from "../evaluation/Meter.ts"
import { type Failure, undecided, Violation } from "../evaluation/Outcome.ts"
import type { Trial } from "../evaluation/Trial.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import type { Exchange, KeyName } from "../http/Exchange.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import * as Conversation from "./Conversation.ts"

const DAY_MS = 86_400_000

/** A key whose limits may be used up by laws. */
export interface LimitedKey {
  readonly name: KeyName
  readonly plan: Plan
}

const readingOf = (exchange: Exchange, slackMs: number): Effect.Effect<Reading, Failure> => {
  const { receivedAt, response, sentAt } = exchange
  const rate = RateHeaders.of(response)
  if (rate === undefined) {
    return Effect.fail(
      new Violation({
        clause: "limits.header-types",
        expected: "X-RateLimit-Limit, -Remaining and -Reset, each a whole number",
        actual: `${response.status} with ${response.headers.map(([name, value]) => `${name}: ${value}`).join(", ")}`
      })
    )
  }
  // The contract leaves the response to a banned key open (§8.4.3), so a 403 is a violation only for the victim key.
  if (response.status === 403 && exchange.key === "victim") {
    return Effect.fail(
      new Violation({
        clause: "ban.answer",
        expected: "200 or 429 to GET /pets?limit=1",
        actual: Conversation.outcome(response)
      })
    )
  }
  if (response.status === 403) return undecided("its key seems to be banned: the list returns 403")
  const admitted = response.status !== 429
  if (admitted && response.status !== 200) {
    return Effect.fail(
      new Violation({
        clause: "list.status-200",
        expected: "200 or 429 to GET /pets?limit=1",
        actual: Conversation.outcome(response)
      })
    )
  }
  const banned = admitted ? false : ErrorBody.codeOf(response) === "api_key_banned" ? true : undefined
  return Effect.map(admitted ? Effect.succeed(0) : Conversation.retryAfterOf(exchange), (retryAfter) => ({
    admitted,
    banned,
    ...rate,
    retryAfter,
    decidedBetween: [sentAt - slackMs, receivedAt + slackMs]
  }))
}

/** Returns a function that opens a meter of the key for an evaluation. */
export const make = (
  conversation: Conversation.Conversation,
  { name, plan }: LimitedKey
): ((trial: Trial) => Effect.Effect<Meter, Failure>) => {
  const { advance, hasClock, now, send, sendConcurrently, slackMs } = conversation
  const request = { path: "/pets?limit=1", key: name }
  let latest: Reading | undefined
  /** Number of requests since the latest reset of the daily limit; infinite at first, because earlier use is unknown. */
  let usedToday = Number.POSITIVE_INFINITY

  return (trial) => {
    const read = (exchange: Exchange) =>
      Effect.tap(readingOf(exchange, slackMs), (result) =>
        Effect.sync(() => {
          usedToday++
          latest = result
        })
      )
    const spend = Effect.flatMap(send(request, trial), read)
    const advanceAndRecord = (ms: number): Effect.Effect<void, Failure> =>
      Effect.andThen(
        advance(ms),
        Effect.sync(() => trial.record({ did: `let ${ms / 1_000} s pass`, got: "", passedMs: ms }))
      )

    const refill = Effect.gen(function* () {
      if (hasClock) {
        // The law with the most requests uses up the per-minute limit a few times.
        if (usedToday + 6 * plan.perMinute + 20 > plan.perDay) {
          yield* advanceAndRecord(2 * DAY_MS)
          usedToday = 0
        } else yield* advanceAndRecord(RateHeaders.MINUTE_PASSED_MS)
        return
      }
      if (latest === undefined) yield* spend
      if (latest === undefined) return
      // Waits until Reset, at most a minute, and after a denial also for Retry-After, which may be that of a ban.
      const current = yield* now
      const untilReset = Math.min(latest.resetAt * 1_000 - current, 60_000)
      const untilRetry = latest.admitted ? 0 : latest.decidedBetween[1] + latest.retryAfter * 1_000 - current
      yield* advanceAndRecord(Math.max(untilReset, untilRetry, 0) + slackMs)
    })
    const meter: Meter = {
      plan,
      spend,
      spendConcurrently: (requests) =>
        Effect.flatMap(
          sendConcurrently(
            Array.from({ length: requests }, () => request),
            trial
          ),
          Effect.forEach(read)
        ),
      advance: advanceAndRecord,
      refill,
      now,
      hasClock
    }
    return Effect.succeed(meter)
  }
}
