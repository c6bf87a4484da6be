/** `RateLimit.step` against a model that keeps whole lists and exact fractions and computes everything anew. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { BanPolicy } from "./BanPolicy.ts"
import * as BanPolicies from "./BanPolicy.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import type * as RateLimit from "./RateLimit.ts"

interface Fraction {
  readonly over: bigint
  readonly under: bigint
}

const fraction = (over: number, under = 1): Fraction => ({ over: BigInt(over), under: BigInt(under) })

const plus = (a: Fraction, b: Fraction): Fraction =>
  a.under === b.under
    ? { over: a.over + b.over, under: a.under }
    : { over: a.over * b.under + b.over * a.under, under: a.under * b.under }

const minus = (a: Fraction, b: Fraction): Fraction => plus(a, { over: -b.over, under: b.under })

const less = (a: Fraction, b: Fraction): boolean => a.over * b.under < b.over * a.under

const floor = (a: Fraction): number => Number(a.over / a.under)

/** Milliseconds until `tokens` have come at `perMinute`, rounded up. */
const timeFor = (tokens: Fraction, perMinute: number): number => {
  const over = tokens.over * 60_000n
  const under = tokens.under * BigInt(perMinute)
  return over <= 0n ? 0 : Number((over + under - 1n) / under)
}

interface Seen {
  readonly now: number
  readonly day: number
  readonly perMinute: number
  readonly admitted: boolean
}

interface Strike {
  readonly at: number
  /** When it made a ban: the end of it. */
  readonly bannedUntil?: number
}

/** Everything a caller ever did, except for requests during a ban. */
class Model {
  readonly seen: Array<Seen> = []
  readonly strikes: Array<Strike> = []
  /** The retry time of each denial. */
  readonly announced: Array<number> = []

  decide(now: number, { ban, plan }: RateLimit.Policy): RateLimit.Verdict {
    const day = Math.max(...this.seen.map((request) => request.day), Math.floor(now / 86_400_000), 0)
    const clock = Math.max(...this.seen.map((request) => request.now), now)
    const request = { now, day, perMinute: plan.perMinute, admitted: false }
    const tokens = this.tokens([...this.seen, request])
    const used = this.seen.filter((earlier) => earlier.admitted && earlier.day === day).length
    const midnight = (day + 1) * 86_400_000
    const bannedUntil = ban === undefined ? 0 : this.bannedUntil()

    const opens = {
      minute: less(tokens, fraction(1)) ? clock + timeFor(minus(fraction(1), tokens), plan.perMinute) : now,
      day: used < plan.perDay ? now : midnight
    }
    const answer = (outcome: RateLimit.Outcome, until: number) => ({
      outcome,
      retryAfter: Math.min(Math.max(Math.ceil((until - now) / 1000), 1), 2_147_483)
    })
    const banned = (until: number): RateLimit.Verdict => ({
      ...answer("banned", Math.max(until, opens.minute, opens.day)),
      limit: plan.perMinute,
      remaining: 0,
      resetAt: Math.ceil(until / 1000)
    })
    if (now < bannedUntil) return banned(bannedUntil)

    if (opens.minute === now && opens.day === now) {
      this.seen.push({ ...request, admitted: true })
      const left = minus(tokens, fraction(1))
      const missing = minus(fraction(plan.perMinute), left)
      const [binding] = [
        { limit: plan.perDay, remaining: plan.perDay - used - 1, fullAt: midnight },
        {
          limit: plan.perMinute,
          remaining: floor(left),
          fullAt: clock + timeFor(missing, plan.perMinute)
        }
      ].sort((a, b) => a.remaining - b.remaining || b.fullAt - a.fullAt)
      if (binding === undefined) throw new Error("there are two windows")
      return {
        outcome: "admitted",
        limit: binding.limit,
        remaining: binding.remaining,
        resetAt: Math.ceil(binding.fullAt / 1000),
        retryAfter: 0
      }
    }

    this.seen.push(request)
    const until = ban === undefined ? 0 : this.strike(now, ban)
    const verdict: RateLimit.Verdict =
      now < until
        ? banned(until)
        : opens.day > opens.minute
          ? {
              ...answer("limited", opens.day),
              limit: plan.perDay,
              remaining: 0,
              resetAt: Math.ceil(midnight / 1000)
            }
          : {
              ...answer("limited", opens.minute),
              limit: plan.perMinute,
              remaining: 0,
              resetAt: Math.ceil(
                (clock + timeFor(minus(fraction(plan.perMinute), tokens), plan.perMinute)) / 1000
              )
            }
    this.announced.push(now + verdict.retryAfter * 1000)
    return verdict
  }

  /** What the bucket holds when the last of `requests` comes, by replaying all of them. */
  tokens(requests: ReadonlyArray<Seen>): Fraction {
    let tokens = fraction(requests[0]?.perMinute ?? 0, 1)
    let clock = requests[0]?.now ?? 0
    let debt = fraction(0)
    for (const { admitted, now, perMinute } of requests) {
      tokens = minus(tokens, debt)
      if (now > clock)
        tokens = plus(tokens, { over: BigInt(now - clock) * BigInt(perMinute), under: 60_000n })
      if (less(fraction(perMinute), tokens)) tokens = fraction(perMinute)
      clock = Math.max(clock, now)
      debt = fraction(admitted ? 1 : 0)
    }
    return tokens
  }

