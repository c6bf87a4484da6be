/**
 * Decides whether a request is admitted, based on the caller's token bucket, daily quota and ban policy, in integers.
 * Every store runs this step, or an equivalent step of its own that the conformance suite checks.
 */
import type { BanPolicy } from "./BanPolicy.ts"
import * as DailyQuota from "./DailyQuota.ts"
import * as Debt from "./Debt.ts"
import type { Plan } from "./Plan.ts"
import * as TokenBucket from "./TokenBucket.ts"

/** The stored state of a caller. All fields are integers; times are in epoch milliseconds. */
export interface State extends TokenBucket.TokenBucket, DailyQuota.DailyQuota {
  /** Number of open slots: promised to denied requests and not yet used by admitted requests. */
  readonly debt: number
  /** Number of strikes in the current strike window. */
  readonly strikes: number
  /** Time of the first strike in the window. */
  readonly strikesFrom: number
  /** Time of the latest strike. */
  readonly strikeAt: number
  /** Index of the next ban's duration in `BanPolicy.durationsMs`. */
  readonly banLevel: number
  /** End of the latest ban. */
  readonly bannedUntil: number
}

/** The limits that apply to a caller. */
export interface Policy {
  readonly plan: Plan
  /** `undefined` for callers that cannot be banned: client networks. */
  readonly ban: BanPolicy | undefined
}

/** Whether a request is admitted, denied by a window, or denied by a ban. */
export type Outcome = "admitted" | "limited" | "banned"

/** A window after a request, the minute or the day, for the headers `RateLimit` and `RateLimit-Policy`. */
export interface Window {
  /** Number of requests that the window grants. */
  readonly limit: number
  /** Number of requests left in the window after this one; 0 in the minute during a ban. */
  readonly remaining: number
  /**
   * Seconds until the window grants more requests: until the next token, the next midnight, or the end of `Retry-After`
   * in the minute during a ban. 0 if the window is full. A denied request may have a later slot, which only
   * `Retry-After` shows.
   */
  readonly moreIn: number
}

/** The decision on one request, with the header values of contract §8.3, which all describe the same window. */
export interface Verdict {
  readonly outcome: Outcome
  /** `X-RateLimit-Limit`: number of requests that the window grants. */
  readonly limit: number
  /** `X-RateLimit-Remaining`: number of requests left in the window after this one. */
  readonly remaining: number
  /** `X-RateLimit-Reset`: epoch seconds at which the window is full again; for a ban, its end. */
  readonly resetAt: number
  /**
   * `Retry-After`: seconds until the slot of this request. A retry after this time is admitted if the caller sends no
   * request in between. 0 if the request is admitted.
   */
  readonly retryAfter: number
  /** The window of the per-minute limit. */
  readonly minute: Window
  /** The window of the per-day limit. */
  readonly day: Window
  /**
   * Present if this request began the ban that ends at `resetAt`, or arrived in the same millisecond as the request
   * that began it.
   */
  readonly beganBan?: true
}

/**
 * Maximum `Retry-After` in seconds; larger values overflow the 32-bit millisecond timers of clients.
 *
 * @internal
 */
export const maxRetryAfter = 2_147_483

/**
 * Maximum lead of a stored state over the clock, in milliseconds. The clocks of nodes that share a store may differ by
 * this much; a state that is further ahead was stored before the clock was set back.
 */
const MAX_LEAD_MS = 60_000

/**
 * Returns the state of a new caller: a full bucket, an unused day, and no slots, strikes or bans.
 *
 * @internal
 */
export const initial = (now: number, plan: Plan): State => ({
  level: TokenBucket.capacity(plan.perMinute),
  at: now,
  day: DailyQuota.dayOf(now),
  used: 0,
  debt: 0,
  strikes: 0,
  strikesFrom: 0,
  strikeAt: 0,
  banLevel: 0,
  bannedUntil: 0
})

