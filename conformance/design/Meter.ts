/**
 * Counts the requests of one caller as our service does: a bucket for the minute, the day in UTC, slots for denied
 * requests, and bans (design of §8). Exact, because it is used only where the time of each request is known exactly.
 */
import type { Plan } from "../../core/limits/Plan.ts"

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

/** What a request costs: a plan of n requests per minute refills n units per millisecond. */
const REQUEST = MINUTE

const [STRIKES, STRIKES_WITHIN, STRIKE_INTERVAL] = [20, 5 * MINUTE, SECOND]
const BANS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR]
const MAX_RETRY_AFTER = 2_147_483

/** On a day that is used up, a slot ends after this time, and there are at least this many. */
const [DAY_SLOT, MIN_DAY_SLOTS] = [2 * SECOND, 8]

export interface Meter {
  readonly plan: Plan
  readonly isBannable: boolean
  /** The time of the latest request that changed the meter, and the units missing from a full bucket then. */
  readonly at: number
  readonly missing: number
  readonly day: number
  readonly used: number
  /** Number of slots given to denied requests. */
  readonly slots: number
  readonly strikes: number
  readonly strikesFrom: number
  readonly strikeAt: number
  readonly bans: number
  readonly bannedUntil: number
}

export const make = (plan: Plan, isBannable: boolean): Meter => ({
  plan,
  isBannable,
  at: 0,
  missing: 0,
  day: 0,
  used: 0,
  slots: 0,
  strikes: 0,
  strikesFrom: Number.NEGATIVE_INFINITY,
  strikeAt: Number.NEGATIVE_INFINITY,
  bans: 0,
  bannedUntil: Number.NEGATIVE_INFINITY
})

export interface Window {
  readonly limit: number
  readonly remaining: number
  /** Seconds until it has one more request; 0 if it is full. */
  readonly more: number
}

/** What a response must show. */
export interface Verdict {
  readonly outcome: "admitted" | "limited" | "banned"
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
  /** Seconds; 0 if admitted. */
  readonly retryAfter: number
  readonly minute: Window
  readonly day: Window
  /** What became of a denied request: a slot, a strike, or none of them because the latest strike is too recent. */
  readonly denial?: "slot" | "strike" | "too soon" | "ban" | undefined
}

/** Counts a request at `now` (epoch ms). */
export const step = (meter: Meter, now: number): readonly [Verdict, Meter] => {
  if (now < meter.bannedUntil) return [denied(meter, now), meter]
  const before = advanced(meter, now)
  const { isBannable, missing, plan, slots, used } = before
  const isDayOver = used >= plan.perDay
  if (wholeOf(before) >= 1 && !isDayOver) {
    const after = { ...before, missing: missing + REQUEST, used: used + 1, slots: Math.max(slots - 1, 0) }
    return [admitted(after, now), after]
  }
  const places = wholeOf(before) + (isDayOver ? Math.max(plan.perMinute, MIN_DAY_SLOTS) : plan.perMinute)
  if (slots < places) {
    const after = { ...before, slots: slots + 1 }
    return [{ ...denied(after, now), denial: "slot" }, after]
  }
  const isTooSoon = !isBannable || now - meter.strikeAt < STRIKE_INTERVAL
  const after = isTooSoon ? before : struck(before, now)
  const denial = isTooSoon ? "too soon" : now < after.bannedUntil ? "ban" : "strike"
  return [{ ...denied(after, now), denial }, after]
}

/** Refills the windows up to `now`, and ends the slots that are over. */
const advanced = (meter: Meter, now: number): Meter => {
  const { at, plan } = meter
  const missing = Math.max(meter.missing - (now - at) * plan.perMinute, 0)
  const day = Math.floor(now / DAY)
  const used = day === meter.day ? meter.used : 0
  const slotsOfDay = Math.max(meter.slots - Math.floor((now - at) / DAY_SLOT), 0)
  const slots = used >= plan.perDay ? slotsOfDay : missing === 0 ? 0 : meter.slots
  return { ...meter, at: now, missing, day, used, slots }
}

