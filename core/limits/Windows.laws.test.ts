/** Checks that both windows of a verdict, the values of the standard rate headers, are correct. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"

const SECOND = 1_000
const DAY = 86_400_000

describe("the two windows of a verdict", () => {
  it("agree with the X-RateLimit headers", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy, (start, moves, policy) => {
        const { plan } = policy
        for (const { verdict } of Arbitrary.play(start, moves, [policy])) {
          const windows = [verdict.minute, verdict.day]
          expect(windows.map(({ limit }) => limit)).toEqual([plan.perMinute, plan.perDay])
          expect(Math.min(...windows.map(({ remaining }) => remaining))).toBe(verdict.remaining)
          const matching = windows.filter(
            ({ limit, remaining }) => limit === verdict.limit && remaining === verdict.remaining
          )
          expect(matching.length).toBeGreaterThan(0)
          for (const { limit, moreIn, remaining } of windows) {
            expect(remaining).toBeGreaterThanOrEqual(0)
            expect(remaining).toBeLessThanOrEqual(limit)
            expect(moreIn === 0).toBe(remaining === limit)
            // An exhausted window denies requests, so Retry-After must cover its wait.
            if (verdict.outcome !== "admitted" && remaining === 0) {
              expect(moreIn).toBeLessThanOrEqual(verdict.retryAfter)
            }
          }
        }
      }),
      { numRuns: 200 }
    )
  })

  it("grant the next request of the minute after `moreIn` seconds, and not a second earlier", () => {
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

  it("grant more requests of the day at midnight, after `moreIn` seconds; `moreIn` is 0 if the day is unused", () => {
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.plan, (start, moves, plan) => {
        for (const { after, now, verdict } of Arbitrary.play(start, moves, [{ plan, ban: undefined }])) {
          if (after.used === 0) expect(verdict.day.moreIn).toBe(0)
          else expect(verdict.day.moreIn).toBe(Math.ceil(((after.day + 1) * DAY - now) / SECOND))
        }
      })
    )
  })
})