  bannedUntil(): number {
    return Math.max(...this.strikes.map((strike) => strike.bannedUntil ?? 0), 0)
  }

  /** Notes a strike if this denial is one; answers with the end of the ban it makes, or 0. */
  strike(now: number, ban: BanPolicy): number {
    const last = this.strikes.at(-1)
    const tooEarly = now < (this.announced.at(-1) ?? 0)
    const apart = last === undefined || Math.abs(now - last.at) >= ban.strikeIntervalMs
    if (!tooEarly || !apart) return 0
    const lastBan = this.strikes.findLastIndex((strike) => strike.bannedUntil !== undefined)
    let together: ReadonlyArray<number> = []
    for (const at of [...this.strikes.slice(lastBan + 1).map((strike) => strike.at), now]) {
      together = at - (together[0] ?? at) < ban.withinMs ? [...together, at] : [at]
    }
    if (together.length < ban.strikes) {
      this.strikes.push({ at: now })
      return 0
    }
    const duration = ban.durationsMs[this.banLevel(now, ban)]
    if (duration === undefined) throw new Error("the level is that of a duration")
    this.strikes.push({ at: now, bannedUntil: now + duration })
    return now + duration
  }

  /** One up for each ban, one down for each clean period before the next strike. */
  banLevel(now: number, ban: BanPolicy): number {
    let level = 0
    for (const [index, strike] of [...this.strikes, { at: now, bannedUntil: undefined }].entries()) {
      const earlier = this.strikes.slice(0, index)
      const dirty = Math.max(earlier.at(-1)?.at ?? 0, ...earlier.map((one) => one.bannedUntil ?? 0))
      level = Math.max(level - Math.max(Math.floor((strike.at - dirty) / ban.cleanMs), 0), 0)
      if (strike.bannedUntil !== undefined) level = Math.min(level + 1, ban.durationsMs.length - 1)
    }
    return level
  }
}

const compare = (
  start: number,
  moves: ReadonlyArray<Arbitrary.Move>,
  policies: Arbitrary.Policies
): ReadonlyArray<Arbitrary.Sent> => {
  const model = new Model()
  const sent = Arbitrary.play(start, moves, policies)
  for (const { now, policy, verdict } of sent) expect(verdict).toEqual(model.decide(now, policy))
  return sent
}

describe("RateLimit.step equals a model in exact fractions", () => {
  it("for one policy, whichever way the clock moves", () => {
    const outcomes = new Map<string, number>()
    fc.assert(
      fc.property(Arbitrary.moment, Arbitrary.moves, Arbitrary.policy, (start, moves, policy) => {
        for (const { verdict } of compare(start, moves, [policy])) {
          outcomes.set(verdict.outcome, (outcomes.get(verdict.outcome) ?? 0) + 1)
        }
      }),
      { numRuns: 600 }
    )
    // the histories reach what they are meant to test
    expect(outcomes.get("admitted")).toBeGreaterThan(1000)
    expect(outcomes.get("limited")).toBeGreaterThan(1000)
    expect(outcomes.get("banned")).toBeGreaterThan(1000)
  })

  it("for plans that change and bans that are switched off and on", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        fc.array(Arbitrary.plan, { minLength: 1, maxLength: 4 }),
        Arbitrary.ban,
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        (start, moves, plans, ban, bannable) => {
          const [first, ...rest] = plans.map((plan, index) => ({
            plan,
            ban: bannable[index] === true ? ban : undefined
          }))
          if (first !== undefined) compare(start, moves, [first, ...rest])
        }
      ),
      { numRuns: 600 }
    )
  })

  it("for a client that hammers on, long enough for several bans", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.ban,
        fc.array(fc.integer({ min: 0, max: 40 * Arbitrary.SECOND }), { minLength: 100, maxLength: 200 }),
        (start, ban, gaps) => {
          compare(
            start,
            gaps.map((ms) => ({ pause: { from: "now", ms }, burst: 1 })),
            [{ plan: { perMinute: 1, perDay: 3 }, ban }]
          )
        }
      ),
      { numRuns: 100 }
    )
  })

  it("for the standard policy and offenders that come back after hours or days", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        fc.array(fc.integer({ min: 1, max: 3 * Arbitrary.DAY }), { minLength: 3, maxLength: 8 }),
        (start, absences) => {
          const hammering = Array.from(
            { length: 24 },
            (): Arbitrary.Move => ({
              pause: { from: "now", ms: Arbitrary.SECOND },
              burst: 1
            })
          )
          const moves = absences.flatMap(
            (ms): ReadonlyArray<Arbitrary.Move> => [{ pause: { from: "now", ms }, burst: 1 }, ...hammering]
          )
          const sent = compare(start, moves, [
            { plan: { perMinute: 1, perDay: 1 }, ban: BanPolicies.standard }
          ])
          expect(sent.some(({ verdict }) => verdict.outcome === "banned")).toBe(true)
        }
      ),
      { numRuns: 60 }
    )
  })
})