/**
 * Decides on one request at `now` (epoch milliseconds), and returns the verdict and the next state. A denied request
 * consumes nothing from either window. During a ban, the next state is the same object, unless the state was too far
 * ahead of the clock.
 *
 * A request can count as several: `cost` is a whole number, from 1 to the smaller limit of the plan. It is admitted like
 * so many requests at one moment, all or none, and `Retry-After` promises so many.
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
  policy: Policy,
  cost = 1
): readonly [Verdict, State] => {
  const { plan, ban } = policy
  const before = state === undefined ? initial(now, plan) : withinLead(state, now)
  if (isBanned(before, now, ban)) return [denied(before, now, policy, cost), before]

  const level = TokenBucket.levelAt(before, now, plan.perMinute)
  const at = Math.max(before.at, now)
  const day = DailyQuota.dayAt(before.day, now)
  const used = day === before.day ? before.used : 0
  const windows = { level, isDayUsedUp: used + cost > plan.perDay }
  const debt = Debt.after(before.debt, at - before.at, windows, plan)
  const units = cost * TokenBucket.COST
  if (level >= units && !windows.isDayUsedUp) {
    const remainingDebt = Math.max(debt - cost, 0)
    const after = { ...before, level: level - units, at, day, used: used + cost, debt: remainingDebt }
    return [admitted(after, now, plan), after]
  }
  const maxSlots = Debt.limit(windows, plan)
  const hasSlots = debt + cost <= maxSlots
  const withStrike = hasSlots || ban === undefined ? before : strike(before, now, ban)
  const after = { ...withStrike, level, at, day, used, debt: hasSlots ? debt + cost : maxSlots }
  return [denied(after, now, policy, cost), after]
}

/**
 * Returns the verdict of the `step` that produced the state `after`. A store with a native step returns only the new
 * state and whether the request was admitted; this function computes the header values.
 */
export const verdictOf = (
  isAdmitted: boolean,
  after: State,
  now: number,
  policy: Policy,
  cost = 1
): Verdict => (isAdmitted ? admitted(after, now, policy.plan) : denied(after, now, policy, cost))

/**
 * Returns the state with every stored time moved by `byMs` milliseconds; the day is unchanged. For stores that detect
 * a clock step of `byMs`.
 */
export const shifted = (state: State, byMs: number): State => {
  // 0 stands for "never" and stays 0.
  const move = (moment: number): number => (moment === 0 ? 0 : Math.max(moment + byMs, 1))
  return {
    ...state,
    at: move(state.at),
    strikesFrom: move(state.strikesFrom),
    strikeAt: move(state.strikeAt),
    bannedUntil: move(state.bannedUntil)
  }
}

/**
 * Returns the state with at least the usage of another one, for a caller whose requests were counted there: the smaller
 * number of tokens of both and, on the same day, the larger number of used requests. The ban, the strikes and the slots
 * are unchanged: nobody is banned for the requests of others.
 *
 * @internal
 */
export const withUsageOf = (state: State, other: State, now: number, { perMinute }: Plan): State => {
  const [own, used] = [withinLead(state, now), withinLead(other, now)]
  const level = TokenBucket.levelAt(used, now, perMinute)
  const isUsedMore = level < TokenBucket.levelAt(own, now, perMinute)
  return {
    ...own,
    ...(isUsedMore ? { level, at: Math.max(own.at, used.at, now) } : {}),
    ...(used.day > own.day ? { day: used.day, used: used.used } : {}),
    ...(used.day === own.day ? { used: Math.max(own.used, used.used) } : {})
  }
}

/**
 * Lifts a ban: clears the ban, its level, the strikes and the open slots. The windows are unchanged.
 *
 * @internal
 */
export const unban = (state: State): State => ({
  ...state,
  debt: 0,
  strikes: 0,
  strikesFrom: 0,
  strikeAt: 0,
  banLevel: 0,
  bannedUntil: 0
})

/**
 * Returns the state, moved back to the maximum lead if it is further ahead of the clock.
 *
 * @internal
 */
export const withinLead = (state: State, now: number): State => {
  const latest = now + MAX_LEAD_MS
  const latestDay = DailyQuota.dayOf(latest)
  const moved = state.at > latest ? shifted(state, latest - state.at) : state
  return moved.day > latestDay ? { ...moved, day: latestDay } : moved
}

const isBanned = (state: State, now: number, ban: BanPolicy | undefined): boolean =>
  ban !== undefined && now < state.bannedUntil

