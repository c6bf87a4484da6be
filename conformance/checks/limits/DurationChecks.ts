/** Laws about the duration of the windows of contract §8.2, and about headers, which must show the caller's limits. */
import * as Effect from "effect/Effect"
import type { Meter, Reading } from "../../evaluation/Meter.ts"
import { expect, type Failure, inapplicable, undecided } from "../../evaluation/Outcome.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { type Check, define, family } from "../Check.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** Maximum number of minutes in which a law counts admitted requests. */
const MAX_MINUTES = 10

/** Maximum number of consecutive bursts. Their interval does not divide the windows that the law must detect. */
const MAX_BURSTS = 8

/** Approximate number of requests of a case; larger plans get fewer minutes and bursts. */
const MANY = 250

/** Interval between bursts in ms: more than a minute, even by a slightly different clock. */
const APART = MINUTE + SECOND

/** Duration in ms that overlaps at most four days, even if one of them has 23 hours. */
const THREE_DAYS = 70 * 3_600_000

/** Duration in ms that is longer than any day, even one of 25 hours. */
const SILENCE = 26 * 3_600_000

/** Tolerance in ms for the clocks of two machines and for rounding to a second. */
const CLOCK_SLACK = 10 * SECOND

/** Returns the maximum number of requests in a case, including denied ones; the client waits, so it needs no more. */
const maxSent = (allowed: number): number => 4 * allowed + 20

/** Waits two days, so that no ban or used window from another law is left. */
const waitForFreshDays = Effect.fnUntraced(function* (meter: Meter) {
  yield* Bursts.spendAfterRest(meter)
  yield* meter.advance(2 * DAY)
})

/** Waits for the Retry-After of a denial, at least a second, so that time passes. */
const waitAfterDenial = (meter: Meter, { retryAfter }: Reading): Effect.Effect<void, Failure> =>
  meter.advance(Math.max(retryAfter, 1) * SECOND)

/**
 * Returns the number of requests that are admitted within `ms` milliseconds. The client pauses only after denials, for
 * their Retry-After, and after each `burst` admitted requests, for `pause` ms. It stops early when more than `allowed`
 * requests are admitted or `maxSent(allowed)` are sent.
 */
const throughput = Effect.fnUntraced(function* (
  meter: Meter,
  { allowed, burst, ms, pause }: Record<"allowed" | "burst" | "ms" | "pause", number>
) {
  let first: Reading | undefined
  let admitted = 0
  for (let sent = 0; sent < maxSent(allowed) && admitted <= allowed; sent++) {
    const reading = yield* meter.spend
    first ??= reading
    if (Bursts.span(first, reading) > ms) break
    if (!reading.admitted) yield* waitAfterDenial(meter, reading)
    else if (++admitted % burst === 0 && pause > 0) yield* meter.advance(pause)
  }
  return admitted
})

/**
 * Sends requests within the per-minute limit until one is denied, at most one more than a day allows. Returns the
 * number of admitted requests and the elapsed ms.
 */
const useUpDay = Effect.fnUntraced(function* (
  meter: Meter
): Effect.fn.Return<{ readonly admitted: number; readonly ms: number }, Failure> {
  const { perDay, perMinute } = meter.plan
  const first = yield* meter.spend
  let last = first
  let admitted = 0
  while (last.admitted && ++admitted <= perDay) {
    if (admitted % perMinute === 0) yield* meter.advance(APART)
    last = yield* meter.spend
  }
  return { admitted, ms: Bursts.span(first, last) }
})

const limitOf = ({ response }: Pick<Exchange, "response">): number | undefined =>
  RateHeaders.of(response)?.limit

const withClock = family({ level: "spec", profile: "limits", on: "meter", needs: ["tinyPlan", "clock"] })

