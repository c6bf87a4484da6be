/** Checks that clock steps cause only a bounded number of wrongly admitted requests and bounded delays. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicy from "./BanPolicy.ts"
import * as ClockSteps from "./ClockSteps.arbitrary.ts"
import * as Plan from "./Plan.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"

const { DAY, MINUTE } = Arbitrary

/** Sends the requests of a history. `now` is the time on the clock with steps, `time` on a clock without steps. */
const play = (start: number, moments: ReadonlyArray<ClockSteps.Moment>, policy: RateLimit.Policy) => {
  let state: RateLimit.State | undefined
  let time = start
  let now = start
  let admitted = 0
  let stepsForward = 0
  for (const { passedMs, requests, stepMs } of moments) {
    time += passedMs
    now += passedMs + stepMs
    if (stepMs > 0) stepsForward++
    for (let count = 0; count < requests; count++) {
      const [verdict, after] = RateLimit.step(state, now, policy)
      if (verdict.outcome === "admitted") admitted++
      state = after
    }
  }
  return { admitted, elapsed: time - start, now, state, stepsForward }
}

const smallLimit = fc.integer({ min: 1, max: 10 })

describe("RateLimit.step on a clock that steps", () => {
  it("admits at most one additional bucket of requests per step forward, and none per step back", () => {
    fc.assert(
      fc.property(Arbitrary.moment, ClockSteps.moments, smallLimit, (start, moments, perMinute) => {
        const policy = { plan: { perMinute, perDay: Plan.maxRequests }, ban: undefined }
        const { admitted, elapsed, stepsForward } = play(start, moments, policy)
        const dueTokens = perMinute + Math.floor((elapsed * perMinute) / MINUTE)
        expect(admitted).toBeLessThanOrEqual(dueTokens + stepsForward * perMinute)
      }),
      { numRuns: 500 }
    )
  })

  it("delays the next token of the minute window by at most a minute", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        ClockSteps.moments,
        smallLimit,
        fc.oneof(fc.constant(0), fc.integer({ min: -3 * DAY, max: 3 * DAY })),
        (start, moments, perMinute, stepMs) => {
          const policy = { plan: { perMinute, perDay: Plan.maxRequests }, ban: undefined }
          const { now, state } = play(start, moments, policy)
          const [verdict, after] = RateLimit.step(state, now + stepMs, policy)
          if (verdict.outcome === "admitted") return
          const tokenMs = Math.ceil(MINUTE / perMinute)
          const [next] = RateLimit.step(after, now + stepMs + MINUTE + tokenMs, policy)
          expect(next.outcome).toBe("admitted")
        }
      ),
      { numRuns: 500 }
    )
  })

  it("delays the reset of the day by at most a minute after the midnight in X-RateLimit-Reset", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        ClockSteps.moments,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: -3 * DAY, max: 3 * DAY }),
        (start, moments, perDay, stepMs) => {
          const policy = { plan: { perMinute: 60, perDay }, ban: undefined }
          const { now, state } = play(start, moments, policy)
          const [, after] = RateLimit.step(state, now + stepMs, policy)
          const midnight = (Math.floor((now + stepMs + MINUTE) / DAY) + 1) * DAY
          const [next] = RateLimit.step(after, Math.max(midnight, now + stepMs + 2 * MINUTE), policy)
          expect(next.outcome).toBe("admitted")
        }
      ),
      { numRuns: 500 }
    )
  })

  it("extends a ban by at most a minute", () => {
    let banned = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        ClockSteps.moments,
        fc.integer({ min: -3 * DAY, max: -1 }),
        (start, moments, stepMs) => {
          const ban: BanPolicy.BanPolicy = { ...BanPolicy.standard, strikes: 1, strikeIntervalMs: 0 }
          const policy = { plan: { perMinute: 1, perDay: Plan.maxRequests }, ban }
          const { now, state } = play(start, moments, policy)
          if (state === undefined || now >= state.bannedUntil) return
          const remainingMs = state.bannedUntil - state.at
          // A ban that ended a minute or more before `state.at` is over after the step, and another ban may begin.
          if (remainingMs <= -MINUTE) return
          banned++
          const [, after] = RateLimit.step(state, now + stepMs, policy)
          expect(after.bannedUntil - (now + stepMs)).toBeLessThanOrEqual(
            Math.max(remainingMs + MINUTE, state.bannedUntil - now)
          )
        }
      ),
      { numRuns: 1000 }
    )
    expect(banned).toBeGreaterThan(100)
  })
})

describe("RateLimit.shifted", () => {
  it("returns a state that gets the same verdicts on the stepped clock as the original on the clock without the step", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.plan,
        Arbitrary.ban,
        fc.integer({ min: -20, max: 20 }),
        fc.integer({ min: 0, max: 2 * MINUTE }),
        (start, moves, plan, ban, days, later) => {
          // Whole days, so that both clocks reach midnight at the same time.
          const byMs = days * DAY
          const policy = { plan, ban }
          const lastRequest = Arbitrary.play(start, moves, [policy]).at(-1)
          if (lastRequest === undefined) return
          const { after, now } = lastRequest
          const stepped = { ...RateLimit.shifted(after, byMs), day: after.day + days }
          const [expected] = RateLimit.step(after, now + later, policy)
          const [verdict] = RateLimit.step(stepped, now + later + byMs, policy)
          expect(verdict).toEqual({ ...expected, resetAt: expected.resetAt + byMs / 1_000 })
        }
      ),
      { numRuns: 300 }
    )
  })
})
