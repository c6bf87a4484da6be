/**
 * Slots promised to denied requests. A denied request is told when a token will be there for it and for everybody who
 * was told so before, so that clients that wait as told do not come back for the same token.
 *
 * A debt is a count of slots. A denied request adds one, an admitted request pays one, and a full bucket has a token for
 * all. A debt never decides on an admission: it only moves `Retry-After` and counts strikes.
 */
import type { Plan } from "./Plan.ts"
import * as TokenBucket from "./TokenBucket.ts"

/**
 * Milliseconds in which one slot of a used-up day is forgiven. Its slots are all due at midnight, but clients look in
 * earlier: many wait for 30 s at most. Eight of them that come every 30 s stay far below.
 */
const FORGIVEN_EVERY_MS = 2_000

/** Slots of a used-up day that even the smallest plan has: for eight clients that look in at the same moment. */
const MIN_SLOTS_OF_DAY = 8

/** What a request finds when it comes: the windows as they are now. */
export interface Windows {
  /** Units in the bucket. */
  readonly level: number
  readonly isDayUsedUp: boolean
}

/** The debt `elapsedMs` after the caller's last request, which left `debt`. */
export const after = (
  debt: number,
  elapsedMs: number,
  { isDayUsedUp, level }: Windows,
  plan: Plan
): number => {
  if (isDayUsedUp) return Math.max(debt - Math.floor(elapsedMs / FORGIVEN_EVERY_MS), 0)
  return level === TokenBucket.capacity(plan.perMinute) ? 0 : debt
}

/** Most slots that may be promised: as many as a bucket holds, beyond the tokens that are there already. */
export const limit = ({ isDayUsedUp, level }: Windows, { perMinute }: Plan): number =>
  TokenBucket.remaining(level) + (isDayUsedUp ? Math.max(perMinute, MIN_SLOTS_OF_DAY) : perMinute)
