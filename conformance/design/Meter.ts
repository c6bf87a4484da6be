/**
 * Counts the requests of one caller by the step of the service. A request's time is known as an interval, so that
 * several states may be true; a step keeps those that explain the response, at the ends of what is possible.
 */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as DailyQuota from "../../core/limits/DailyQuota.ts"
import type { Plan } from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as TokenBucket from "../../core/limits/TokenBucket.ts"

export interface Meter {
  readonly plan: Plan
  /** Whether the caller is a key, which can be banned. */
  readonly isKey: boolean
  /** The states that may be true; one if all times are exact. */
  readonly states: ReadonlyArray<RateLimit.State>
}

/** When a request was handled (epoch ms). */
interface Interval {
  readonly from: number
  readonly to: number
}

/** Time without a request after which no strike counts any more, in milliseconds. */
export const STRIKES_OVER_MS = 600_000

/** Returns the meter of a new caller, or of one that certainly sent nothing on this day and for `STRIKES_OVER_MS`. */
export const make = (plan: Plan, isKey: boolean, { from }: Interval, isNew: boolean): Meter => {
  const state = RateLimit.initial(from, plan)
  const { cleanMs, durationsMs } = BanPolicy.standard
  const banLevels = isNew || !isKey ? [] : durationsMs.map((_, banLevel) => banLevel)
  const earlier = banLevels.flatMap((banLevel) =>
    [STRIKES_OVER_MS, cleanMs].map((ago) => ({ ...state, banLevel, strikeAt: from - ago }))
  )
  return { plan, isKey, states: [state, ...earlier] }
}

/** What may have happened to a request. */
export interface Branch {
  readonly now: number
  readonly before: RateLimit.State
  readonly verdict: RateLimit.Verdict
  readonly next: RateLimit.State
}

/** Time after which a slot of a used day expires, in milliseconds (see `Debt`). */
const SLOT_EXPIRY_MS = 2_000

/** Returns what may happen to a request: in each state, at both ends of its interval and where something changes. */
export const branches = (meter: Meter, at: Interval): ReadonlyArray<Branch> =>
  meter.states.flatMap((state) => momentsOf(meter, state, at).map((now) => branchAt(meter, state, now)))

const branchAt = ({ isKey, plan }: Meter, state: RateLimit.State, now: number): Branch => {
  const ban = isKey ? BanPolicy.standard : undefined
  // The true time of the state may be earlier.
  const early = Math.max(0, state.at - now)
  const before =
    early === 0 ? state : { ...state, at: now, level: Math.max(0, state.level - early * plan.perMinute) }
  const [verdict, next] = RateLimit.step(before, now, { plan, ban })
  return { now, before, verdict, next }
}

const momentsOf = (
  { plan: { perDay, perMinute } }: Meter,
  { at, bannedUntil, level, strikeAt, strikesFrom, used }: RateLimit.State,
  { from, to }: Interval
): ReadonlyArray<number> => {
  if (from === to) return [from]
  const { cleanMs, durationsMs, strikeIntervalMs, withinMs } = BanPolicy.standard
  const changes = [
    DailyQuota.endOf(DailyQuota.dayOf(from)),
    TokenBucket.reaches(level, at, TokenBucket.capacity(perMinute), perMinute),
    strikeAt + strikeIntervalMs,
    strikesFrom + withinMs,
    bannedUntil,
    ...(used >= perDay ? [to - ((to - at) % SLOT_EXPIRY_MS)] : []),
    ...durationsMs.map((_, steps) => Math.max(bannedUntil, strikeAt) + (steps + 1) * cleanMs)
  ]
  const inside = changes.flatMap((change) => [change - 1, change])
  return [...new Set([from, to, ...inside])].filter((moment) => from <= moment && moment <= to)
}

/**
 * Returns the branches with this outcome. Where a bucket decides, a state with another outcome may be near to one that
 * is true: a token more or less is then what the outcome shows.
 */
export const withOutcome = (
  meter: Meter,
  all: ReadonlyArray<Branch>,
  isOutcome: (outcome: RateLimit.Outcome) => boolean
): ReadonlyArray<Branch> =>
  all.flatMap((branch) => {
    if (isOutcome(branch.verdict.outcome)) return [branch]
    const level = isOutcome("admitted") ? TokenBucket.COST : TokenBucket.COST - 1
    const near = { ...branch.before, at: branch.now, level }
    const fitted = branchAt(meter, near, branch.now)
    return isOutcome(fitted.verdict.outcome) ? [fitted] : []
  })

/** Maximum number of states. */
const MAX_STATES = 128

/** Returns the meter after a request; `undefined` if too much may be true. */
export const after = (meter: Meter, all: ReadonlyArray<Branch>): Meter | undefined => {
  const { perDay, perMinute } = meter.plan
  const origin = all[0]?.now ?? 0
  /** The later its bucket is full, the less a state holds. */
  const lack = ({ at, level }: RateLimit.State) => (at - origin) * perMinute - level
  const extremes = new Map<string, readonly [least: RateLimit.State, most: RateLimit.State]>()
  for (const { next } of all) {
    const { at, level: _, ...others } = next
    // Slots expire with time on a used day.
    const key = JSON.stringify(next.used >= perDay ? { ...others, at } : others)
    const [least, most] = extremes.get(key) ?? [next, next]
    extremes.set(key, [lack(next) < lack(least) ? next : least, lack(next) > lack(most) ? next : most])
  }
  const states = [...new Set([...extremes.values()].flat())]
  return states.length > MAX_STATES ? undefined : { ...meter, states }
}
