/** Limits as the design answers the gaps of contract §8: an exact bucket, a UTC day, whole numbers. */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import type { Plan } from "../../../core/limits/Plan.ts"
import { expect, type Failure, inapplicable, undecided } from "../../engine/Outcome.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { type Check, define } from "../Check.ts"
import type { Http, Sent } from "../Http.ts"
import type { Meter, Reading } from "../Meter.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** What a request costs: a bucket of n per minute gets n units each ms, so nothing is ever divided. */
const COST = MINUTE

/** Whole numbers from one to another, both included. */
type Range = readonly [least: number, most: number]

const includes = ([least, most]: Range, value: number): boolean => least <= value && value <= most

const shown = ([least, most]: Range): string => (least === most ? String(least) : `${least} to ${most}`)

/** One way in which an answer may describe a window. */
interface View {
  readonly limit: number
  readonly remaining: Range
  readonly resetAt: Range
  readonly retryAfter: Range
}

/** What the answer to a request has to be; several views where its exact time is not known. */
interface Expected {
  readonly mayAdmit: boolean
  readonly mayRefuse: boolean
  readonly views: ReadonlyArray<View>
}

const NONE: Range = [0, 0]

const inSeconds = ([least, most]: Range): Range => [Math.ceil(least / SECOND), Math.ceil(most / SECOND)]

/** Ms in which a slot of a used-up day is forgiven, and slots that such a day has at least. */
const FORGIVEN_EVERY_MS = 2_000
const MIN_SLOTS_OF_DAY = 8

const forgiven = ([least, most]: Range, elapsed: Range): Range => [
  Math.max(0, least - Math.floor(elapsed[1] / FORGIVEN_EVERY_MS)),
  Math.max(0, most - Math.floor(elapsed[0] / FORGIVEN_EVERY_MS))
]

/**
 * The rule once more, independent of the core: what is not known to the ms is a range. It learns from each
 * reading when it was decided, and whether it was admitted, and nothing else.
 */
const makeModel = ({ perDay, perMinute }: Plan) => {
  const capacity = perMinute * COST
  let level: Range = [capacity, capacity]
  let at: Range | undefined
  let day = -1
  let used = 0
  /** Slots that refused requests were told and that no admitted request has used yet. */
  let slots: Range = [0, 0]

  return (reading: Reading): Effect.Effect<Expected, Failure> => {
    const [earliest, latest] = reading.between
    const before = at ?? [earliest, latest]
    const now: Range = [Math.max(Math.floor(earliest), before[0]), Math.max(Math.ceil(latest), before[0])]
    const today = Math.floor(now[0] / DAY)
    if (today !== Math.floor(now[1] / DAY)) return undecided("a request met midnight: a later run will not")
    if (today !== day) used = 0
    day = today
    at = now
    const midnight = (today + 1) * DAY
    const elapsed: Range = [Math.max(0, now[0] - before[1]), now[1] - before[0]]
    level = [
      Math.min(capacity, level[0] + elapsed[0] * perMinute),
      Math.min(capacity, level[1] + elapsed[1] * perMinute)
    ]
    const isDayFree = used < perDay
    if (!isDayFree) slots = forgiven(slots, elapsed)
    else if (level[1] === capacity) slots = [0, level[0] === capacity ? 0 : slots[1]]
    const mayAdmit = isDayFree && level[1] >= COST
    const mayRefuse = !isDayFree || level[0] < COST

    const waitFor = (units: number): Range => [
      Math.max(0, Math.ceil((units - level[1]) / perMinute)),
      Math.max(0, Math.ceil((units - level[0]) / perMinute))
    ]
    const views: Array<View> = []
    const reset = { day: inSeconds([midnight, midnight]), minute: NONE }
    if (reading.admitted) {
      level = [Math.max(level[0], COST) - COST, Math.max(level[1], COST) - COST]
      slots = [Math.max(0, slots[0] - 1), Math.max(0, slots[1] - 1)]
      used++
      const full = waitFor(capacity)
      const fullAt: Range = [now[0] + full[0], now[1] + full[1]]
      reset.minute = inSeconds(fullAt)
      const left: Range = [Math.floor(level[0] / COST), Math.floor(level[1] / COST)]
      const leftToday = perDay - used
      const minute = { limit: perMinute, resetAt: reset.minute, retryAfter: NONE }
      const isLaterPossible = fullAt[1] > midnight
      const most = Math.min(left[1], isLaterPossible ? leftToday : leftToday - 1)
      if (left[0] <= most) views.push({ ...minute, remaining: [left[0], most] })
      if (left[1] > leftToday || (left[1] === leftToday && fullAt[0] <= midnight)) {
        const remaining: Range = [leftToday, leftToday]
        views.push({ limit: perDay, remaining, resetAt: reset.day, retryAfter: NONE })
      }
    } else {
      if (isDayFree) level = [Math.min(level[0], COST - 1), Math.min(level[1], COST - 1)]
      const least = isDayFree ? perMinute : Math.max(perMinute, MIN_SLOTS_OF_DAY)
      slots = [
        Math.min(slots[0] + 1, least + Math.floor(level[0] / COST)),
        Math.min(slots[1] + 1, least + Math.floor(level[1] / COST))
      ]
      const wait = waitFor(COST)
      const slot: Range = [waitFor(slots[0] * COST)[0], waitFor(slots[1] * COST)[1]]
      const full = waitFor(capacity)
      const untilMidnight: Range = isDayFree ? NONE : [midnight - now[1], midnight - now[0]]
      const asked = (range: Range): Range => {
        const [least, most] = inSeconds(range)
        return [Math.max(1, least), Math.max(1, most)]
      }
      if (untilMidnight[1] > wait[0]) {
        const later: Range = [Math.max(slot[0], untilMidnight[0]), Math.max(slot[1], untilMidnight[1])]
        views.push({ limit: perDay, remaining: NONE, resetAt: reset.day, retryAfter: asked(later) })
      }
      if (wait[1] >= untilMidnight[0]) {
        const resetAt = inSeconds([now[0] + full[0], now[1] + full[1]])
        views.push({ limit: perMinute, remaining: NONE, resetAt, retryAfter: asked(slot) })
      }
    }
    return Effect.succeed({ mayAdmit, mayRefuse, views })
  }
}

