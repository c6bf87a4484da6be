import { isDeepStrictEqual } from "node:util"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicy from "./BanPolicy.ts"
import * as Plan from "./Plan.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"
import * as TokenBucket from "./TokenBucket.ts"

const { DAY, MINUTE, SECOND } = Arbitrary

/** Returns the verdicts on requests at `times`, each under the policy for its index. */
const verdictsAt = (
  state: RateLimit.State | undefined,
  times: ReadonlyArray<number>,
  policyAt: (index: number) => RateLimit.Policy
): ReadonlyArray<RateLimit.Verdict> => {
  let current = state
  return times.map((now, index) => {
    const [verdict, after] = RateLimit.step(current, now, policyAt(index))
    current = after
    return verdict
  })
}

describe("RateLimit.step", () => {
  it.each([
    { perMinute: 60, intervalMs: 100, tokenMs: 1_000 },
    { perMinute: 1_000, intervalMs: 6, tokenMs: 60 },
    { perMinute: 300, intervalMs: 8, tokenMs: 200 },
    { perMinute: 1, intervalMs: 1_000, tokenMs: 60_000 }
  ])(
    "admits a request when a token is refilled, not before: $perMinute per minute, polled every $intervalMs ms",
    ({ intervalMs, perMinute, tokenMs }) => {
      const policy = { plan: { perMinute, perDay: Plan.maxRequests }, ban: undefined }
      const start = 20_000 * DAY + 12_345
      let state: RateLimit.State | undefined
      for (let count = 0; count < perMinute; count++) {
        const [verdict, after] = RateLimit.step(state, start, policy)
        expect(verdict.outcome).toBe("admitted")
        state = after
      }
      let wrong = 0
      for (let elapsed = intervalMs; elapsed <= 30_000 * intervalMs; elapsed += intervalMs) {
        const [verdict, after] = RateLimit.step(state, start + elapsed, policy)
        if ((verdict.outcome === "admitted") !== (elapsed % tokenMs === 0)) wrong++
        state = after
      }
      expect(wrong).toBe(0)
    }
  )

  it("never admits more than the bucket's capacity plus the refilled tokens, on clocks that differ by up to a minute", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        fc.integer({ min: 1, max: 100 }),
        fc.array(
          fc.record({
            gap: fc.integer({ min: 0, max: MINUTE }),
            behind: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: MINUTE }))
          }),
          { minLength: 1, maxLength: 100, size: "max" }
        ),
        (start, perMinute, requests) => {
          const policy = { plan: { perMinute, perDay: Plan.maxRequests }, ban: undefined }
          let state: RateLimit.State | undefined
          let time = start
          let latest = start
          let first = start
          let admitted = 0
          for (const { behind, gap } of requests) {
            time += gap
            const now = time - behind
            if (state === undefined) {
              first = now
              latest = now
            }
            latest = Math.max(latest, now)
            for (let count = 0; count < 5; count++) {
              const [verdict, after] = RateLimit.step(state, now, policy)
              if (verdict.outcome === "admitted") admitted++
              state = after
            }
            expect(admitted).toBeLessThanOrEqual(
              perMinute + Math.floor(((latest - first) * perMinute) / MINUTE)
            )
          }
        }
      )
    )
  })
})