const struck = (meter: Meter, now: number): Meter => {
  const idle = now - Math.max(meter.strikeAt, meter.bannedUntil)
  const bans = Math.max(meter.bans - (idle < Number.POSITIVE_INFINITY ? Math.floor(idle / DAY) : 0), 0)
  const isFirst = meter.strikes === 0 || now - meter.strikesFrom >= STRIKES_WITHIN
  const strikes = isFirst ? 1 : meter.strikes + 1
  if (strikes < STRIKES) {
    return { ...meter, bans, strikes, strikesFrom: isFirst ? now : meter.strikesFrom, strikeAt: now }
  }
  const duration = BANS[bans] ?? HOUR
  return {
    ...meter,
    strikes: 0,
    strikeAt: now,
    bans: Math.min(bans + 1, BANS.length - 1),
    bannedUntil: now + duration
  }
}

const wholeOf = ({ missing, plan }: Meter): number => plan.perMinute - Math.ceil(missing / REQUEST)

/** Returns the milliseconds until the bucket has `count` requests. */
const until = ({ missing, plan: { perMinute } }: Meter, count: number): number =>
  Math.max(Math.ceil((missing - (perMinute - count) * REQUEST) / perMinute), 0)

const seconds = (ms: number): number => Math.ceil(ms / SECOND)

const midnightOf = (now: number): number => (Math.floor(now / DAY) + 1) * DAY

const minuteOf = (meter: Meter): Window => {
  const remaining = wholeOf(meter)
  const { perMinute } = meter.plan
  const more = remaining >= perMinute ? 0 : seconds(until(meter, remaining + 1))
  return { limit: perMinute, remaining, more }
}

const dayOf = ({ plan: { perDay }, used }: Meter, now: number): Window => ({
  limit: perDay,
  remaining: Math.max(perDay - used, 0),
  more: used === 0 ? 0 : seconds(midnightOf(now) - now)
})

const admitted = (meter: Meter, now: number): Verdict => {
  const [minute, day] = [minuteOf(meter), dayOf(meter, now)]
  const [fullAt, midnight] = [now + until(meter, meter.plan.perMinute), midnightOf(now)]
  const isMinute =
    minute.remaining < day.remaining || (minute.remaining === day.remaining && fullAt > midnight)
  const { limit, remaining } = isMinute ? minute : day
  return {
    outcome: "admitted",
    limit,
    remaining,
    resetAt: seconds(isMinute ? fullAt : midnight),
    retryAfter: 0,
    minute,
    day
  }
}

const denied = (given: Meter, now: number): Verdict => {
  // During a ban nothing changes, but the windows refill.
  const meter = { ...advanced(given, now), slots: given.slots }
  const [minute, day] = [minuteOf(meter), dayOf(meter, now)]
  const isBanned = now < meter.bannedUntil
  const [minuteWait, dayWait] = [until(meter, 1), day.remaining === 0 ? midnightOf(now) - now : 0]
  const wait = isBanned
    ? Math.max(meter.bannedUntil - now, minuteWait, dayWait)
    : Math.max(until(meter, meter.slots), dayWait)
  const retryAfter = Math.min(Math.max(seconds(wait), 1), MAX_RETRY_AFTER)
  const shared = { remaining: 0, retryAfter, day }
  const { perDay, perMinute } = meter.plan
  if (isBanned) {
    const shown = { limit: perMinute, remaining: 0, more: retryAfter }
    const resetAt = seconds(meter.bannedUntil)
    return { ...shared, outcome: "banned", limit: perMinute, resetAt, minute: shown }
  }
  return dayWait > minuteWait
    ? { ...shared, outcome: "limited", limit: perDay, resetAt: seconds(midnightOf(now)), minute }
    : {
        ...shared,
        outcome: "limited",
        limit: perMinute,
        resetAt: seconds(now + until(meter, perMinute)),
        minute
      }
}
