/** Laws about our decisions on contract §8: an exact bucket, a UTC day, whole numbers. */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import type { Http, Sent } from "../../evaluation/Http.ts"
import type { Meter, Reading } from "../../evaluation/Meter.ts"
import { expect, type Failure, inapplicable, undecided } from "../../evaluation/Outcome.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { type Check, family } from "../Check.ts"
import * as BucketModel from "./BucketModel.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** The time of a request: ms after the previous one, or relative to the next midnight UTC. */
interface Pause {
  readonly from: "now" | "midnight"
  readonly ms: number
}

interface Walk {
  /** Whether all requests of the day but one are used up before the first pause. */
  readonly usesDay: boolean
  readonly pauses: ReadonlyArray<Pause>
}

const after = (...all: ReadonlyArray<number>): ReadonlyArray<Pause> => all.map((ms) => ({ from: "now", ms }))

const walks: ReadonlyArray<Walk> = [
  { usesDay: false, pauses: after(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
  { usesDay: false, pauses: after(0, 0, 0, 0, 0, 5_999, 1, 6_000, 5_000, 1_000, 59_999, 60_000, 60_001) },
  { usesDay: false, pauses: after(0, 0, 0, 0, 0, 0, 3_600_000, 0, 0, 0, 0, 0, 0) },
  {
    usesDay: true,
    pauses: [
      ...after(0, 0, 30_000),
      { from: "midnight", ms: -2_000 },
      { from: "midnight", ms: 1_000 },
      ...after(0, 0)
    ]
  }
]

const pause: fc.Arbitrary<Pause> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ from: fc.constant("now"), ms: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ from: fc.constant("now"), ms: fc.integer({ min: 1, max: 15_000 }) }) },
  fc.record({
    from: fc.constant("now"),
    ms: fc.constantFrom(999, 1_000, 1_001, 11_999, 12_000, 59_999, 60_000)
  }),
  fc.record({ from: fc.constant("midnight"), ms: fc.constantFrom(-2_000, -500, 500, 2_000) })
)

/** Generates walks that are too short to cause a ban. */
const walk: fc.Arbitrary<Walk> = fc.record({
  usesDay: fc.constant(false),
  pauses: fc.array(pause, { maxLength: 16, size: "max" })
})

/** Pauses, then reads the clock and sends a request immediately, so that its time is known as exactly as possible. */
const step = Effect.fnUntraced(function* (meter: Meter, { from, ms }: Pause) {
  const now = yield* meter.now
  const wait = from === "now" ? ms : (Math.floor(now / DAY) + 1) * DAY + ms - now
  if (wait > 0) yield* meter.advance(wait)
  yield* meter.now
  return yield* meter.spend
})

/** Runs a walk that starts on an unused day, and calls `holds` with each reading and the expected response. */
const runWalk = Effect.fnUntraced(function* (
  meter: Meter,
  { pauses, usesDay }: Walk,
  holds: (reading: Reading, expected: BucketModel.Expected) => Effect.Effect<void, Failure>
) {
  yield* Bursts.requireSmall(meter, 10)
  yield* meter.advance(DAY + MINUTE)
  const { perDay, perMinute } = meter.plan
  if (usesDay) yield* Bursts.requireSmallDay(meter)
  const day = Array.from({ length: usesDay ? perDay - 1 : 0 }, (_, index): Pause => {
    return { from: "now", ms: index % perMinute === 0 ? MINUTE : 0 }
  })
  const next = BucketModel.make(meter.plan)
  for (const each of [...day, ...pauses]) {
    const reading = yield* step(meter, each)
    yield* holds(reading, yield* next(reading))
  }
})

/** Defines checks that run the same walks; each is about another part of the responses. */
const walked = family({
  level: "design",
  profile: "limits",
  on: "meter",
  needs: ["tinyPlan", "clock"],
  requests: 150,
  examples: walks,
  cases: walk,
  runs: { port: 60, http: 4 }
})

const remainingOf = ({ response }: Exchange): number => RateHeaders.of(response)?.remaining ?? -1

/**
 * Waits for new windows of the small key, sends one request and returns its Remaining. Fails with `Undecided` if
 * Remaining is 0.
 */
const beginWindows = Effect.fnUntraced(function* (http: Http) {
  yield* http.advance(DAY + MINUTE)
  const exchange = yield* http.send(Bursts.tinyList)
  const left = remainingOf(exchange)
  return exchange.response.status === 200 && left >= 1
    ? left
    : yield* undecided("the small key must allow at least two requests per minute")
})