describe("Verdict.retryAfter", () => {
  it("is sufficient: the same request after that time is admitted if no request was sent in between", () => {
    let retries = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.policies,
        Arbitrary.costs,
        fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 * DAY })),
        (start, moves, policies, costs, delayMs) => {
          for (const { after, cost, now, policy, verdict } of Arbitrary.play(start, moves, policies, costs)) {
            // After a clock step of weeks, Retry-After is capped at its maximum, so the retry may come too early.
            if (verdict.outcome === "admitted" || verdict.retryAfter === RateLimit.maxRetryAfter) continue
            const [next] = RateLimit.step(after, now + verdict.retryAfter * SECOND + delayMs, policy, cost)
            expect(next.outcome).toBe("admitted")
            retries++
          }
        }
      ),
      { numRuns: 500 }
    )
    expect(retries).toBeGreaterThan(1000)
  })

  it("is not longer than necessary if no other slot is open: a request one second earlier is denied", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy, (start, moves, policy) => {
        for (const { after, now, verdict } of Arbitrary.play(start, moves, [policy])) {
          if (after.debt > 1 && verdict.outcome === "limited") continue
          if (verdict.retryAfter < 2 || verdict.retryAfter === RateLimit.maxRetryAfter) continue
          const [earlyVerdict] = RateLimit.step(after, now + (verdict.retryAfter - 1) * SECOND, policy)
          expect(earlyVerdict.outcome).not.toBe("admitted")
        }
      }),
      { numRuns: 300 }
    )
  })

  it("ends no later than X-RateLimit-Reset for a limited request: a request at that time is admitted", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy, (start, moves, policy) => {
        for (const { after, now, verdict } of Arbitrary.play(start, moves, [policy])) {
          if (verdict.outcome !== "limited" || verdict.retryAfter === RateLimit.maxRetryAfter) continue
          expect(verdict.resetAt * SECOND).toBeGreaterThan(now)
          expect(RateLimit.step(after, verdict.resetAt * SECOND, policy)[0].outcome).toBe("admitted")
        }
      }),
      { numRuns: 300 }
    )
  })
})

