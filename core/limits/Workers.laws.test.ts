/** Checks that clients that share a key and wait are not banned, and that greedy clients are (contract §8.4.3). */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicy from "./BanPolicy.ts"
import * as Plan from "./Plan.ts"
import { DAY, HOUR, MINUTE, moment, SECOND } from "./RateLimit.arbitrary.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Workers from "./Workers.fixture.ts"

/** Runs a simulation for one key. */
const run = (simulation: Workers.Simulation, plan: Plan.Plan) => {
  const states: Array<RateLimit.State> = []
  const sent = Workers.run(simulation, (now) => {
    const [verdict, after] = RateLimit.step(states.at(-1), now, { plan, ban: BanPolicy.standard })
    states.push(after)
    return verdict
  })
  return {
    sent,
    bans: sent.filter(({ verdict }) => verdict.outcome === "banned"),
    strikes: new Set(states.map(({ strikeAt }) => strikeAt)).size - 1
  }
}

const perMinute = fc.oneof(
  fc.integer({ min: 1, max: 12 }),
  fc.constantFrom(60, 300, 1_000),
  fc.integer({ min: 1, max: 400 })
)

/** Returns a deterministic generator of pseudo-random numbers below `max`. */
const pseudoRandom = (seed: number, max: number): (() => number) => {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return max === 0 ? 0 : state % max
  }
}

/** Generates the seed and the maximum start, work and retry delays of workers that respect Retry-After. */
const behavior = fc.record({
  seed: fc.nat({ max: 1_000_000 }),
  phaseMs: fc.constantFrom(0, SECOND, MINUTE),
  workMs: fc.constantFrom(0, 50, 200, 5_000),
  jitterMs: fc.constantFrom(0, 500)
})

describe("workers that respect Retry-After, if a full bucket has a token for each worker", () => {
  it("are not banned and get no strike, for any start, work and delay times", () => {
    let denials = 0
    fc.assert(
      fc.property(
        moment,
        perMinute,
        fc.integer({ min: 1, max: 100 }),
        behavior,
        (start, perMinute, percent, { jitterMs, phaseMs, seed, workMs }) => {
          const workers = Math.max(Math.ceil((perMinute * percent) / 100), 1)
          const random = pseudoRandom(seed, Math.max(jitterMs, workMs, phaseMs))
          const simulation = Workers.closedLoop({
            starts: Array.from({ length: workers }, () => start + Math.min(random(), phaseMs)),
            end: start + (perMinute > 60 ? 10 * MINUTE : HOUR),
            work: () => Math.min(random(), workMs),
            wait: (retryAfterMs) => retryAfterMs + (jitterMs === 0 ? 0 : random() % jitterMs)
          })
          const { bans, sent, strikes } = run(simulation, { perMinute, perDay: Plan.maxRequests })
          denials += sent.filter(({ verdict }) => verdict.outcome === "limited").length
          expect({ bans, strikes }).toEqual({ bans: [], strikes: 0 })
        }
      ),
      { numRuns: 100 }
    )
    expect(denials).toBeGreaterThan(10_000)
  })

  it("get no strike when they exhaust the day, and none at the next midnight", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 20_000, max: 21_000 }),
        fc.integer({ min: 0, max: 30 * MINUTE }),
        perMinute,
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 12 }),
        behavior,
        (day, beforeMidnight, perMinute, percent, minutes, { jitterMs, seed, workMs }) => {
          const start = day * DAY - beforeMidnight
          const random = pseudoRandom(seed, Math.max(jitterMs, workMs))
          const simulation = Workers.closedLoop({
            starts: Array.from({ length: Math.ceil((perMinute * percent) / 100) }, () => start),
            end: start + HOUR,
            work: () => Math.min(random(), workMs),
            wait: (retryAfterMs) => retryAfterMs + (jitterMs === 0 ? 0 : random() % jitterMs)
          })
          const { bans, strikes } = run(simulation, { perMinute, perDay: Math.ceil(perMinute * minutes) })
          expect({ bans, strikes }).toEqual({ bans: [], strikes: 0 })
        }
      ),
      { numRuns: 100 }
    )
  })
})

