/**
 * Counts the retry slots of denied requests. Each denied request gets a slot of its own: `Retry-After` points to the
 * first token that is not promised to an earlier denied request, so that waiting clients do not all retry for the same
 * token.
 *
 * The debt is the number of open slots. A denied request adds one slot, an admitted request removes one, and a full
 * bucket clears all; a request that counts as n requests adds or removes n. The debt never affects admission: it only
 * delays `Retry-After` and determines strikes.
 */
import type { Plan } from "./Plan.ts"
import * as TokenBucket from "./TokenBucket.ts"

/**
 * Time after which one slot expires on an exhausted day, in milliseconds. All slots of the day are due at midnight, but
 * many clients wait at most 30 s and retry earlier. Eight clients that retry every 30 s open slots more slowly than
 * slots expire.
 */
const SLOT_EXPIRY_MS = 2_000

/** Minimum number of slots on an exhausted day, for every plan: eight clients can retry at the same time. */
const MIN_SLOTS_OF_DAY = 8

/** The state of both windows, the minute and the day, when a request arrives. */
export interface Windows {
  /** Number of units in the bucket. */
  readonly level: number
  /** Whether the day has too few requests left for the request. */
  readonly isDayUsedUp: boolean
}

/** Returns the remaining part of `debt`, `elapsedMs` milliseconds after the caller's last request. */
export const after = (
  debt: number,
  elapsedMs: number,
  { isDayUsedUp, level }: Windows,
  plan: Plan
): number => {
  if (isDayUsedUp) return Math.max(debt - Math.floor(elapsedMs / SLOT_EXPIRY_MS), 0)
  return level === TokenBucket.capacity(plan.perMinute) ? 0 : debt
}

/**
 * Returns the maximum number of open slots: the number of available tokens plus the capacity of the bucket in tokens
 * (on an exhausted day, at least `MIN_SLOTS_OF_DAY`).
 */
export const limit = ({ isDayUsedUp, level }: Windows, { perMinute }: Plan): number =>
  TokenBucket.remaining(level) + (isDayUsedUp ? Math.max(perMinute, MIN_SLOTS_OF_DAY) : perMinute)