describe("RateLimit.step, for clients that wait before they retry", () => {
  /** The longest time that undici's RetryAgent waits. */
  const RETRY_AGENT_WAIT_MS = 30_000

  /** Sends requests in sequence, and waits for `waitFor(Retry-After)` after each denial. */
  const simulate = (
    start: number,
    { ban, plans }: { ban: BanPolicy.BanPolicy; plans: ReadonlyArray<Plan.Plan> },
    latencies: ReadonlyArray<{ readonly network: number; readonly thinking: number }>,
    waitFor: (retryAfterMs: number) => number,
    costs: ReadonlyArray<number> = [1]
  ): ReadonlyArray<Arbitrary.Sent> => {
    const sent: Array<Arbitrary.Sent> = []
    let now = start
    for (const [index, { network, thinking }] of latencies.entries()) {
      const before = sent.at(-1)?.after
      const plan = plans[index % plans.length] ?? Plan.standard.Free
      const policy = { plan, ban }
      const cost = Arbitrary.costAt(costs, index, plan)
      const [verdict, after] = RateLimit.step(before, now, policy, cost)
      sent.push({ now, policy, cost, before, verdict, after })
      now += network + (verdict.outcome === "admitted" ? thinking : waitFor(verdict.retryAfter * SECOND))
    }
    return sent
  }

  const latencies = fc.array(
    fc.record({
      network: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 * SECOND })),
      thinking: fc.oneof(
        { weight: 5, arbitrary: fc.integer({ min: 0, max: 100 }) },
        fc.constant(0),
        fc.integer({ min: 0, max: MINUTE })
      )
    }),
    { minLength: 200, maxLength: 300, size: "max" }
  )

  const smallPlan = fc.record({
    perMinute: fc.integer({ min: 1, max: 30 }),
    perDay: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Plan.maxRequests))
  })

  it("gives no strike to a client that waits for Retry-After, under any ban policy and a constant plan", () => {
    let denials = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.ban,
        smallPlan,
        latencies,
        Arbitrary.costs,
        (start, ban, plan, latencies, costs) => {
          const sent = simulate(
            start,
            { ban, plans: [plan] },
            latencies,
            (retryAfterMs) => retryAfterMs,
            costs
          )
          denials += sent.filter(({ verdict }) => verdict.outcome === "limited").length
          const isPunished = ({ after, verdict }: Arbitrary.Sent) =>
            verdict.outcome === "banned" || after.strikes > 0 || after.bannedUntil > 0
          expect(sent.filter(isPunished)).toEqual([])
        }
      ),
      { numRuns: 200 }
    )
    expect(denials).toBeGreaterThan(1000)
  })

  it("never bans a client that waits for Retry-After under the standard policy, even when its plan changes", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        fc.array(smallPlan, { minLength: 2, maxLength: 3 }),
        latencies,
        (start, plans, latencies) => {
          const sent = simulate(
            start,
            { ban: BanPolicy.standard, plans },
            latencies,
            (retryAfterMs) => retryAfterMs
          )
          expect(sent.filter(({ verdict }) => verdict.outcome === "banned")).toEqual([])
        }
      ),
      { numRuns: 100 }
    )
  })

  it("never denies a client that waits for Retry-After twice in a row under a constant plan", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.ban, smallPlan, latencies, (start, ban, plan, latencies) => {
        const sent = simulate(start, { ban, plans: [plan] }, latencies, (retryAfterMs) => retryAfterMs)
        for (const [index, { verdict }] of sent.entries()) {
          if (verdict.outcome === "limited") expect(sent[index + 1]?.verdict.outcome).not.toBe("limited")
        }
      }),
      { numRuns: 100 }
    )
  })

  it("gives few strikes to a client that waits at most 30 s, and never bans it under the standard policy", () => {
    let strikes = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        fc.array(smallPlan, { minLength: 1, maxLength: 3 }),
        latencies,
        (start, plans, latencies) => {
          const sent = simulate(start, { ban: BanPolicy.standard, plans }, latencies, (retryAfterMs) =>
            Math.min(retryAfterMs, RETRY_AGENT_WAIT_MS)
          )
          for (const { after, verdict } of sent) {
            strikes = Math.max(strikes, after.strikes)
            expect([verdict.outcome === "banned", after.bannedUntil]).toEqual([false, 0])
          }
        }
      ),
      { numRuns: 200 }
    )
    expect(strikes).toBeGreaterThanOrEqual(5)
    // One strike per half minute of the five minutes, and a few more if a request was admitted in between.
    expect(strikes).toBeLessThanOrEqual((BanPolicy.standard.strikes * 3) / 4)
  })

  it("does not ban a client that waits at most 30 s while its day is exhausted until midnight", () => {
    const sent = simulate(
      20_000 * DAY,
      { ban: BanPolicy.standard, plans: [{ perMinute: 60, perDay: 1 }] },
      Array.from({ length: (2 * DAY) / RETRY_AGENT_WAIT_MS }, () => ({ network: 0, thinking: 0 })),
      (retryAfterMs) => Math.min(retryAfterMs, RETRY_AGENT_WAIT_MS)
    )
    expect(new Set(sent.map(({ verdict }) => verdict.outcome))).toEqual(new Set(["admitted", "limited"]))
  })
})

describe("a denied request", () => {
  it("affects only Retry-After of later verdicts if no ban policy applies", () => {
    let insertedCount = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.plan,
        Arbitrary.forwardMoves,
        fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 10 }),
        (start, plan, moves, probes) => {
          const policy = { plan, ban: undefined }
          const sent = Arbitrary.play(start, moves, [policy])
          let state: RateLimit.State | undefined
          for (const [index, { now, verdict }] of sent.entries()) {
            const previousTime = sent[index - 1]?.now ?? now
            const count = probes[index % probes.length] ?? 0
            for (let probe = 1; probe <= count; probe++) {
              const probeTime = previousTime + Math.floor(((now - previousTime) * probe) / count)
              const [verdict, after] = RateLimit.step(state, probeTime, policy)
              if (verdict.outcome !== "admitted") {
                state = after
                insertedCount++
              }
            }
            const [actual, after] = RateLimit.step(state, now, policy)
            expect({ ...actual, retryAfter: 0 }).toEqual({ ...verdict, retryAfter: 0 })
            expect(actual.retryAfter).toBeGreaterThanOrEqual(verdict.retryAfter)
            state = after
          }
        }
      ),
      { numRuns: 300 }
    )
    expect(insertedCount).toBeGreaterThan(1000)
  })

  it("consumes nothing from the minute or the day, whichever window denies it", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy, (start, moves, policy) => {
        for (const { after, before, now, verdict } of Arbitrary.play(start, moves, [policy])) {
          if (verdict.outcome !== "limited" || before === undefined) continue
          if (before.at > now + MINUTE) continue // the clock was set back
          expect(after.level).toBe(TokenBucket.levelAt(before, now, policy.plan.perMinute))
          expect(after.used).toBe(after.day === before.day ? before.used : 0)
        }
      }),
      { numRuns: 200 }
    )
  })

  it("does not replace the state object during a ban", () => {
    let banned = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.plan,
        Arbitrary.ban,
        (start, moves, plan, ban) => {
          for (const { after, before, now } of Arbitrary.play(start, moves, [{ plan, ban }])) {
            if (before === undefined || now >= before.bannedUntil || before.at > now + MINUTE) continue
            expect(after).toBe(before)
            banned++
          }
        }
      ),
      { numRuns: 300 }
    )
    expect(banned).toBeGreaterThan(500)
  })
})