describe("a single worker that waits at most 30 s", () => {
  it.each([1, 2, 3, 6, 60, 300, 1_000])(
    "is not banned at %i requests per minute, even on an exhausted day",
    (perMinute) => {
      for (const perDay of [Plan.maxRequests, perMinute * 5]) {
        const start = 20_500 * DAY
        const simulation = Workers.closedLoop({
          starts: [start],
          end: start + (perDay === Plan.maxRequests ? HOUR : 26 * HOUR),
          work: () => 1,
          wait: (retryAfterMs) => Math.min(retryAfterMs, 30 * SECOND)
        })
        expect(run(simulation, { perMinute, perDay }).bans).toEqual([])
      }
    }
  )
})

describe("requests that are sent at the same time, if a full bucket has a token for each request", () => {
  it("are admitted when retried exactly after Retry-After, after any history, unless the day is exhausted", () => {
    let retries = 0
    fc.assert(
      fc.property(
        fc.integer({ min: 20_000, max: 21_000 }),
        fc.integer({ min: 0, max: 3 * MINUTE }),
        perMinute,
        fc.integer({ min: 1, max: 100 }),
        fc.oneof(fc.constant(Plan.maxRequests), fc.integer({ min: 1, max: 100 })),
        fc.array(fc.record({ gap: fc.integer({ min: 0, max: 20 * SECOND }), count: fc.nat({ max: 100 }) }), {
          maxLength: 6
        }),
        (day, beforeMidnight, perMinute, percent, perDay, earlier) => {
          const requests = Math.ceil((perMinute * percent) / 100)
          const plan = { perMinute, perDay: Math.max(perDay, requests) }
          let now = day * DAY - beforeMidnight
          let state: RateLimit.State | undefined
          const send = (at: number): RateLimit.Verdict => {
            const [verdict, after] = RateLimit.step(state, at, { plan, ban: undefined })
            state = after
            return verdict
          }
          for (const { count, gap } of earlier) {
            now += gap
            for (let sent = 0; sent < count; sent++) send(now)
          }
          let hasRoom = true
          const retried = Workers.run(Workers.burst(now, requests), (at) => {
            const verdict = send(at)
            if (at === now && state !== undefined) {
              hasRoom = state.used >= plan.perDay || state.used + state.debt <= plan.perDay
            }
            return verdict
          }).slice(requests)
          // Slots count only tokens of the minute, so a retry may be denied if the day is exhausted earlier.
          fc.pre(hasRoom)
          retries += retried.length
          expect(retried.filter(({ verdict }) => verdict.outcome !== "admitted")).toEqual([])
        }
      ),
      { numRuns: 500 }
    )
    expect(retries).toBeGreaterThan(1_000)
  })
})

describe("a client that never waits", () => {
  it.each([5, 6, 7, 60, 300, 1_000])(
    "is banned within 3 minutes at four times its limit (%i per minute)",
    (limit) => {
      const start = 20_500 * DAY + 12_345
      const { bans } = run(Workers.constantRate(start, start + 10 * MINUTE, 4 * limit), {
        perMinute: limit,
        perDay: Plan.maxRequests
      })
      expect(bans[0]?.now).toBeLessThanOrEqual(start + 3 * MINUTE)
    }
  )

  it.each([1, 6, 60, 300, 1_000])("is not banned at twice its limit (%i per minute)", (limit) => {
    const start = 20_500 * DAY + 12_345
    const { bans } = run(Workers.constantRate(start, start + HOUR, 2 * limit), {
      perMinute: limit,
      perDay: Plan.maxRequests
    })
    expect(bans).toEqual([])
  })
})

describe("an exhausted day", () => {
  const start = 20_500 * DAY
  const workers = (count: number, intervalMs: number, phaseMs: number, perMinute: number) =>
    run(
      Workers.closedLoop({
        starts: Array.from({ length: count }, (_, worker) => start + Math.floor((worker * phaseMs) / count)),
        end: start + 5 * HOUR,
        work: () => 1,
        wait: () => intervalMs
      }),
      { perMinute, perDay: Math.min(perMinute, 60) }
    )

  it.each([1, 2, 6, 60, 300, 1_000])(
    "does not lead to a ban of eight workers that retry every 30 s, at %i requests per minute",
    (perMinute) => {
      for (const phaseMs of [0, 8, 8 * SECOND, 15 * SECOND, 30 * SECOND]) {
        expect(workers(8, 30 * SECOND, phaseMs, perMinute).bans).toEqual([])
      }
    }
  )

  it("leads to a ban within ten minutes for a client that sends every second on the Free plan", () => {
    const [ban] = workers(1, SECOND, 0, Plan.standard.Free.perMinute).bans
    expect(ban?.now).toBeLessThanOrEqual(start + 10 * MINUTE)
  })
})
