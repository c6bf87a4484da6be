import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicies from "./BanPolicy.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Usage from "./Usage.ts"

const { DAY, MINUTE } = Arbitrary

/** Generates histories: states with their times. The first state is `undefined`: no request was sent yet. */
const histories = fc
  .tuple(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy)
  .map(([start, moves, { plan, ban }]) => {
    const policy = { plan, ban: ban ?? BanPolicies.standard }
    let state: RateLimit.State | undefined
    const seen: Array<{ readonly state: RateLimit.State | undefined; readonly now: number }> = [
      { state, now: start }
    ]
    for (const { now } of Arbitrary.play(start, moves, [policy])) {
      state = RateLimit.step(state, now, policy)[1]
      seen.push({ state, now })
    }
    return { policy, seen }
  })

describe("the usage of a caller", () => {
  it("predicts whether the next request is admitted, and its header values", () => {
    fc.assert(
      fc.property(histories, fc.nat(2 * DAY), ({ policy, seen }, later) => {
        for (const { now: at, state } of seen) {
          const now = at + later
          const usage = Usage.at(state, now, policy.plan, policy.ban)
          const [verdict] = RateLimit.step(state, now, policy)
          const hasRemaining = usage.minute.remaining > 0 && usage.day.remaining > 0
          // Only "admitted" is predicted: a request that a window denies may itself cause a ban.
          expect(verdict.outcome === "admitted").toBe(usage.bannedUntil === undefined && hasRemaining)
          if (verdict.outcome === "admitted") {
            expect(verdict.remaining).toBe(Math.min(usage.minute.remaining, usage.day.remaining) - 1)
          }
          if (usage.bannedUntil !== undefined) {
            expect(verdict.outcome).toBe("banned")
            expect(verdict.resetAt).toBe(Math.ceil(usage.bannedUntil / 1_000))
          }
        }
      })
    )
  })

  it("stays within the limits and contains no past time, even after the plan changes", () => {
    fc.assert(
      fc.property(histories, Arbitrary.plan, ({ policy, seen }, plan) => {
        for (const { now, state } of seen) {
          const { day, minute, strikes } = Usage.at(state, now, plan, policy.ban)
          expect(minute.limit).toBe(plan.perMinute)
          expect(minute.remaining).toBeGreaterThanOrEqual(0)
          expect(minute.remaining).toBeLessThanOrEqual(plan.perMinute)
          expect(minute.fullAt).toBeGreaterThanOrEqual(now)
          expect(minute.fullAt).toBeLessThanOrEqual(Math.max(now, state?.at ?? 0) + MINUTE)
          expect(day.limit).toBe(plan.perDay)
          expect(day.remaining).toBe(Math.max(plan.perDay - day.used, 0))
          expect(day.endsAt).toBeGreaterThan(now)
          expect(strikes).toBeGreaterThanOrEqual(0)
          expect(strikes).toBeLessThan(policy.ban.strikes)
        }
      })
    )
  })

  it("has full windows, no strikes and no ban for a new caller", () => {
    const now = 20_000 * DAY + 5
    expect(Usage.at(undefined, now, { perMinute: 3, perDay: 7 }, BanPolicies.standard)).toEqual({
      minute: { limit: 3, remaining: 3, fullAt: now },
      day: { limit: 7, used: 0, remaining: 7, endsAt: 20_001 * DAY },
      strikes: 0,
      bannedUntil: undefined
    })
  })
})

describe("an unbanned caller", () => {
  it("has no ban, strikes or debt, and its windows are unchanged", () => {
    fc.assert(
      fc.property(histories, ({ policy, seen }) => {
        for (const { now, state } of seen) {
          if (state === undefined) continue
          const lifted = RateLimit.unban(state)
          const before = Usage.at(state, now, policy.plan, policy.ban)
          const after = Usage.at(lifted, now, policy.plan, policy.ban)
          expect(after).toEqual({ ...before, strikes: 0, bannedUntil: undefined })
          expect(lifted).toEqual({
            ...RateLimit.initial(0, policy.plan),
            level: state.level,
            at: state.at,
            day: state.day,
            used: state.used
          })
        }
      })
    )
  })

  it("gets the shortest ban when it is banned again", () => {
    const policy = { plan: { perMinute: 1, perDay: 1_000 }, ban: Arbitrary.harsh }
    const bannedFor = (state: RateLimit.State | undefined, start: number) => {
      let next = state
      for (let now = start; ; now += 1_000) {
        const [verdict, after] = RateLimit.step(next, now, policy)
        next = after
        if (verdict.outcome === "banned") return { ms: after.bannedUntil - now, state: after, now }
      }
    }
    const first = bannedFor(undefined, 20_000 * DAY)
    const second = bannedFor(first.state, first.state.bannedUntil)
    expect(second.ms).toBeGreaterThan(first.ms)
    const third = bannedFor(RateLimit.unban(second.state), second.now)
    expect(third.ms).toBe(first.ms)
  })
})