describe("after every request in any history", () => {
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

  const claims: Readonly<Record<string, (sent: Arbitrary.Sent) => boolean>> = {
    "the state consists of ten non-negative safe integers": ({ after }) =>
      Object.keys(after).length === 10 && Object.values(after).every(isCount),
    "the stored time and day are at most a minute ahead of the clock": ({ after, now }) =>
      after.at <= now + MINUTE && after.day <= Math.floor((now + MINUTE) / DAY),
    "the stored time and day decrease only to stay within a minute of the clock": ({ after, before, now }) =>
      before === undefined || before.at > now + MINUTE || (after.at >= before.at && after.day >= before.day),
    "Remaining is a count: after an admission, without the cost; else less than the cost, and 0 in a ban": ({
      cost,
      verdict: { limit, outcome, remaining }
    }) =>
      isCount(remaining) && remaining <= { admitted: limit - cost, limited: cost - 1, banned: 0 }[outcome],
    "Limit and Remaining are those of one window: after an admission, of the one with fewer requests left": ({
      verdict: { day, limit, minute, outcome, remaining }
    }) =>
      [minute, day].some((window) => window.limit === limit && window.remaining === remaining) &&
      (outcome !== "admitted" || remaining === Math.min(minute.remaining, day.remaining)),
    "each window has the limit of the plan, and more requests later unless all are left": ({
      policy: { plan },
      verdict: { day, minute }
    }) =>
      minute.limit === plan.perMinute &&
      day.limit === plan.perDay &&
      [minute, day].every(
        ({ limit, moreIn, remaining }) =>
          isCount(remaining) && remaining <= limit && (moreIn === 0) === (remaining === limit)
      ),
    "Retry-After covers the wait for an exhausted window": ({
      verdict: { day, minute, outcome, retryAfter }
    }) =>
      outcome === "admitted" ||
      [minute, day].every(({ moreIn, remaining }) => remaining > 0 || moreIn <= retryAfter),
    "Reset is an integer and not in the past": ({ now, verdict }) =>
      isCount(verdict.resetAt) && verdict.resetAt >= Math.floor(now / SECOND),
    "Reset is not before the end of Retry-After for a cost of 1, unless the day is exhausted": ({
      after,
      cost,
      now,
      policy,
      verdict
    }) =>
      cost > 1 ||
      verdict.outcome !== "limited" ||
      after.used >= policy.plan.perDay ||
      verdict.resetAt >= Math.floor(now / SECOND) + verdict.retryAfter,
    "Retry-After is 0 for admitted requests, and otherwise a positive integer that fits a 32-bit timer": ({
      verdict: { outcome, retryAfter }
    }) =>
      outcome === "admitted"
        ? retryAfter === 0
        : isCount(retryAfter) && retryAfter >= 1 && retryAfter * SECOND < 2 ** 31,
    "no caller is banned without a ban policy": ({ policy, verdict }) =>
      policy.ban !== undefined || verdict.outcome !== "banned",
    "the verdict follows from the state and from whether the request was admitted": (sent) => {
      const { after, cost, now, policy, verdict } = sent
      return isDeepStrictEqual(
        RateLimit.verdictOf(verdict.outcome === "admitted", after, now, policy, cost),
        verdict
      )
    },
    "a step does not mutate the state": ({ before, cost, now, policy }) => {
      if (before !== undefined) RateLimit.step(Object.freeze({ ...before }), now, policy, cost)
      return true
    }
  }

  it("the state and the verdict satisfy all claims", () => {
    const outcomes = new Map<RateLimit.Outcome, number>()
    let stepsBack = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.policies,
        Arbitrary.costs,
        (start, moves, policies, costs) => {
          for (const sent of Arbitrary.play(start, moves, policies, costs)) {
            for (const [claim, holds] of Object.entries(claims)) {
              if (!holds(sent)) expect.fail(`${claim}: ${JSON.stringify(sent)}`)
            }
            const { before, now, verdict } = sent
            outcomes.set(verdict.outcome, (outcomes.get(verdict.outcome) ?? 0) + 1)
            if (before !== undefined && now < before.at) stepsBack++
          }
        }
      ),
      { numRuns: 300 }
    )
    expect(Math.min(stepsBack, ...outcomes.values())).toBeGreaterThan(1000)
    expect(outcomes.size).toBe(3)
  })
})

