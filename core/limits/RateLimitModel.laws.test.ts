/**
 * Compares `RateLimit.step` with a model that stores the whole history and computes every verdict with exact fractions.
 */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { BanPolicy } from "./BanPolicy.ts"
import * as BanPolicies from "./BanPolicy.ts"
import * as Plan from "./Plan.ts"
import * as Arbitrary from "./RateLimit.arbitrary.ts"
import type * as RateLimit from "./RateLimit.ts"

interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

const fraction = (numerator: number, denominator = 1): Fraction => ({
  numerator: BigInt(numerator),
  denominator: BigInt(denominator)
})

const add = (a: Fraction, b: Fraction): Fraction =>
  a.denominator === b.denominator
    ? { numerator: a.numerator + b.numerator, denominator: a.denominator }
    : {
        numerator: a.numerator * b.denominator + b.numerator * a.denominator,
        denominator: a.denominator * b.denominator
      }

const subtract = (a: Fraction, b: Fraction): Fraction =>
  add(a, { numerator: -b.numerator, denominator: b.denominator })

const isLess = (a: Fraction, b: Fraction): boolean =>
  a.numerator * b.denominator < b.numerator * a.denominator

const floor = (a: Fraction): number => Number(a.numerator / a.denominator)

/** Returns the time in which `tokens` are refilled at `perMinute`, in milliseconds, rounded up. */
const timeFor = (tokens: Fraction, perMinute: number): number => {
  const numerator = tokens.numerator * BigInt(MINUTE_MS)
  const denominator = tokens.denominator * BigInt(perMinute)
  return numerator <= 0n ? 0 : Number((numerator + denominator - 1n) / denominator)
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Maximum lead of a stored history over the clock. */
const MAX_LEAD_MS = 60_000

/** Maximum `Retry-After` in seconds. */
const MAX_RETRY_AFTER = 2_147_483

/** Time after which one slot expires on an exhausted day. */
const SLOT_EXPIRY_MS = 2_000

/** Minimum number of slots on an exhausted day. */
const MIN_SLOTS_OF_DAY = 8

interface Request {
  readonly now: number
  /** The latest time so far; the clock may step back. */
  readonly clock: number
  readonly day: number
  readonly perMinute: number
  readonly isAdmitted: boolean
  /** Tokens in the bucket before the request. */
  readonly tokens: Fraction
  readonly isDayUsedUp: boolean
}

interface Strike {
  readonly at: number
  /** The end of the ban that the strike caused, if any. */
  readonly bannedUntil?: number
}

/** Stores the whole history of a caller, except for requests during a ban, and computes verdicts from it. */
class Model {
  requests: ReadonlyArray<Request> = []
  strikes: ReadonlyArray<Strike> = []

  decide(now: number, { ban, plan }: RateLimit.Policy): RateLimit.Verdict {
    this.followClock(now)
    const day = Math.max(...this.requests.map((request) => request.day), Math.floor(now / DAY_MS), 0)
    const clock = Math.max(...this.requests.map((request) => request.now), now)
    const tokens = this.tokens(now, plan.perMinute)
    const used = this.requests.filter((earlier) => earlier.isAdmitted && earlier.day === day).length
    const isDayUsedUp = used >= plan.perDay
    const request = { now, clock, day, perMinute: plan.perMinute, tokens, isDayUsedUp, isAdmitted: false }
    const midnight = (day + 1) * DAY_MS
    const bannedUntil = ban === undefined ? 0 : this.bannedUntil()
    const timeOf = (count: number): number =>
      isLess(tokens, fraction(count))
        ? clock + timeFor(subtract(fraction(count), tokens), plan.perMinute)
        : now

    const opensAt = { minute: timeOf(1), day: isDayUsedUp ? midnight : now }
    const secondsTo = (moment: number): number => Math.ceil((moment - now) / 1000)
    const dayLeft = Math.max(plan.perDay - used, 0)
    const dayWindow: RateLimit.Window = {
      limit: plan.perDay,
      remaining: dayLeft,
      moreIn: used === 0 ? 0 : secondsTo(midnight)
    }
    const withRetryAfter = <const Outcome extends RateLimit.Outcome>(outcome: Outcome, until: number) => ({
      outcome,
      retryAfter: Math.min(Math.max(Math.ceil((until - now) / 1000), 1), MAX_RETRY_AFTER)
    })
    const bannedVerdict = (until: number): RateLimit.Verdict => {
      const wait = withRetryAfter("banned", Math.max(until, opensAt.minute, opensAt.day))
      return {
        ...wait,
        limit: plan.perMinute,
        remaining: 0,
        resetAt: Math.ceil(until / 1000),
        minute: { limit: plan.perMinute, remaining: 0, moreIn: wait.retryAfter },
        day: dayWindow
      }
    }
    if (now < bannedUntil) return bannedVerdict(bannedUntil)

    if (opensAt.minute === now && opensAt.day === now) {
      this.requests = [...this.requests, { ...request, isAdmitted: true }]
      const tokensLeft = subtract(tokens, fraction(1))
      const missing = subtract(fraction(plan.perMinute), tokensLeft)
      const [binding] = [
        { limit: plan.perDay, remaining: plan.perDay - used - 1, fullAt: midnight },
        {
          limit: plan.perMinute,
          remaining: floor(tokensLeft),
          fullAt: clock + timeFor(missing, plan.perMinute)
        }
      ].sort((a, b) => a.remaining - b.remaining || b.fullAt - a.fullAt)
      if (binding === undefined) throw new Error("the list of windows is empty")
      return {
        outcome: "admitted",
        limit: binding.limit,
        remaining: binding.remaining,
        resetAt: Math.ceil(binding.fullAt / 1000),
        retryAfter: 0,
        minute: {
          limit: plan.perMinute,
          remaining: floor(tokensLeft),
          moreIn: secondsTo(
            clock + timeFor(subtract(fraction(floor(tokensLeft) + 1), tokensLeft), plan.perMinute)
          )
        },
        day: { limit: plan.perDay, remaining: plan.perDay - used - 1, moreIn: secondsTo(midnight) }
      }
    }

    this.requests = [...this.requests, request]
    const { hasSlot, slot } = this.slots()
    const until = hasSlot || ban === undefined ? 0 : this.strike(now, ban)
    if (now < until) return bannedVerdict(until)
    const whole = floor(tokens)
    const nextAt = whole >= plan.perMinute ? now : timeOf(whole + 1)
    const limited = {
      ...withRetryAfter("limited", Math.max(timeOf(slot), opensAt.day)),
      remaining: 0,
      minute: {
        limit: plan.perMinute,
        remaining: whole,
        moreIn: secondsTo(nextAt)
      },
      day: dayWindow
    }
    return opensAt.day > opensAt.minute
      ? { ...limited, limit: plan.perDay, resetAt: Math.ceil(midnight / 1000) }
      : { ...limited, limit: plan.perMinute, resetAt: Math.ceil(timeOf(plan.perMinute) / 1000) }
  }

  /** Moves a history that is more than a minute ahead of the clock back to a minute ahead of it. */
  followClock(now: number): void {
    const latest = now + MAX_LEAD_MS
    const lead = Math.max(...this.requests.map((request) => request.now), latest) - latest
    const move = (moment: number): number => moment - lead
    const day = Math.max(...this.requests.map((request) => request.day), 0)
    const latestDay = Math.floor(latest / DAY_MS)
    this.requests = this.requests.map((request) => ({
      ...request,
      now: move(request.now),
      clock: move(request.clock),
      // Requests of earlier days no longer count.
      day: day <= latestDay ? request.day : request.day === day ? latestDay : -1
    }))
    this.strikes = this.strikes.map(({ at, bannedUntil }) => ({
      at: move(at),
      ...(bannedUntil === undefined ? {} : { bannedUntil: move(bannedUntil) })
    }))
  }

  /** Replays all requests; returns the slot of the last request, and whether no other request has this slot. */
  slots(): { readonly slot: number; readonly hasSlot: boolean } {
    let openSlots: ReadonlyArray<Request> = []
    let hasSlot = true
    let clock = this.requests[0]?.clock ?? 0
    for (const request of this.requests) {
      const { isAdmitted, isDayUsedUp, perMinute, tokens } = request
      if (isDayUsedUp) openSlots = openSlots.slice(Math.floor((request.clock - clock) / SLOT_EXPIRY_MS))
      else if (!isLess(tokens, fraction(perMinute))) openSlots = []
      clock = request.clock
      if (isAdmitted) {
        openSlots = openSlots.slice(1)
        continue
      }
      const maxSlots = floor(tokens) + (isDayUsedUp ? Math.max(perMinute, MIN_SLOTS_OF_DAY) : perMinute)
      hasSlot = openSlots.length < maxSlots
      openSlots = [...openSlots, request].slice(0, maxSlots)
    }
    return { slot: openSlots.length, hasSlot }
  }

  /** Replays all requests; returns the number of tokens in the bucket at `now`. */
  tokens(now: number, perMinute: number): Fraction {
    const requests = [...this.requests, { now, perMinute, isAdmitted: false }]
    let tokens = fraction(requests[0]?.perMinute ?? 0, 1)
    let clock = requests[0]?.now ?? 0
    let consumed = fraction(0)
    for (const request of requests) {
      tokens = subtract(tokens, consumed)
      if (request.now > clock)
        tokens = add(tokens, {
          numerator: BigInt(request.now - clock) * BigInt(request.perMinute),
          denominator: BigInt(MINUTE_MS)
        })
      if (isLess(fraction(request.perMinute), tokens)) tokens = fraction(request.perMinute)
      clock = Math.max(clock, request.now)
      consumed = fraction(request.isAdmitted ? 1 : 0)
    }
    return tokens
  }

  bannedUntil(): number {
    return Math.max(...this.strikes.map((strike) => strike.bannedUntil ?? 0), 0)
  }

  /** Adds a strike unless the last one is too recent; returns the end of the ban that it causes, or 0. */
  strike(now: number, ban: BanPolicy): number {
    const lastStrike = this.strikes.at(-1)
    if (lastStrike !== undefined && Math.abs(now - lastStrike.at) < ban.strikeIntervalMs) return 0
    const lastBan = this.strikes.findLastIndex((strike) => strike.bannedUntil !== undefined)
    let inWindow: ReadonlyArray<number> = []
    for (const at of [...this.strikes.slice(lastBan + 1).map((strike) => strike.at), now]) {
      inWindow = at - (inWindow[0] ?? at) < ban.withinMs ? [...inWindow, at] : [at]
    }
    if (inWindow.length < ban.strikes) {
      this.strikes = [...this.strikes, { at: now }]
      return 0
    }
    const duration = ban.durationsMs[this.banLevel(now, ban)]
    if (duration === undefined) throw new Error("the ban level has no duration")
    this.strikes = [...this.strikes, { at: now, bannedUntil: now + duration }]
    return now + duration
  }

  /** Returns the ban level: one more for each ban, and one less for each clean period before the next strike. */
  banLevel(now: number, ban: BanPolicy): number {
    let level = 0
    for (const [index, strike] of [...this.strikes, { at: now, bannedUntil: undefined }].entries()) {
      const earlier = this.strikes.slice(0, index)
      const cleanSince = Math.max(
        earlier.at(-1)?.at ?? 0,
        ...earlier.map(({ bannedUntil }) => bannedUntil ?? 0)
      )
      level = Math.max(level - Math.max(Math.floor((strike.at - cleanSince) / ban.cleanMs), 0), 0)
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
  for (const { now, policy, verdict } of sent) {
    const { beganBan: _, ...decided } = verdict
    expect(decided).toEqual(model.decide(now, policy))
  }
  return sent
}

describe("RateLimit.step", () => {
  it("agrees with the model for constant and changing plans, with and without bans, on a clock that steps", () => {
    const outcomes = new Map<string, number>()
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.moves,
        fc.array(Arbitrary.plan, { minLength: 1, maxLength: 4 }),
        Arbitrary.ban,
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        (start, moves, plans, ban, canBan) => {
          const [first, ...rest] = plans.map((plan, index) => ({
            plan,
            ban: canBan[index] === true ? ban : undefined
          }))
          if (first === undefined) return
          for (const { verdict } of compare(start, moves, [first, ...rest])) {
            outcomes.set(verdict.outcome, (outcomes.get(verdict.outcome) ?? 0) + 1)
          }
        }
      ),
      { numRuns: 200 }
    )
    // The generated histories must cover all outcomes.
    for (const outcome of ["admitted", "limited", "banned"])
      expect(outcomes.get(outcome)).toBeGreaterThan(300)
  })

  it("agrees with the model for a client that never waits and is banned several times", () => {
    let bans = 0
    fc.assert(
      fc.property(
        Arbitrary.moment,
        Arbitrary.ban,
        fc.array(fc.integer({ min: 0, max: 40 * Arbitrary.SECOND }), { minLength: 100, maxLength: 200 }),
        (start, ban, gaps) => {
          const sent = compare(
            start,
            gaps.map((ms) => ({ pause: { from: "now", ms }, burst: 1 })),
            [{ plan: { perMinute: 1, perDay: Plan.maxRequests }, ban }]
          )
          bans += new Set(sent.map(({ after }) => after.bannedUntil)).size - 1
        }
      ),
      { numRuns: 50 }
    )
    expect(bans).toBeGreaterThan(10)
  })

  it("agrees with the model for the standard policy and banned clients that return after up to three days", () => {
    fc.assert(
      fc.property(
        Arbitrary.moment,
        fc.array(fc.integer({ min: 1, max: 3 * Arbitrary.DAY }), { minLength: 3, maxLength: 8 }),
        (start, absences) => {
          const repeated = Array.from(
            { length: 40 },
            (): Arbitrary.Move => ({
              pause: { from: "now", ms: Arbitrary.SECOND },
              burst: 1
            })
          )
          const moves = absences.flatMap(
            (ms): ReadonlyArray<Arbitrary.Move> => [{ pause: { from: "now", ms }, burst: 1 }, ...repeated]
          )
          const sent = compare(start, moves, [
            { plan: { perMinute: 1, perDay: 1 }, ban: BanPolicies.standard }
          ])
          expect(sent.some(({ verdict }) => verdict.outcome === "banned")).toBe(true)
        }
      ),
      { numRuns: 30 }
    )
  })
})
