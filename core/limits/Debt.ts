/**
 * Retry slots of denied requests. Each denied request gets a slot of its own: `Retry-After` points to a token after
 * those promised to earlier denied requests, so that waiting clients do not all retry for the same token.
 *
 * A debt is the number of open slots. A denied request adds one, an admitted request removes one, and a full bucket
 * clears all. The debt never affects admission: it only delays `Retry-After` and determines strikes.
 */
import type { Plan } from "./Plan.ts"
import * as TokenBucket from "./TokenBucket.ts"

/**
 * Milliseconds after which one slot of an exhausted day expires. All its slots are due at midnight, but many clients
 * wait at most 30 s and retry earlier. Eight clients that retry every 30 s stay far below this rate.
 */
const SLOT_EXPIRY_MS = 2_000

/** Minimum number of slots on an exhausted day, for every plan: enough for eight clients that retry at once. */
const MIN_SLOTS_OF_DAY = 8

/** The state of both windows when a request arrives. */
export interface Windows {
  /** Units in the bucket. */
  readonly level: number
  readonly isDayUsedUp: boolean
}

/** Returns what remains of `debt`, `elapsedMs` after the caller's last request. */
export const after = (
  debt: number,
  elapsedMs: number,
  { isDayUsedUp, level }: Windows,
  plan: Plan
): number => {
  if (isDayUsedUp) return Math.max(debt - Math.floor(elapsedMs / SLOT_EXPIRY_MS), 0)
  return level === TokenBucket.capacity(plan.perMinute) ? 0 : debt
}

/** Returns the maximum number of open slots: one for each available token, and as many as a full bucket holds. */
export const limit = ({ isDayUsedUp, level }: Windows, { perMinute }: Plan): number =>
  TokenBucket.remaining(level) + (isDayUsedUp ? Math.max(perMinute, MIN_SLOTS_OF_DAY) : perMinute)
