/** Checks that a key never exceeds its limits when its plan changes, and that the header values stay valid. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicy from "./BanPolicy.ts"
import * as DailyQuota from "./DailyQuota.ts"
import type { Plan } from "./Plan.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"

const { DAY, MINUTE } = Arbitrary

/** Small plans, so that short histories exhaust them. */
const plan: fc.Arbitrary<Plan> = fc.record({
  perMinute: fc.integer({ min: 1, max: 12 }),
  perDay: fc.integer({ min: 1, max: 40 })
})

const pause = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  fc.nat(2_000),
  fc.nat(2 * MINUTE),
  fc.nat(DAY)
)

/** Generates a start time, plans and requests. A request changes the plan if `change` is the index of a plan. */
const requests = fc.tuple(
  Arbitrary.moment,
  fc.array(fc.record({ pause, plan }), { minLength: 1, maxLength: 5 }),
  fc.array(fc.record({ pause, change: fc.nat(9) }), { maxLength: 80, size: "max" })
)

interface Decision {
  readonly now: number
  readonly plan: Plan
  readonly verdict: RateLimit.Verdict
}

const play = ([start, plans, steps]: typeof requests extends fc.Arbitrary<infer A> ? A : never) => {
  let now = start
  let current = plans[0]?.plan ?? { perMinute: 1, perDay: 1 }
  let state: RateLimit.State | undefined
  const decisions: Array<Decision> = []
  for (const { change, pause } of steps) {
    now += pause
    // An index without a plan keeps the current one.
    current = plans[change]?.plan ?? current
    const [verdict, after] = RateLimit.step(state, now, { plan: current, ban: BanPolicy.standard })
    state = after
    decisions.push({ now, plan: current, verdict })
  }
  return decisions
}

const greatestLimit = (plans: ReadonlyArray<Plan>, window: keyof Plan): number =>
  Math.max(...plans.map((plan) => plan[window]))

describe("RateLimit.step with a plan that changes at any time", () => {
  it("admits at most as many requests in any interval as the largest plan in that interval allows", () => {
    fc.assert(
      fc.property(requests, (history) => {
        const decisions = play(history)
        for (const [from, first] of decisions.entries()) {
          let admitted = 0
          const plans: Array<Plan> = []
          for (const { now, plan, verdict } of decisions.slice(from)) {
            plans.push(plan)
            if (verdict.outcome === "admitted") admitted++
            const perMinute = greatestLimit(plans, "perMinute")
            const refilled = Math.floor((perMinute * (now - first.now)) / MINUTE)
            expect(admitted).toBeLessThanOrEqual(perMinute + refilled)
          }
        }
        const days = new Set(decisions.map(({ now }) => DailyQuota.dayOf(now)))
        for (const day of days) {
          const decisionsOfDay = decisions.filter(({ now }) => DailyQuota.dayOf(now) === day)
          const admitted = decisionsOfDay.filter(({ verdict }) => verdict.outcome === "admitted").length
          expect(admitted).toBeLessThanOrEqual(
            greatestLimit(
              decisionsOfDay.map(({ plan }) => plan),
              "perDay"
            )
          )
        }
      })
    )
  })

  it("does not fill the bucket when the limit is raised, and applies a lowered limit immediately", () => {
    const now = 20_000 * DAY
    const policy = (perMinute: number, perDay: number) => ({ plan: { perMinute, perDay }, ban: undefined })
    const [, used] = RateLimit.step(undefined, now, policy(2, 100))
    const [raised] = RateLimit.step(used, now, policy(10, 100))
    expect(raised).toMatchObject({ outcome: "admitted", limit: 10, remaining: 0 })
    const [, fresh] = RateLimit.step(undefined, now, policy(10, 100))
    const [lowered] = RateLimit.step(fresh, now, policy(3, 100))
    expect(lowered).toMatchObject({ outcome: "admitted", limit: 3, remaining: 2 })
    const [exhausted] = RateLimit.step({ ...fresh, used: 50 }, now, policy(10, 20))
    expect(exhausted).toMatchObject({ outcome: "limited", limit: 20, remaining: 0 })
  })
})
