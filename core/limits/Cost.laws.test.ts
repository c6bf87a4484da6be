/** Checks requests that count as several: the law is that of so many requests at one moment, all or none. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"

/** Sends `count` requests with the cost 1 at one moment; returns their verdicts and the last state. */
const sendEach = ({ before, cost: count, now, policy }: Arbitrary.Sent) => {
  let state = before
  const verdicts: Array<RateLimit.Verdict> = []
  for (let sent = 0; sent < count; sent++) {
    const [verdict, after] = RateLimit.step(state, now, policy)
    verdicts.push(verdict)
    state = after
  }
  return { verdicts, state }
}

const windowsOf = ({ day, minute }: RateLimit.Verdict) => [minute.remaining, day.remaining]

/** The requests left in both windows before the request that got this verdict. */
const windowsBefore = (verdict: RateLimit.Verdict | undefined) =>
  verdict && windowsOf(verdict).map((remaining) => remaining + 1)

/** Whether the day has requests left, but fewer than the cost; then only the request with that cost waits for midnight. */
const isDayPartlyLeft = ({ after, cost, policy: { plan } }: Arbitrary.Sent): boolean =>
  after.used < plan.perDay && after.used + cost > plan.perDay

/** Requests with larger costs are not compared, because that takes too long. */
const MAX_COMPARED = 100

describe("a request with the cost n", () => {
  it("is admitted like n requests at one moment, all or none; a denied one consumes nothing", () => {
    const seen = { admitted: 0, partly: 0, denied: 0 }
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.policies,
        Arbitrary.costs,
        (start, moves, policies, costs) => {
          for (const sent of Arbitrary.play(start, moves, policies, costs)) {
            if (sent.cost < 2 || sent.cost > MAX_COMPARED) continue
            const { after, policy, verdict } = sent
            const { state, verdicts } = sendEach(sent)
            const admittedCount = verdicts.filter(({ outcome }) => outcome === "admitted").length
            if (admittedCount === sent.cost) {
              expect([verdict, after]).toEqual([verdicts.at(-1), state])
              seen.admitted++
              continue
            }
            expect(verdict.outcome).not.toBe("admitted")
            if (admittedCount > 0) {
              // A ban that the denial began shows no remaining requests.
              if (verdict.outcome === "limited")
                expect(windowsOf(verdict)).toEqual(windowsBefore(verdicts[0]))
              seen.partly++
            } else if (!isDayPartlyLeft(sent) && (policy.ban?.strikeIntervalMs ?? 1) > 0) {
              // Several strikes of one moment count only if the interval is 0.
              expect([verdict.outcome, after]).toEqual([verdicts.at(-1)?.outcome, state])
              seen.denied++
            }
          }
        }
      ),
      { numRuns: 200 }
    )
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(100)
  })
})
