import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicies from "./BanPolicy.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Usage from "./Usage.ts"

const { DAY, MINUTE } = Arbitrary

interface Moment {
  readonly state: RateLimit.State | undefined
  readonly now: number
}

/** Generates histories: states with their times. The first state is `undefined`: no request was sent yet. */
const histories = fc
  .tuple(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy)
  .map(([start, moves, { plan, ban }]) => {
    const policy = { plan, ban: ban ?? BanPolicies.standard }
    const sent = Arbitrary.play(start, moves, [policy])
    const moments: ReadonlyArray<Moment> = [
      { state: undefined, now: start },
      ...sent.map(({ after, now }) => ({ state: after, now }))
    ]
    return { policy, moments }
  })

describe("Usage.at", () => {
  it("predicts whether the next request is admitted, and its header values", () => {
    fc.assert(
      fc.property(histories, fc.nat(2 * DAY), ({ policy, moments }, later) => {
        for (const { now: at, state } of moments) {
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

  it("returns values within the limits and no past time, even after the plan changes", () => {
    fc.assert(
      fc.property(histories, Arbitrary.plan, ({ policy, moments }, plan) => {
        const isValid = ({ now, state }: Moment): boolean => {
          const { day, minute, strikes } = Usage.at(state, now, plan, policy.ban)
          return (
            minute.limit === plan.perMinute &&
            minute.remaining >= 0 &&
            minute.remaining <= plan.perMinute &&
            minute.fullAt >= now &&
            minute.fullAt <= Math.max(now, state?.at ?? 0) + MINUTE &&
            day.limit === plan.perDay &&
            day.remaining === Math.max(plan.perDay - day.used, 0) &&
            day.endsAt > now &&
            strikes >= 0 &&
            strikes < policy.ban.strikes
          )
        }
        expect(moments.filter((moment) => !isValid(moment))).toEqual([])
      })
    )
  })

  it("returns full windows, no strikes and no ban for a new caller", () => {
    const now = 20_000 * DAY + 5
    expect(Usage.at(undefined, now, { perMinute: 3, perDay: 7 }, BanPolicies.standard)).toEqual({
      minute: { limit: 3, remaining: 3, fullAt: now },
      day: { limit: 7, used: 0, remaining: 7, endsAt: 20_001 * DAY },
      strikes: 0,
      bannedUntil: undefined
    })
  })
})

describe("RateLimit.unban", () => {
  it("clears the ban, the strikes and the debt, and leaves the windows unchanged", () => {
    fc.assert(
      fc.property(histories, ({ policy, moments }) => {
        for (const { now, state } of moments) {
          if (state === undefined) continue
          const unbanned = RateLimit.unban(state)
          const before = Usage.at(state, now, policy.plan, policy.ban)
          const after = Usage.at(unbanned, now, policy.plan, policy.ban)
          expect(after).toEqual({ ...before, strikes: 0, bannedUntil: undefined })
          expect(unbanned).toEqual({
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

  it("resets the ban level: the next ban is the shortest one", () => {
    const policy = { plan: { perMinute: 1, perDay: 1_000 }, ban: Arbitrary.harsh }
    const sendUntilBanned = (state: RateLimit.State | undefined, start: number) => {
      let current = state
      for (let now = start; ; now += 1_000) {
        const [verdict, after] = RateLimit.step(current, now, policy)
        current = after
        if (verdict.outcome === "banned") return { ms: after.bannedUntil - now, state: after, now }
      }
    }
    const first = sendUntilBanned(undefined, 20_000 * DAY)
    const second = sendUntilBanned(first.state, first.state.bannedUntil)
    expect(second.ms).toBeGreaterThan(first.ms)
    const third = sendUntilBanned(RateLimit.unban(second.state), second.now)
    expect(third.ms).toBe(first.ms)
  })
})

describe("RateLimit.withUsageOf", () => {
  it("gives the larger usage of both windows, and leaves ban, strikes and slots unchanged", () => {
    fc.assert(
      fc.property(histories, histories, fc.nat(2 * DAY), ({ moments, policy }, other, later) => {
        const { plan } = policy
        const [own, used] = [moments.at(-1), other.moments.at(-1)]
        const now = Math.max(own?.now ?? 0, used?.now ?? 0) + later
        const before = own?.state ?? RateLimit.initial(now, plan)
        if (used?.state === undefined) return
        const usageOf = (state: RateLimit.State, at = now) => Usage.at(state, at, plan, policy.ban)
        const [a, b] = [usageOf(before), usageOf(used.state)]
        const after = RateLimit.withUsageOf(before, used.state, now, plan)
        const { day, minute, ...rest } = usageOf(after)
        expect(minute.remaining).toBe(Math.min(a.minute.remaining, b.minute.remaining))
        // A time of a state may lead the clock; then the bucket is full a little later.
        const lead = Math.max(before.at - now, used.state.at - now, 0)
        const unfull = [a, b].filter((usage) => usage.minute.remaining < plan.perMinute)
        const fullAt = Math.max(...unfull.map((usage) => usage.minute.fullAt), now)
        expect(minute.fullAt).toBeGreaterThanOrEqual(fullAt)
        expect(minute.fullAt).toBeLessThanOrEqual(fullAt + lead)
        expect(day.endsAt).toBe(Math.max(a.day.endsAt, b.day.endsAt))
        const sameDay = [a, b].filter(({ day: { endsAt } }) => endsAt === day.endsAt)
        expect(day.used).toBe(Math.max(...sameDay.map((usage) => usage.day.used)))
        expect(rest).toEqual({ strikes: a.strikes, bannedUntil: a.bannedUntil })
        expect(after.debt).toBe(before.debt)
        // A process that carries the same usage over again, at any time, changes nothing.
        for (const at of [now, now + later]) {
          expect(usageOf(RateLimit.withUsageOf(after, used.state, at, plan), at)).toEqual(usageOf(after, at))
        }
      })
    )
  })
})
