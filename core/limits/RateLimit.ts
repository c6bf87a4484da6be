/**
 * The one decision about a request's admission: token bucket, daily quota and ban together, in integers.
 * Every store runs this step or proves its own to be equal to it.
 */
import type { BanPolicy } from "./BanPolicy.ts"
import * as DailyQuota from "./DailyQuota.ts"
import type { Plan } from "./Plan.ts"
import * as TokenBucket from "./TokenBucket.ts"

/** What is kept per caller; all integers, all times in epoch milliseconds. */
export interface State extends TokenBucket.TokenBucket, DailyQuota.DailyQuota {
  /** Strikes of the current strike window. */
  readonly strikes: number
  /** Start of the strike window: its first strike. */
  readonly strikesFrom: number
  /** The latest strike. */
  readonly strikeAt: number
  /** The retry time that the latest denial announced. */
  readonly retryAt: number
  /** How many steps of `BanPolicy.durationsMs` the next ban has climbed. */
  readonly banLevel: number
  /** End of the latest ban. */
  readonly bannedUntil: number
}

/** What a caller is held to. */
export interface Policy {
  readonly plan: Plan
  /** `undefined` for callers who cannot be banned: those known by their address only. */
  readonly ban: BanPolicy | undefined
}

/** Whether a request may go on, and if not, whether a window or a ban forbids it. */
export type Outcome = "admitted" | "limited" | "banned"

/** The answer, in the terms of contract §8.3: all three header values come from the same window. */
export interface Verdict {
  readonly outcome: Outcome
  /** `X-RateLimit-Limit`: requests that the window grants. */
  readonly limit: number
  /** `X-RateLimit-Remaining`: requests left in it after this one. */
  readonly remaining: number
  /** `X-RateLimit-Reset`: epoch seconds at which it is full again; for a ban, its end. */
  readonly resetAt: number
  /** `Retry-After`: seconds after which a request is admitted if none is sent before; 0 when admitted. */
  readonly retryAfter: number
}

/** Longest `Retry-After` in seconds: clients overflow their timers above it. */
export const maxRetryAfter = 2_147_483

/** The state of a caller who was never seen: a full bucket, an unused day, a clean record. */
export const initial = (now: number, plan: Plan): State => ({
  level: TokenBucket.capacity(plan.perMinute),
  at: now,
  day: DailyQuota.dayAt(0, now),
  used: 0,
  strikes: 0,
  strikesFrom: 0,
  strikeAt: 0,
  retryAt: 0,
  banLevel: 0,
  bannedUntil: 0
})

/**
 * Decides on one request at `now` (epoch ms). A denied request takes nothing from either window; during a ban the
 * state is returned untouched, as the same object.
 *
 * @example
 * ```ts
 * const policy = { plan: { perMinute: 1, perDay: 10 }, ban: undefined }
 * const [first, state] = step(undefined, 0, policy) // first.outcome === "admitted"
 * const [second] = step(state, 1, policy) // second.outcome === "limited", second.retryAfter === 60
 * ```
 */
