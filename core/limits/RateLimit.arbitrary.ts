/** Generates request histories for the laws of `RateLimit`: plans, ban policies and request times. */
import * as fc from "fast-check"
import type { BanPolicy } from "./BanPolicy.ts"
import * as BanPolicies from "./BanPolicy.ts"
import * as Plan from "./Plan.ts"
import * as RateLimit from "./RateLimit.ts"

export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/** A policy with early and long bans, so that short histories change every field of a state. */
export const harsh: BanPolicy = {
  strikes: 2,
  withinMs: 5 * MINUTE,
  strikeIntervalMs: SECOND,
  durationsMs: [MINUTE, 90 * MINUTE, 2 * DAY],
  cleanMs: 2 * DAY
}

const requests = fc.integer({ min: 1, max: Plan.maxRequests })

/** The plans of the contract, small plans that a few requests exhaust, and arbitrary plans. */
export const plan: fc.Arbitrary<Plan.Plan> = fc.oneof(
  fc.constantFrom(Plan.standard.Free, Plan.standard.Pro, Plan.standard.Business),
  {
    weight: 3,
    arbitrary: fc.record({
      perMinute: fc.integer({ min: 1, max: 7 }),
      perDay: fc.integer({ min: 1, max: 30 })
    })
  },
  fc.record({ perMinute: fc.integer({ min: 1, max: 7 }), perDay: requests }),
  fc.record({ perMinute: requests, perDay: requests })
)

const milliseconds = (max: number) => fc.integer({ min: 1, max })

/** The standard policy, and stricter ones that ban after a few requests. */
export const ban: fc.Arbitrary<BanPolicy> = fc.oneof(fc.constant(BanPolicies.standard), {
  weight: 3,
  arbitrary: fc.record({
    strikes: fc.integer({ min: 1, max: 4 }),
    withinMs: fc.oneof(milliseconds(10 * MINUTE), milliseconds(4 * DAY)),
    strikeIntervalMs: fc.oneof(fc.constant(0), milliseconds(2 * SECOND), milliseconds(2 * DAY)),
    durationsMs: fc
      .array(milliseconds(HOUR), { minLength: 1, maxLength: 4 })
      .map(([first = 1, ...rest]): BanPolicy["durationsMs"] => [first, ...rest]),
    cleanMs: fc.oneof(milliseconds(HOUR), milliseconds(DAY))
  })
})

/** Times from 2000 to 2052, many of them near a UTC midnight. */
export const moment: fc.Arbitrary<number> = fc
  .tuple(
    fc.integer({ min: 11_000, max: 30_000 }),
    fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: 0, max: DAY - 1 }))
  )
  .map(([day, ms]) => day * DAY + ms)

/**
 * When the next request is sent: `ms` milliseconds after the previous request, after the end of its Retry-After, or
 * after the next UTC midnight. A negative `ms` means before that time.
 */
export interface Pause {
  readonly from: "now" | "retry-after" | "midnight"
  readonly ms: number
}

const around = (ms: number) => fc.integer({ min: -1, max: 1 }).map((offset) => ms + offset)

const forwards: fc.Arbitrary<Pause> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ from: fc.constant("now"), ms: fc.integer({ min: 0, max: 2 * SECOND }) })
  },
  { weight: 3, arbitrary: fc.record({ from: fc.constant("retry-after"), ms: around(0) }) },
  { weight: 2, arbitrary: fc.record({ from: fc.constant("now"), ms: around(SECOND) }) },
  fc.record({ from: fc.constant("now"), ms: around(MINUTE) }),
  fc.record({ from: fc.constant("now"), ms: fc.integer({ min: 0, max: HOUR }) }),
  fc.record({ from: fc.constant("now"), ms: fc.integer({ min: 0, max: 50 * DAY }) }),
  fc.record({ from: fc.constant("midnight"), ms: around(0) })
)

const backwards: fc.Arbitrary<Pause> = fc.record({
  from: fc.constant("now"),
  ms: fc.oneof(
    around(-2),
    around(-MINUTE),
    fc.integer({ min: -HOUR, max: -1 }),
    fc.integer({ min: -2 * DAY, max: -1 })
  )
})

