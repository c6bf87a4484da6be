/** Checks requests that count as several: the law is that of so many requests at one moment, all or none. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type * as BanPolicy from "./BanPolicy.ts"
import type * as Plan from "./Plan.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"

const { SECOND } = Arbitrary

/** Generates a number from which `costOf` computes the cost of each request. */
const costs = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }) },
    // The whole limit.
    fc.constant(Number.MAX_SAFE_INTEGER)
  ),
  { minLength: 1, maxLength: 5 }
)

const costOf = (costs: ReadonlyArray<number>, index: number, { perDay, perMinute }: Plan.Plan): number =>
  Math.min(costs[index % costs.length] ?? 1, perMinute, perDay)

interface Sent extends Arbitrary.Sent {
  readonly cost: number
}

/** Runs the requests of a history with costs. */
const play = (
  start: number,
  moves: ReadonlyArray<Arbitrary.Move>,
  policies: Arbitrary.Policies,
  costs: ReadonlyArray<number>
): ReadonlyArray<Sent> => {
  const sent: Array<Sent> = []
  let now = start
  for (const [index, { burst, pause }] of moves.entries()) {
    const policy = policies[index % policies.length] ?? policies[0]
    now = Arbitrary.timeAfter(pause, now, sent.at(-1)?.verdict)
    for (let count = 0; count < burst; count++) {
      const before = sent.at(-1)?.after
      const cost = costOf(costs, sent.length, policy.plan)
      const [verdict, after] = RateLimit.step(before, now, policy, cost)
      sent.push({ now, policy, before, verdict, after, cost })
    }
  }
  return sent
}

/** Sends `count` requests with the cost 1 at one moment; returns their verdicts and the last state. */
const sendEach = ({ before, cost: count, now, policy }: Sent) => {
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
const isDayPartlyLeft = ({ after, cost, policy: { plan } }: Sent): boolean =>
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
        costs,
        (start, moves, policies, costs) => {
          for (const sent of play(start, moves, policies, costs)) {
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
      { numRuns: 300 }
    )
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(100)
  })

  it("is admitted after its Retry-After if no request was sent in between", () => {
    let retries = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.policies,
        costs,
        (start, moves, policies, costs) => {
          for (const { after, cost, now, policy, verdict } of play(start, moves, policies, costs)) {
            if (verdict.outcome === "admitted" || verdict.retryAfter === RateLimit.maxRetryAfter) continue
            const [next] = RateLimit.step(after, now + verdict.retryAfter * SECOND, policy, cost)
            expect(next.outcome).toBe("admitted")
            retries++
          }
        }
      ),
      { numRuns: 300 }
    )
    expect(retries).toBeGreaterThan(1000)
  })

  it("gives no strike to a client that waits for Retry-After, whatever its requests cost", () => {
    let denials = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.ban,
        fc.record({ perMinute: fc.integer({ min: 1, max: 30 }), perDay: fc.integer({ min: 1, max: 200 }) }),
        costs,
        fc.array(fc.nat(3 * SECOND), { minLength: 50, maxLength: 100 }),
        (start, ban: BanPolicy.BanPolicy, plan, costs, pauses) => {
          let now = start
          let state: RateLimit.State | undefined
          for (const [index, pause] of pauses.entries()) {
            const cost = costOf(costs, index, plan)
            const [verdict, after] = RateLimit.step(state, now, { plan, ban }, cost)
            expect([verdict.outcome === "banned", after.strikes, after.bannedUntil]).toEqual([false, 0, 0])
            if (verdict.outcome === "limited") denials++
            state = after
            now += pause + verdict.retryAfter * SECOND
          }
        }
      ),
      { numRuns: 200 }
    )
    expect(denials).toBeGreaterThan(1000)
  })

  it("has headers that agree with its windows, and the verdict follows from the state", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        Arbitrary.policies,
        costs,
        (start, moves, policies, costs) => {
          for (const { after, cost, now, policy, verdict } of play(start, moves, policies, costs)) {
            const isAdmitted = verdict.outcome === "admitted"
            expect(RateLimit.verdictOf(isAdmitted, after, now, policy, cost)).toEqual(verdict)
            const { day, limit, minute, remaining } = verdict
            expect([minute, day].map((window) => [window.limit, window.remaining])).toContainEqual([
              limit,
              remaining
            ])
            if (verdict.outcome === "limited") expect(remaining).toBeLessThan(cost)
          }
        }
      ),
      { numRuns: 200 }
    )
  })
})