export const step = (
  state: State | undefined,
  now: number,
  { plan, ban }: Policy
): readonly [Verdict, State] => {
  const before = state ?? initial(now, plan)
  const { perMinute, perDay } = plan
  const level = TokenBucket.levelAt(before, now, perMinute)
  const at = Math.max(before.at, now)
  const day = DailyQuota.dayAt(before.day, now)
  const used = day === before.day ? before.used : 0

  const tokenAt = TokenBucket.reaches(level, at, TokenBucket.COST, perMinute)
  const minuteOpen = level >= TokenBucket.COST
  const dayOpen = used < perDay
  const banned = ban !== undefined && now < before.bannedUntil

  if (minuteOpen && dayOpen && !banned) {
    const left = level - TokenBucket.COST
    const minuteRemaining = TokenBucket.remaining(left)
    const dayRemaining = perDay - used - 1
    const fullAt = TokenBucket.reaches(left, at, TokenBucket.capacity(perMinute), perMinute)
    const midnight = DailyQuota.endOf(day)
    const minuteBinds =
      minuteRemaining < dayRemaining || (minuteRemaining === dayRemaining && fullAt > midnight)
    return [
      minuteBinds ? admitted(perMinute, minuteRemaining, fullAt) : admitted(perDay, dayRemaining, midnight),
      { ...before, level: left, at, day, used: used + 1 }
    ]
  }

  const minuteWait = minuteOpen ? 0 : tokenAt - now
  const dayWait = dayOpen ? 0 : DailyQuota.endOf(day) - now
  const windowsWait = Math.max(minuteWait, dayWait)
  if (banned) {
    return [bannedVerdict(plan, before.bannedUntil, now, windowsWait), before]
  }

  const record = ban === undefined ? before : strike(before, now, ban)
  const verdict =
    ban !== undefined && now < record.bannedUntil
      ? bannedVerdict(plan, record.bannedUntil, now, windowsWait)
      : dayWait > minuteWait
        ? denied(perDay, DailyQuota.endOf(day), dayWait)
        : denied(
            perMinute,
            TokenBucket.reaches(level, at, TokenBucket.capacity(perMinute), perMinute),
            minuteWait
          )
  return [verdict, { ...record, level, at, day, used, retryAt: now + verdict.retryAfter * 1000 }]
}

/** The record after a denied request at `now`: unchanged, one strike more, or banned. */
const strike = (state: State, now: number, ban: BanPolicy): State => {
  const offends = now < state.retryAt && Math.abs(now - state.strikeAt) >= ban.strikeIntervalMs
  if (!offends) return state
  const banLevel = banLevelAt(state, now, ban)
  const sameWindow = state.strikes > 0 && now - state.strikesFrom < ban.withinMs
  const strikes = sameWindow ? state.strikes + 1 : 1
  if (strikes < ban.strikes) {
    return { ...state, strikes, strikesFrom: sameWindow ? state.strikesFrom : now, strikeAt: now, banLevel }
  }
  const lastStep = ban.durationsMs.length - 1
  const duration = ban.durationsMs[Math.min(banLevel, lastStep)] ?? ban.durationsMs[0]
  return {
    ...state,
    strikes: 0,
    strikesFrom: 0,
    strikeAt: now,
    banLevel: Math.min(banLevel + 1, lastStep),
    bannedUntil: now + duration
  }
}

/** One step lower for every clean period since the last strike or the end of the last ban. */
const banLevelAt = (state: State, now: number, ban: BanPolicy): number => {
  const cleanMs = Math.max(now - Math.max(state.bannedUntil, state.strikeAt), 0)
  return Math.max(state.banLevel - Math.floor(cleanMs / ban.cleanMs), 0)
}

/**
 * Epoch milliseconds from which `state` decides every request as an absent state would, under any plan: a store may
 * forget it then, and no caller gains or loses by it.
 */
export const spentAt = (state: State, ban: BanPolicy): number =>
  Math.max(
    TokenBucket.fullBy(state.at),
    DailyQuota.endOf(state.day),
    state.retryAt,
    state.strikeAt + ban.strikeIntervalMs,
    state.strikes > 0 ? state.strikesFrom + ban.withinMs : 0,
    state.banLevel > 0
      ? Math.max(state.bannedUntil, state.strikeAt) + state.banLevel * ban.cleanMs
      : state.bannedUntil
  )

const seconds = (ms: number): number => Math.ceil(ms / 1000)

const admitted = (limit: number, remaining: number, fullAt: number): Verdict => ({
  outcome: "admitted",
  limit,
  remaining,
  resetAt: seconds(fullAt),
  retryAfter: 0
})

const retryAfter = (waitMs: number): number => Math.min(Math.max(seconds(waitMs), 1), maxRetryAfter)

const denied = (limit: number, fullAt: number, waitMs: number): Verdict => ({
  outcome: "limited",
  limit,
  remaining: 0,
  resetAt: seconds(fullAt),
  retryAfter: retryAfter(waitMs)
})

const bannedVerdict = (plan: Plan, until: number, now: number, windowsWaitMs: number): Verdict => ({
  outcome: "banned",
  limit: plan.perMinute,
  remaining: 0,
  resetAt: seconds(until),
  retryAfter: retryAfter(Math.max(until - now, windowsWaitMs))
})