export interface Move {
  readonly pause: Pause
  /** Number of requests sent at the same time after the pause. */
  readonly burst: number
}

const move = (pause: fc.Arbitrary<Pause>): fc.Arbitrary<Move> =>
  fc.record({
    pause,
    burst: fc.oneof(
      { weight: 6, arbitrary: fc.constant(1) },
      { weight: 2, arbitrary: fc.integer({ min: 2, max: 8 }) },
      fc.integer({ min: 50, max: 70 })
    )
  })

/** Pauses and requests on a clock that never steps back. */
export const forwardMoves: fc.Arbitrary<ReadonlyArray<Move>> = fc.array(move(forwards), {
  maxLength: 40,
  size: "max"
})

/** Pauses and requests on a clock that also steps back. */
export const moves: fc.Arbitrary<ReadonlyArray<Move>> = fc.array(
  move(fc.oneof({ weight: 8, arbitrary: forwards }, backwards)),
  { maxLength: 40, size: "max" }
)

/** Returns the time of the next request; the previous one was sent at `now` and got `verdict`. */
export const timeAfter = (pause: Pause, now: number, verdict: RateLimit.Verdict | undefined): number => {
  switch (pause.from) {
    case "now":
      return now + pause.ms
    case "retry-after":
      return now + Math.max((verdict?.retryAfter ?? 0) * SECOND + pause.ms, 0)
    case "midnight":
      return Math.max((Math.floor(now / DAY) + 1) * DAY + pause.ms, now)
  }
}

/** The policies of a history; the moves use them in rotation. */
export type Policies = readonly [RateLimit.Policy, ...ReadonlyArray<RateLimit.Policy>]

/** One request in a history, with the state before and after it. */
export interface Sent {
  readonly now: number
  readonly policy: RateLimit.Policy
  readonly cost: number
  readonly before: RateLimit.State | undefined
  readonly verdict: RateLimit.Verdict
  readonly after: RateLimit.State
}

/** Generates the costs of a history; `costAt` limits each to the plan, because no plan can admit a greater one. */
export const costs: fc.Arbitrary<ReadonlyArray<number>> = fc.oneof(
  fc.constant([1]),
  fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }) },
      // The whole limit.
      fc.constant(Number.MAX_SAFE_INTEGER)
    ),
    { minLength: 1, maxLength: 5 }
  )
)

/** Returns the cost of the request with this index; the requests use the costs in rotation. */
export const costAt = (
  costs: ReadonlyArray<number>,
  index: number,
  { perDay, perMinute }: Plan.Plan
): number => Math.min(costs[index % costs.length] ?? 1, perMinute, perDay)

/** Runs all requests of `moves`, starting at `start`; each costs 1 by default. */
export const play = (
  start: number,
  moves: ReadonlyArray<Move>,
  policies: Policies,
  costs: ReadonlyArray<number> = [1]
): ReadonlyArray<Sent> => {
  const sent: Array<Sent> = []
  let now = start
  for (const [index, { burst, pause }] of moves.entries()) {
    const policy = policies[index % policies.length] ?? policies[0]
    now = timeAfter(pause, now, sent.at(-1)?.verdict)
    for (let count = 0; count < burst; count++) {
      const before = sent.at(-1)?.after
      const cost = costAt(costs, sent.length, policy.plan)
      const [verdict, after] = RateLimit.step(before, now, policy, cost)
      sent.push({ now, policy, cost, before, verdict, after })
    }
  }
  return sent
}

/** A policy with or without bans. */
export const policy: fc.Arbitrary<RateLimit.Policy> = fc.record({
  plan,
  ban: fc.option(ban, { nil: undefined })
})

/** One policy, or several with different plans. */
export const policies: fc.Arbitrary<Policies> = fc.oneof(
  policy.map((only): Policies => [only]),
  fc
    .tuple(plan, fc.array(plan, { minLength: 1, maxLength: 3 }), fc.option(ban, { nil: undefined }))
    .map(([first, rest, ban]): Policies => [{ plan: first, ban }, ...rest.map((plan) => ({ plan, ban }))])
)