export const checks: ReadonlyArray<Check> = [
  withClock({
    id: "limits.minute-lasts",
    law: "The window of the per-minute limit lasts a minute, neither less nor more.",
    clauses: ["limits.per-minute", "limits.no-early-429"],
    requests: 107,
    examples: ["at most", "at least"],
    *holds(meter, bound) {
      yield* Bursts.requireSmall(meter)
      const { perDay, perMinute } = meter.plan
      if (perDay < 6 * perMinute) {
        return yield* undecided(
          `${perDay} requests per day are too few to measure the minute: use a key with at least ${6 * perMinute}`
        )
      }
      yield* waitForFreshDays(meter)
      if (bound === "at most") {
        // Any span of n minutes overlaps at most n + 1 windows. A bucket refills n times after its first content, plus
        // one request by rounding. The day must allow one more than that.
        const minutes = Math.min(
          MAX_MINUTES,
          Math.floor((perDay - 2) / perMinute) - 1,
          Math.max(Math.floor(MANY / perMinute), 3)
        )
        const allowed = perMinute * (minutes + 1) + 1
        const admitted = yield* throughput(meter, {
          allowed,
          burst: perMinute,
          ms: minutes * MINUTE,
          pause: 0
        })
        yield* expect(
          admitted <= allowed,
          `at most ${allowed} requests in ${minutes} minutes, for a client that waits for Retry-After`,
          `${admitted} admitted`
        )
        return
      }
      const bursts = Math.min(
        MAX_BURSTS,
        Math.floor(perDay / perMinute),
        Math.max(Math.floor(MANY / perMinute), 2)
      )
      for (let sent = 0; sent < bursts * perMinute; sent++) {
        if (sent > 0 && sent % perMinute === 0) yield* meter.advance(APART)
        const reading = yield* meter.spend
        yield* expect(
          reading.admitted,
          `bursts of ${perMinute} requests, ${APART / SECOND} s apart, admitted`,
          `429 in burst ${Math.floor(sent / perMinute) + 1}, Retry-After ${reading.retryAfter} s`
        )
      }
    }
  }),
  withClock({
    id: "limits.day-lasts",
    law: "The window of the daily limit lasts a day, neither less nor more.",
    clauses: ["limits.per-day", "limits.no-early-429"],
    requests: 290,
    examples: ["at least", "at most"],
    *holds(meter, bound) {
      yield* Bursts.requireSmall(meter)
      yield* Bursts.requireSmallDay(meter)
      const { perDay, perMinute } = meter.plan
      yield* waitForFreshDays(meter)
      if (bound === "at most") {
        const allowed = 4 * perDay
        const admitted = yield* throughput(meter, {
          allowed,
          burst: perMinute,
          ms: THREE_DAYS,
          pause: APART
        })
        yield* expect(
          admitted <= allowed,
          `at most ${allowed} requests in ${THREE_DAYS / 3_600_000} hours, for a client that waits for Retry-After`,
          `${admitted} admitted`
        )
        return
      }
      let excesses = 0
      for (let day = 1; day <= 3; day++) {
        if (day > 1) yield* meter.advance(SILENCE)
        const { admitted, ms } = yield* useUpDay(meter)
        yield* expect(
          admitted >= perDay,
          `${perDay} requests admitted ${day === 1 ? "on a new day" : `after ${SILENCE / 3_600_000} hours of silence`}`,
          `429 after ${admitted}`
        )
        if (admitted > perDay + Math.floor((ms * perDay) / DAY)) excesses++
      }
      // A day may end during one of the three, but not during two, because they are more than a day apart.
      yield* expect(
        excesses <= 1,
        `429 once the ${perDay} requests of a day are used up`,
        `more than ${perDay} requests admitted on ${excesses} of 3 days`
      )
    }
  }),
  define({
    id: "limits.reset-within-minute",
    law: "When the headers show the per-minute limit, Reset is at most a minute ahead.",
    clauses: ["limits.reset-ahead", "limits.plan-in-force"],
    level: "spec",
    profile: "limits",
    on: "meter",
    needs: ["tinyPlan"],
    requests: 6,
    timeoutMs: 100_000,
    examples: [null],
    *holds(meter) {
      yield* Bursts.requireSmall(meter)
      if (meter.hasClock) yield* Bursts.rest(meter)
      const first = yield* meter.spend
      if (!first.admitted) yield* Bursts.waitForRetryAfter(meter, first)
      const readings = [first, ...(yield* Bursts.spendUntilDenied(meter, meter.plan.perMinute - 1))]
      const shown = readings.filter((reading) => reading.admitted && Bursts.showsMinute(meter, reading))
      if (shown.length === 0) return yield* inapplicable("no response shows the per-minute limit")
      for (const reading of shown) {
        const ahead = reading.resetAt * SECOND - reading.decidedBetween[1]
        yield* expect(
          ahead <= MINUTE + CLOCK_SLACK,
          `Reset at most 60 s ahead with Limit ${reading.limit}, the plan's requests per minute`,
          `${Math.round(ahead / SECOND)} s ahead`
        )
      }
    }
  }),
  define({
    id: "limits.headers-own",
    law: "The headers show the caller's own limits while others send requests at the same time.",
    clauses: ["limits.plan-in-force"],
    level: "spec",
    profile: "limits",
    on: "http",
    needs: ["tinyPlan", "parallel"],
    requests: 11,
    timeoutMs: 250_000,
    examples: [null],
    *holds(http) {
      const main = { path: "/pets?limit=1" } as const
      const { perDay, perMinute } = http.facts.tinyPlan ?? { perDay: 0, perMinute: 0 }
      if (http.facts.hasClock) yield* http.advance(2 * DAY)
      const first = yield* http.send(Bursts.tinyList)
      if (first.response.status === 429) {
        yield* http.advance((RateHeaders.retryAfterSeconds(first) ?? 0) * SECOND)
      }
      const mainLimit = limitOf(yield* http.send(main))
      // Few requests, because plans may be small; responses to denied requests also have the headers.
      const mixed = [main, Bursts.tinyList, main, main, Bursts.tinyList, main, main, Bursts.tinyList, main]
      const exchanges = yield* http.sendConcurrently(mixed)
      if (mainLimit === perMinute || mainLimit === perDay) {
        return yield* undecided(
          "the small key and the main key show the same limit: use keys on different plans"
        )
      }
      // There is no second attempt, because it would hide responses that are only sometimes mixed up.
      const limits = exchanges.filter(({ key }) => key === "tiny").map(limitOf)
      const wrong = limits.find((limit) => limit !== undefined && limit !== perMinute && limit !== perDay)
      yield* expect(
        wrong === undefined,
        `Limit ${perMinute} or ${perDay} for the small key, with and without other requests`,
        `Limit ${wrong}${wrong === mainLimit ? ", which the main key shows" : ""}`
      )
    }
  })
]
