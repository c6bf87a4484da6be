/**
 * The one decision about a request's admission: token bucket, daily quota and ban together, in integers.
 * Every store runs this step or proves its own to be equal to it.
 */
import type { BanPolicy } from "./BanPolicy.ts"
import * as DailyQuota from "./DailyQuota.ts"
import * as Debt from "./Debt.ts"
import type { Plan } from "./Plan.ts"
import * as TokenBucket from "./TokenBucket.ts"

/** What is stored per caller; all integers, all times in epoch milliseconds. */
export interface State extends TokenBucket.TokenBucket, DailyQuota.DailyQuota {
  /** Slots that denied requests were told and that no admitted request has used yet. */
  readonly debt: number
  /** Strikes of the current strike window. */
  readonly strikes: number
  /** Start of the strike window: its first strike. */
  readonly strikesFrom: number
  /** The latest strike. */
  readonly strikeAt: number
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
  /**
   * `Retry-After`: seconds until the slot of this request, at which it is admitted if the caller sends nothing else; 0
   * when admitted.
   */
  readonly retryAfter: number
}

/** Longest `Retry-After` in seconds: clients overflow their timers above it. */
export const maxRetryAfter = 2_147_483

/**
 * Most milliseconds that a state may lead the clock. Nodes that share a state may disagree by so much; a state that leads
 * by more was stored by a clock that has been put back since.
 */
const MAX_LEAD_MS = 60_000

/** The state of a caller who was never seen: a full bucket, an unused day, a clean record. */
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
export const step = (state: State | undefined, now: number, policy: Policy): readonly [Verdict, State] => {
  const { plan, ban } = policy
  const before = state === undefined ? initial(now, plan) : withinLead(state, now)
  if (isBanned(before, now, ban)) return [denied(before, now, policy), before]

  const level = TokenBucket.levelAt(before, now, plan.perMinute)
  const at = Math.max(before.at, now)
  const day = DailyQuota.dayAt(before.day, now)
  const used = day === before.day ? before.used : 0
  const windows = { level, isDayUsedUp: used >= plan.perDay }
  const debt = Debt.after(before.debt, at - before.at, windows, plan)
  if (level >= TokenBucket.COST && !windows.isDayUsedUp) {
    const paid = Math.max(debt - 1, 0)
    const after = { ...before, level: level - TokenBucket.COST, at, day, used: used + 1, debt: paid }
    return [admitted(after, plan), after]
  }
  const mostSlots = Debt.limit(windows, plan)
  const hasSlot = debt < mostSlots
  const record = hasSlot || ban === undefined ? before : strike(before, now, ban)
  const after = { ...record, level, at, day, used, debt: hasSlot ? debt + 1 : mostSlots }
  return [denied(after, now, policy), after]
}

/**
 * The verdict of the `step` that left the state `after`. A store that makes the step in its own language only has to
 * return the new state and whether the request was admitted; the headers are computed here in any case.
 */
export const verdictOf = (isAdmitted: boolean, after: State, now: number, policy: Policy): Verdict =>
  isAdmitted ? admitted(after, policy.plan) : denied(after, now, policy)

/**
 * The state as it would be if the clock had always shown `byMs` more: every stored moment moves, the day stays. For a
 * store that finds out that the clock was stepped, and by how much.
 */
export const shifted = (state: State, byMs: number): State => {
  // 0 means never.
  const move = (moment: number): number => (moment === 0 ? 0 : Math.max(moment + byMs, 1))
  return {
    ...state,
    at: move(state.at),
    strikesFrom: move(state.strikesFrom),
    strikeAt: move(state.strikeAt),
    bannedUntil: move(state.bannedUntil)
  }
}

/** The state itself unless it leads the clock by too much; then it is moved back to where it may lead. */
const withinLead = (state: State, now: number): State => {
  const latest = now + MAX_LEAD_MS
  const latestDay = DailyQuota.dayOf(latest)
  const moved = state.at > latest ? shifted(state, latest - state.at) : state
  return moved.day > latestDay ? { ...moved, day: latestDay } : moved
}

const isBanned = (state: State, now: number, ban: BanPolicy | undefined): boolean =>
  ban !== undefined && now < state.bannedUntil

/** The record after a denied request at `now` for which no slot is left: one strike more, banned, or unchanged. */
const strike = (state: State, now: number, ban: BanPolicy): State => {
  if (Math.abs(now - state.strikeAt) < ban.strikeIntervalMs) return state
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
 * delete it then, and no caller gains or loses by it.
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

/** The verdict on an admitted request that left this state: of both windows the one with less in it. */
const admitted = (after: State, { perDay, perMinute }: Plan): Verdict => {
  const minuteRemaining = TokenBucket.remaining(after.level)
  const dayRemaining = perDay - after.used
  const fullAt = TokenBucket.reaches(after.level, after.at, TokenBucket.capacity(perMinute), perMinute)
  const midnight = DailyQuota.endOf(after.day)
  const minuteBinds =
    minuteRemaining < dayRemaining || (minuteRemaining === dayRemaining && fullAt > midnight)
  return {
    outcome: "admitted",
    limit: minuteBinds ? perMinute : perDay,
    remaining: minuteBinds ? minuteRemaining : dayRemaining,
    resetAt: seconds(minuteBinds ? fullAt : midnight),
    retryAfter: 0
  }
}

/**
 * The verdict on a denied request that left this state: the ban, or of both windows the one that opens later. The last
 * slot of the debt is that of the request; it decides on `Retry-After` alone.
 */
const denied = (state: State, now: number, { ban, plan }: Policy): Verdict => {
  const { perDay, perMinute } = plan
  const level = TokenBucket.levelAt(state, now, perMinute)
  const at = Math.max(state.at, now)
  const waitFor = (tokens: number): number => {
    const units = tokens * TokenBucket.COST
    return level >= units ? 0 : TokenBucket.reaches(level, at, units, perMinute) - now
  }
  const day = DailyQuota.dayAt(state.day, now)
  const minuteWait = waitFor(1)
  const dayWait = day === state.day && state.used >= perDay ? DailyQuota.endOf(day) - now : 0
  if (isBanned(state, now, ban)) {
    const banWait = state.bannedUntil - now
    return refusal("banned", perMinute, state.bannedUntil, Math.max(banWait, minuteWait, dayWait))
  }
  const wait = Math.max(waitFor(state.debt), dayWait)
  return dayWait > minuteWait
    ? refusal("limited", perDay, DailyQuota.endOf(day), wait)
    : refusal(
        "limited",
        perMinute,
        TokenBucket.reaches(level, at, TokenBucket.capacity(perMinute), perMinute),
        wait
      )
}

const refusal = (
  outcome: "limited" | "banned",
  limit: number,
  resetAtMs: number,
  waitMs: number
): Verdict => ({
  outcome,
  limit,
  remaining: 0,
  resetAt: seconds(resetAtMs),
  retryAfter: Math.min(Math.max(seconds(waitMs), 1), maxRetryAfter)
})