/** Records a strike for a denied request without a slot, and bans the caller if it then has enough strikes. */
const strike = (state: State, now: number, ban: BanPolicy): State => {
  if (Math.abs(now - state.strikeAt) < ban.strikeIntervalMs) return state
  const banLevel = banLevelAt(state, now, ban)
  const isSameWindow = state.strikes > 0 && now - state.strikesFrom < ban.withinMs
  const strikes = isSameWindow ? state.strikes + 1 : 1
  if (strikes < ban.strikes) {
    return { ...state, strikes, strikesFrom: isSameWindow ? state.strikesFrom : now, strikeAt: now, banLevel }
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

/** Lowers the ban level by one for each clean period since the last strike or the end of the last ban. */
const banLevelAt = (state: State, now: number, ban: BanPolicy): number => {
  const cleanMs = Math.max(now - Math.max(state.bannedUntil, state.strikeAt), 0)
  return Math.max(state.banLevel - Math.floor(cleanMs / ban.cleanMs), 0)
}

/**
 * Returns the epoch milliseconds from which `state` gives the same verdicts as an absent state, under any plan. From
 * then on, a store may delete the state without an effect on callers.
 */
export const spentAt = (state: State, ban: BanPolicy): number =>
  Math.max(
    TokenBucket.fullBy(state.at),
    DailyQuota.endOf(state.day),
    state.strikeAt + ban.strikeIntervalMs,
    state.strikes > 0 ? state.strikesFrom + ban.withinMs : 0,
    state.banLevel > 0
      ? Math.max(state.bannedUntil, state.strikeAt) + state.banLevel * ban.cleanMs
      : state.bannedUntil
  )

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/** Returns the milliseconds from `now` until a bucket with `level` units at `at` has one more whole token. */
const untilNextToken = (
  level: number,
  remaining: number,
  at: number,
  now: number,
  perMinute: number
): number =>
  remaining >= perMinute
    ? 0
    : TokenBucket.reaches(level, at, (remaining + 1) * TokenBucket.COST, perMinute) - now

/**
 * Returns the verdict on an admitted request. The headers show the window with fewer requests left; on a tie, the one
 * that is full later.
 */
const admitted = (after: State, now: number, { perDay, perMinute }: Plan): Verdict => {
  const { at, level } = after
  const minuteRemaining = TokenBucket.remaining(level)
  const dayRemaining = perDay - after.used
  const fullAt = TokenBucket.reaches(level, at, TokenBucket.capacity(perMinute), perMinute)
  const midnight = DailyQuota.endOf(after.day)
  const isMinuteShown =
    minuteRemaining < dayRemaining || (minuteRemaining === dayRemaining && fullAt > midnight)
  return {
    outcome: "admitted",
    limit: isMinuteShown ? perMinute : perDay,
    remaining: isMinuteShown ? minuteRemaining : dayRemaining,
    resetAt: seconds(isMinuteShown ? fullAt : midnight),
    retryAfter: 0,
    minute: {
      limit: perMinute,
      remaining: minuteRemaining,
      moreIn: seconds(untilNextToken(level, minuteRemaining, at, now, perMinute))
    },
    day: { limit: perDay, remaining: dayRemaining, moreIn: seconds(midnight - now) }
  }
}

/**
 * Returns the verdict on a denied request. The headers show the ban, or the window that allows the request later. The
 * request has the last slots of the debt, which affect only `Retry-After`.
 */
const denied = (state: State, now: number, { ban, plan }: Policy, cost: number): Verdict => {
  const { perDay, perMinute } = plan
  const level = TokenBucket.levelAt(state, now, perMinute)
  const at = Math.max(state.at, now)
  const waitFor = (tokens: number): number => {
    const units = tokens * TokenBucket.COST
    return level >= units ? 0 : TokenBucket.reaches(level, at, units, perMinute) - now
  }
  const day = DailyQuota.dayAt(state.day, now)
  const midnight = DailyQuota.endOf(day)
  const minuteWait = waitFor(cost)
  const dayRemaining = day === state.day ? Math.max(perDay - state.used, 0) : perDay
  const dayWait = dayRemaining < cost ? midnight - now : 0
  const dayWindow: Window = {
    limit: perDay,
    remaining: dayRemaining,
    moreIn: dayRemaining === perDay ? 0 : seconds(midnight - now)
  }
  if (isBanned(state, now, ban)) {
    const retryAfter = retryAfterOf(Math.max(state.bannedUntil - now, minuteWait, dayWait))
    const minute: Window = { limit: perMinute, remaining: 0, moreIn: retryAfter }
    const verdict = denial("banned", minute, dayWindow, minute, state.bannedUntil, retryAfter)
    // The last strike began the ban, because no strikes are recorded during a ban.
    return state.strikeAt === now ? { ...verdict, beganBan: true } : verdict
  }
  const retryAfter = retryAfterOf(Math.max(waitFor(state.debt), dayWait))
  const remaining = TokenBucket.remaining(level)
  const minute: Window = {
    limit: perMinute,
    remaining,
    moreIn: seconds(untilNextToken(level, remaining, at, now, perMinute))
  }
  return dayWait > minuteWait
    ? denial("limited", minute, dayWindow, dayWindow, midnight, retryAfter)
    : denial(
        "limited",
        minute,
        dayWindow,
        minute,
        TokenBucket.reaches(level, at, TokenBucket.capacity(perMinute), perMinute),
        retryAfter
      )
}

const retryAfterOf = (waitMs: number): number => Math.min(Math.max(seconds(waitMs), 1), maxRetryAfter)

const denial = (
  outcome: "limited" | "banned",
  minute: Window,
  day: Window,
  shown: Window,
  resetAtMs: number,
  retryAfter: number
): Verdict => ({
  outcome,
  limit: shown.limit,
  remaining: shown.remaining,
  resetAt: seconds(resetAtMs),
  retryAfter,
  minute,
  day
})