describe("RateLimit.spentAt", () => {
  it("returns a time from which a state and an absent state give the same verdicts, under any plan", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        fc.array(Arbitrary.plan, { minLength: 1, maxLength: 3 }),
        Arbitrary.ban,
        fc.array(Arbitrary.plan, { minLength: 1, maxLength: 3 }),
        Arbitrary.moves,
        (start, moves, plans, ban, laterPlans, laterMoves) => {
          const [first = { plan: Plan.standard.Free, ban }, ...rest] = plans.map((plan) => ({ plan, ban }))
          const state = Arbitrary.play(start, moves, [first, ...rest]).at(-1)?.after
          if (state === undefined) return
          const spentAt = RateLimit.spentAt(state, ban)
          let now = spentAt
          const times = laterMoves.flatMap(({ burst, pause }) => {
            now = Math.max(Arbitrary.timeAfter(pause, now, undefined), spentAt)
            return Array.from({ length: burst }, () => now)
          })
          const policyAt = (index: number) => ({
            plan: laterPlans[index % laterPlans.length] ?? Plan.standard.Free,
            ban
          })
          const allTimes = [spentAt, ...times]
          expect(verdictsAt(state, allTimes, policyAt)).toEqual(verdictsAt(undefined, allTimes, policyAt))
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("returns the later of midnight and a minute after the last request, for a caller without a strike", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.forwardMoves, Arbitrary.plan, (start, moves, plan) => {
        for (const { after, now } of Arbitrary.play(start, moves, [{ plan, ban: BanPolicy.standard }])) {
          if (after.strikeAt > 0) return
          const midnight = (Math.floor(now / DAY) + 1) * DAY
          expect(RateLimit.spentAt(after, BanPolicy.standard)).toBe(Math.max(midnight, now + MINUTE))
        }
      })
    )
  })

  it("returns a bounded time after every ban: it grows by at most one clean period per ban level", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.plan,
        Arbitrary.ban,
        (start, moves, plan, ban) => {
          const state = Arbitrary.play(start, moves, [{ plan, ban }]).at(-1)?.after
          if (state === undefined) return
          const sinceLast = RateLimit.spentAt(state, ban) - Math.max(state.at, state.bannedUntil)
          expect(sinceLast).toBeLessThanOrEqual(
            ban.durationsMs.length * ban.cleanMs + ban.withinMs + ban.strikeIntervalMs + 3 * DAY
          )
        }
      )
    )
  })
})