/** Requests that fail, with the reason. */
const failing: ReadonlyArray<Sent & { readonly fails: string }> = [
  { fails: "an invalid parameter", path: "/pets?limit=0" },
  { fails: "an unknown path", path: "/nothing" },
  { fails: "an unknown animal", path: "/pets/9223372036854775807" },
  { fails: "another method", path: "/pets", method: "DELETE" },
  { fails: "invalid JSON", path: "/pets", method: "POST", json: "{" },
  {
    fails: "another content type",
    path: "/pets",
    method: "POST",
    body: "{}",
    headers: [["Content-Type", "text/plain"]]
  }
]

/** Sets the clock back and restores it; fails with `Inapplicable` if it only moves forward. */
const requireClockThatStepsBack = Effect.fnUntraced(function* (meter: Meter) {
  const begin = yield* meter.now
  yield* meter.advance(-1)
  if ((yield* meter.now) >= begin) return yield* inapplicable("its clock only moves forward")
  yield* meter.advance(1)
})

const withClock = family({ level: "design", profile: "limits", on: "meter", needs: ["tinyPlan", "clock"] })
const overHttp = family({ level: "design", profile: "limits", on: "http", needs: ["tinyPlan", "clock"] })

export const checks: ReadonlyArray<Check> = [
  walked({
    id: "bucket.outcome",
    law: "A request is admitted if and only if an evenly refilled bucket and the UTC day both have a request left.",
    clauses: ["limits.bucket", "limits.bucket-refill", "limits.denied-costs-nothing", "limits.day-utc"],
    requests: 100,
    holds: (meter, walk) =>
      runWalk(meter, walk, (reading, { mayAdmit, mayDeny }) =>
        expect(
          reading.admitted ? mayAdmit : mayDeny,
          reading.admitted
            ? "a 429, because nothing is left"
            : "the request admitted, because something is left",
          reading.admitted ? "the request admitted" : `429, Retry-After ${reading.retryAfter} s`
        )
      )
  }),
  walked({
    id: "bucket.remaining",
    law: "Limit and Remaining are those of the window with the fewest requests left, or of the one that denies longest.",
    clauses: ["limits.window-shown", "limits.window-shown-denied", "limits.remaining-floor"],
    requests: 120,
    holds: (meter, walk) =>
      runWalk(meter, walk, ({ admitted, limit, remaining }, { views }) =>
        expect(
          views.some((view) => view.limit === limit && BucketModel.includes(view.remaining, remaining)),
          `${views.map((view) => `${BucketModel.rangeText(view.remaining)} of ${view.limit}`).join(", or ")} remaining`,
          `${remaining} of ${limit}${admitted ? "" : " with a 429"}`
        )
      )
  }),
  walked({
    id: "bucket.reset",
    law: "Reset is the second, rounded up, at which the window that Limit shows is full again.",
    clauses: ["limits.reset-full", "limits.window-single"],
    requests: 114,
    holds: (meter, walk) =>
      runWalk(meter, walk, ({ limit, resetAt }, { views }) => {
        const own = views.filter((view) => view.limit === limit)
        return expect(
          own.some((view) => BucketModel.includes(view.resetAt, resetAt)),
          `Reset ${own.map((view) => BucketModel.rangeText(view.resetAt)).join(" or ")} of the window of ${limit}`,
          String(resetAt)
        )
      })
  }),
  walked({
    id: "bucket.retry-after",
    law: "Retry-After is the shortest wait in whole seconds after which a request is admitted.",
    clauses: ["limits.retry-after-exact", "limits.retry-after-seconds"],
    requests: 103,
    holds: (meter, walk) =>
      runWalk(meter, walk, ({ limit, retryAfter }, { views }) =>
        expect(
          views.some((view) => view.limit === limit && BucketModel.includes(view.retryAfter, retryAfter)),
          `Retry-After ${views.map((view) => BucketModel.rangeText(view.retryAfter)).join(" or ")} s`,
          `${retryAfter} s`
        )
      )
  }),
  withClock({
    id: "bucket.shortest-wait",
    law: "A request is admitted after Retry-After, and not a second earlier.",
    clauses: ["limits.retry-after-exact", "limits.retry-after-promise"],
    requests: 56,
    mustSee: ["a wait of more than a second"],
    examples: [0, 1, 700, 3_001],
    cases: fc.integer({ min: 0, max: 5_000 }),
    runs: { port: 30, http: 3 },
    *holds(meter, lateMs, trial) {
      yield* Bursts.requireSmall(meter, 10)
      yield* meter.advance(DAY + MINUTE)
      for (let sent = 0; sent < meter.plan.perMinute; sent++) yield* meter.spend
      yield* meter.advance(lateMs)
      const denied = (yield* Bursts.spendUntilDenied(meter, Bursts.maxInBurst(meter))).at(-1)
      if (denied === undefined || denied.admitted) return yield* undecided("there was no 429")
      const early = (denied.retryAfter - 1) * SECOND - 200
      if (early > 0) {
        trial.saw("a wait of more than a second")
        yield* meter.advance(early)
        const tooEarly = yield* meter.spend
        yield* expect(
          !tooEarly.admitted,
          `a 429 more than a second before the end of ${denied.retryAfter} s`,
          "a request admitted"
        )
      }
      yield* meter.advance(denied.retryAfter * SECOND - Math.max(early, 0))
      const last = yield* meter.spend
      yield* expect(
        last.admitted,
        `a request admitted after the ${denied.retryAfter} s of Retry-After`,
        `429, Retry-After ${last.retryAfter} s`
      )
    }
  }),
  withClock({
    id: "bucket.clock-back",
    law: "No request is granted twice when the clock steps back by up to a minute and forward again.",
    clauses: ["limits.clock-back"],
    requests: 1,
    examples: [1, SECOND, MINUTE],
    cases: fc.integer({ min: 1, max: MINUTE }),
    runs: { port: 20, http: 0 },
    *holds(meter, ms) {
      yield* requireClockThatStepsBack(meter)
      yield* Bursts.provokeDenial(meter)
      yield* meter.advance(-ms)
      const earlier = yield* meter.spend
      yield* expect(!earlier.admitted, `a 429 although the clock went back ${ms} ms`, "a request admitted")
      yield* meter.advance(ms)
      const later = yield* meter.spend
      yield* expect(!later.admitted, "a 429 when the clock shows the former time", "a request admitted")
    }
  }),
  withClock({
    id: "bucket.clock-lead",
    law: "When the clock steps back, no caller waits more than a minute longer than due.",
    clauses: ["limits.clock-lead"],
    requests: 1,
    examples: [MINUTE, 60 * MINUTE, 2 * DAY],
    cases: fc.integer({ min: MINUTE, max: 2 * DAY }),
    runs: { port: 20, http: 0 },
    *holds(meter, ms) {
      yield* requireClockThatStepsBack(meter)
      yield* Bursts.provokeDenial(meter)
      yield* meter.advance(-ms)
      yield* meter.spend
      yield* meter.advance(MINUTE + Math.ceil(MINUTE / meter.plan.perMinute))
      const { admitted, retryAfter } = yield* meter.spend
      yield* expect(
        admitted,
        "a request admitted a minute and one token's time after the clock went back",
        `429, Retry-After ${retryAfter} s`
      )
    }
  }),
  overHttp({
    id: "bucket.every-request-costs",
    law: "A request with a valid key costs one, whatever the response.",
    clauses: ["limits.every-request-costs"],
    requests: 12,
    examples: failing,
    *holds(http, { fails, ...sent }) {
      const before = yield* beginWindows(http)
      const exchange = yield* http.send({ ...sent, key: "tiny" })
      yield* expect(
        remainingOf(exchange) === before - 1,
        `${before - 1} remaining after a request with ${fails}`,
        `${remainingOf(exchange)}, with ${exchange.response.status}`
      )
    }
  }),
  overHttp({
    id: "bucket.before-routing",
    law: "A request over the limit gets 429, whatever else is wrong with it.",
    clauses: ["limits.before-routing"],
    requests: 12,
    examples: [null],
    *holds(http) {
      yield* beginWindows(http)
      yield* Bursts.useUpTiny(http)
      for (const { fails, ...sent } of failing) {
        const { response } = yield* http.send({ ...sent, key: "tiny" })
        yield* expect(response.status === 429, `429 to ${fails} over the limit`, String(response.status))
      }
    }
  }),
  overHttp({
    id: "bucket.keys-apart",
    law: "The requests of one key do not change the budget of another.",
    clauses: ["limits.counted-per-key"],
    requests: 12,
    examples: [null],
    *holds(http) {
      const before = yield* beginWindows(http)
      for (let sent = 0; sent < 10; sent++) yield* http.send({ path: "/pets?limit=1" })
      const exchange = yield* http.send(Bursts.tinyList)
      yield* expect(
        exchange.response.status === 200 && remainingOf(exchange) === before - 1,
        `${before - 1} remaining after ten requests of another key`,
        `${remainingOf(exchange)}, with ${exchange.response.status}`
      )
    }
  })
]