/** How long to wait before a request: from the one before, or around the coming midnight UTC. */
interface Pause {
  readonly from: "now" | "midnight"
  readonly ms: number
}

interface Walk {
  /** Whether it begins with all requests of the day but one. */
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

/** Short enough that no walk collects the strikes of a ban. */
const walk: fc.Arbitrary<Walk> = fc.record({
  usesDay: fc.constant(false),
  pauses: fc.array(pause, { maxLength: 16, size: "max" })
})

/** One reading after its pause, at a time that is known as well as it can be. */
const step = Effect.fnUntraced(function* (
  meter: Meter,
  { from, ms }: Pause
): Effect.fn.Return<Reading, Failure> {
  const now = yield* meter.now
  const wait = from === "now" ? ms : (Math.floor(now / DAY) + 1) * DAY + ms - now
  if (wait > 0) yield* meter.pass(wait)
  yield* meter.now
  return yield* meter.spend
})

/** Takes a walk from an unused day on, and holds each reading against the model. */
const along = Effect.fnUntraced(function* (
  meter: Meter,
  { pauses, usesDay }: Walk,
  holds: (reading: Reading, expected: Expected) => Effect.Effect<void, Failure>
): Effect.fn.Return<void, Failure> {
  yield* Bursts.small(meter, 10)
  yield* meter.pass(DAY + MINUTE)
  const { perDay, perMinute } = meter.plan
  if (usesDay) yield* Bursts.smallDay(meter)
  const day = Array.from({ length: usesDay ? perDay - 1 : 0 }, (_, index): Pause => {
    return { from: "now", ms: index % perMinute === 0 ? MINUTE : 0 }
  })
  const next = makeModel(meter.plan)
  for (const each of [...day, ...pauses]) {
    const reading = yield* step(meter, each)
    yield* holds(reading, yield* next(reading))
  }
})

/** Laws about the same walks, each about one part of the answers. */
const aboutWalks = {
  level: "design",
  profile: "limits",
  on: "meter",
  needs: ["tinyPlan", "clock"],
  requests: 150,
  examples: walks,
  cases: walk,
  runs: { port: 60, http: 4 }
} as const

const remainingOf = ({ response }: Exchange): number => RateHeaders.of(response)?.remaining ?? -1

/** Lets the tiny key's windows begin anew and answers with what its first request left. */
const begun = Effect.fnUntraced(function* (http: Http): Effect.fn.Return<number, Failure> {
  yield* http.pass(DAY + MINUTE)
  const exchange = yield* http.send(Bursts.tinyList)
  const left = remainingOf(exchange)
  return exchange.response.status === 200 && left >= 1
    ? left
    : yield* undecided("the small key needs room for two requests per minute")
})

/** Requests that fail, with what fails about them. */
const failing: ReadonlyArray<Sent & { readonly fails: string }> = [
  { fails: "an invalid parameter", path: "/pets?limit=0" },
  { fails: "an unknown path", path: "/nothing" },
  { fails: "an unknown animal", path: "/pets/9223372036854775807" },
  { fails: "another method", path: "/pets", method: "DELETE" },
  { fails: "no JSON", path: "/pets", method: "POST", json: "{" },
  {
    fails: "another content type",
    path: "/pets",
    method: "POST",
    body: "{}",
    headers: [["Content-Type", "text/plain"]]
  }
]

/** Goes on where the clock can be put back. */
const canStepBack = Effect.fnUntraced(function* (meter: Meter): Effect.fn.Return<void, Failure> {
  const begin = yield* meter.now
  yield* meter.pass(-1)
  if ((yield* meter.now) >= begin) return yield* inapplicable("its clock only moves forward")
  yield* meter.pass(1)
})

export const checks: ReadonlyArray<Check> = [
  define({
    ...aboutWalks,
    id: "bucket.outcome",
    law: "A request is admitted exactly when an evenly refilled bucket and the UTC day have one left.",
    clauses: ["limits.bucket", "limits.bucket-refill", "limits.denied-costs-nothing", "limits.day-utc"],
    holds: (meter, walk) =>
      along(meter, walk, (reading, { mayAdmit, mayRefuse }) =>
        expect(
          reading.admitted ? mayAdmit : mayRefuse,
          reading.admitted ? "a 429, nothing being left" : "the request admitted, something being left",
          reading.admitted ? "the request admitted" : `429, Retry-After ${reading.retryAfter} s`
        )
      )
  }),
  define({
    ...aboutWalks,
    id: "bucket.remaining",
    law: "Limit and Remaining are those of the window with least left, or of the one that refuses longest.",
    clauses: ["limits.window-shown", "limits.window-shown-denied", "limits.remaining-floor"],
    holds: (meter, walk) =>
      along(meter, walk, ({ admitted, limit, remaining }, { views }) =>
        expect(
          views.some((view) => view.limit === limit && includes(view.remaining, remaining)),
          `${views.map((view) => `${shown(view.remaining)} of ${view.limit}`).join(", or ")} remaining`,
          `${remaining} of ${limit}${admitted ? "" : " with a 429"}`
        )
      )
  }),
  define({
    ...aboutWalks,
    id: "bucket.reset",
    law: "Reset is the second, rounded up, at which the window that Limit shows is full again.",
    clauses: ["limits.reset-full", "limits.window-single"],
    holds: (meter, walk) =>
      along(meter, walk, ({ limit, resetAt }, { views }) => {
        const own = views.filter((view) => view.limit === limit)
        return expect(
          own.some((view) => includes(view.resetAt, resetAt)),
          `Reset ${own.map((view) => shown(view.resetAt)).join(" or ")} of the window of ${limit}`,
          String(resetAt)
        )
      })
  }),
  define({
    ...aboutWalks,
    id: "bucket.retry-after",
    law: "Retry-After is the shortest wait in whole seconds after which a request is admitted.",
    clauses: ["limits.retry-after-exact", "limits.retry-after-seconds"],
    holds: (meter, walk) =>
      along(meter, walk, ({ limit, retryAfter }, { views }) =>
        expect(
          views.some((view) => view.limit === limit && includes(view.retryAfter, retryAfter)),
          `Retry-After ${views.map((view) => shown(view.retryAfter)).join(" or ")} s`,
          `${retryAfter} s`
        )
      )
  }),
  define({
    id: "bucket.shortest-wait",
    law: "After Retry-After a request is admitted, and a second earlier it is not.",
    clauses: ["limits.retry-after-exact", "limits.retry-after-promise"],
    level: "design",
    profile: "limits",
    on: "meter",
    needs: ["tinyPlan", "clock"],
    requests: 40,
    mustSee: ["a wait of more than a second"],
    examples: [0, 1, 700, 3_001],
    cases: fc.integer({ min: 0, max: 5_000 }),
    runs: { port: 30, http: 3 },
    holds: (meter, lateMs, trial) =>
      Effect.gen(function* () {
        yield* Bursts.small(meter, 10)
        yield* meter.pass(DAY + MINUTE)
        for (let sent = 0; sent < meter.plan.perMinute; sent++) yield* meter.spend
        yield* meter.pass(lateMs)
        const refused = (yield* Bursts.untilRefused(meter, Bursts.mostInBurst(meter))).at(-1)
        if (refused === undefined || refused.admitted) return yield* undecided("no 429 came about")
        const early = (refused.retryAfter - 1) * SECOND - 200
        if (early > 0) {
          trial.saw("a wait of more than a second")
          yield* meter.pass(early)
          const tooEarly = yield* meter.spend
          yield* expect(
            !tooEarly.admitted,
            `a 429 more than a second before the end of ${refused.retryAfter} s`,
            "a request admitted"
          )
        }
        yield* meter.pass(refused.retryAfter * SECOND - Math.max(early, 0))
        const last = yield* meter.spend
        yield* expect(
          last.admitted,
          `a request admitted after the ${refused.retryAfter} s of Retry-After`,
          `429, Retry-After ${last.retryAfter} s`
        )
      })
  }),
  define({
    id: "bucket.clock-back",
    law: "When the clock steps back by a minute at most and comes forward again nothing is granted twice.",
    clauses: ["limits.clock-back"],
    level: "design",
    profile: "limits",
    on: "meter",
    needs: ["tinyPlan", "clock"],
    requests: 1,
    examples: [1, SECOND, MINUTE],
    cases: fc.integer({ min: 1, max: MINUTE }),
    runs: { port: 20, http: 0 },
    holds: (meter, ms) =>
      Effect.gen(function* () {
        yield* canStepBack(meter)
        yield* Bursts.refusal(meter)
        yield* meter.pass(-ms)
        const earlier = yield* meter.spend
        yield* expect(!earlier.admitted, `a 429 though the clock went back ${ms} ms`, "a request admitted")
        yield* meter.pass(ms)
        const later = yield* meter.spend
        yield* expect(!later.admitted, "a 429 when the clock is where it was", "a request admitted")
      })
  }),
  define({
    id: "bucket.clock-lead",
    law: "When the clock steps back nobody waits for more than a minute beyond what is due.",
    clauses: ["limits.clock-lead"],
    level: "design",
    profile: "limits",
    on: "meter",
    needs: ["tinyPlan", "clock"],
    requests: 1,
    examples: [MINUTE, 60 * MINUTE, 2 * DAY],
    cases: fc.integer({ min: MINUTE, max: 2 * DAY }),
    runs: { port: 20, http: 0 },
    holds: (meter, ms) =>
      Effect.gen(function* () {
        yield* canStepBack(meter)
        yield* Bursts.refusal(meter)
        yield* meter.pass(-ms)
        yield* meter.spend
        yield* meter.pass(MINUTE + Math.ceil(MINUTE / meter.plan.perMinute))
        const { admitted, retryAfter } = yield* meter.spend
        yield* expect(
          admitted,
          "a request admitted a minute and a token after the clock went back",
          `429, Retry-After ${retryAfter} s`
        )
      })
  }),
  define({
    id: "bucket.every-request-costs",
    law: "A request with a valid key costs one, whatever the answer.",
    clauses: ["limits.every-request-costs"],
    level: "design",
    profile: "limits",
    on: "http",
    needs: ["tinyPlan", "clock"],
    requests: 12,
    examples: failing,
    holds: (http, { fails, ...sent }) =>
      Effect.gen(function* () {
        const before = yield* begun(http)
        const exchange = yield* http.send({ ...sent, key: "tiny" })
        yield* expect(
          remainingOf(exchange) === before - 1,
          `${before - 1} remaining after a request with ${fails}`,
          `${remainingOf(exchange)}, with ${exchange.response.status}`
        )
      })
  }),
  define({
    id: "bucket.before-routing",
    law: "Over the limit the answer is 429, whatever else is wrong with the request.",
    clauses: ["limits.before-routing"],
    level: "design",
    profile: "limits",
    on: "http",
    needs: ["tinyPlan", "clock"],
    requests: 20,
    examples: [null],
    holds: (http) =>
      Effect.gen(function* () {
        yield* begun(http)
        yield* Bursts.useUpTiny(http)
        for (const { fails, ...sent } of failing) {
          const { response } = yield* http.send({ ...sent, key: "tiny" })
          yield* expect(response.status === 429, `429 to ${fails} over the limit`, String(response.status))
        }
      })
  }),
  define({
    id: "bucket.keys-apart",
    law: "The requests of one key leave the budget of another as it was.",
    clauses: ["limits.counted-per-key"],
    level: "design",
    profile: "limits",
    on: "http",
    needs: ["tinyPlan", "clock"],
    requests: 12,
    examples: [null],
    holds: (http) =>
      Effect.gen(function* () {
        const before = yield* begun(http)
        for (let sent = 0; sent < 10; sent++) yield* http.send({ path: "/pets?limit=1" })
        const exchange = yield* http.send(Bursts.tinyList)
        yield* expect(
          exchange.response.status === 200 && remainingOf(exchange) === before - 1,
          `${before - 1} remaining after ten requests of another key`,
          `${remainingOf(exchange)}, with ${exchange.response.status}`
        )
      })
  })
]