describe("Window.moreIn", () => {
  it("is the time of the next request of the minute, to the second", () => {
    let exhausted = 0
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.plan, (start, moves, plan) => {
        const policy = { plan, ban: undefined }
        const lastRequest = Arbitrary.play(start, moves, [policy]).at(-1)
        if (lastRequest === undefined || lastRequest.after.at > lastRequest.now) return
        const { after, now, verdict } = lastRequest
        const { minute } = verdict
        const remainingAt = (moment: number): number => {
          const verdictThen = RateLimit.step(after, moment, policy)[0]
          return verdictThen.outcome === "admitted"
            ? verdictThen.minute.remaining + 1
            : verdictThen.minute.remaining
        }
        if (minute.moreIn === 0) return
        const moreAt = now + minute.moreIn * SECOND
        expect(remainingAt(moreAt)).toBeGreaterThan(minute.remaining)
        expect(remainingAt(Math.max(moreAt - SECOND, now))).toBe(minute.remaining)
        if (minute.remaining === 0) exhausted++
      }),
      { numRuns: 500 }
    )
    expect(exhausted).toBeGreaterThan(20)
  })
})

describe("RateLimit.verdictOf", () => {
  const integer = (max: number) => fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max }))

  it("returns the verdict of the step even for states that no history produces", () => {
    const outcomes = new Map<string, number>()
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.policy,
        fc.record({
          level: fc.oneof(integer(2 * MINUTE), integer(Plan.maxRequests * MINUTE)),
          debt: integer(3 * Plan.maxRequests),
          strikes: integer(20),
          banLevel: integer(4),
          used: fc.oneof(integer(40), integer(Plan.maxRequests))
        }),
        fc.record({
          at: fc.integer({ min: -2 * MINUTE, max: 2 * MINUTE }),
          strikesFrom: fc.integer({ min: -DAY, max: DAY }),
          strikeAt: fc.integer({ min: -2 * MINUTE, max: 2 * MINUTE }),
          bannedUntil: fc.oneof(
            fc.integer({ min: -MINUTE, max: 2 }),
            fc.integer({ min: -DAY, max: 60 * DAY })
          )
        }),
        fc.integer({ min: -1, max: 1 }),
        (now, policy, counts, offsets, days) => {
          const state: RateLimit.State = {
            ...counts,
            at: now + offsets.at,
            day: Math.floor(now / DAY) + days,
            strikesFrom: now + offsets.strikesFrom,
            strikeAt: now + offsets.strikeAt,
            bannedUntil: now + offsets.bannedUntil
          }
          const [verdict, after] = RateLimit.step(state, now, policy)
          expect(RateLimit.verdictOf(verdict.outcome === "admitted", after, now, policy)).toEqual(verdict)
          outcomes.set(verdict.outcome, (outcomes.get(verdict.outcome) ?? 0) + 1)
        }
      ),
      { numRuns: 3000 }
    )
    expect(Math.min(...outcomes.values())).toBeGreaterThan(100)
    expect(outcomes.size).toBe(3)
  })
})

describe("Verdict.beganBan", () => {
  it("is present if and only if a request is banned in the millisecond in which the ban began", () => {
    let bansBegun = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.ban,
        fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 * SECOND })), {
          minLength: 100,
          maxLength: 200
        }),
        (start, ban, gaps) => {
          const policy = { plan: { perMinute: 1, perDay: Plan.maxRequests }, ban }
          let state: RateLimit.State | undefined
          let now = start
          let bannedAt: number | undefined
          for (const gap of gaps) {
            now += gap
            const [verdict, after] = RateLimit.step(state, now, policy)
            if (after.bannedUntil > (state?.bannedUntil ?? 0)) {
              bannedAt = now
              bansBegun++
            }
            expect(verdict.beganBan === true).toBe(verdict.outcome === "banned" && bannedAt === now)
            state = after
          }
        }
      ),
      { numRuns: 100 }
    )
    expect(bansBegun).toBeGreaterThan(20)
  })
})
