/**
 * The per-minute limit as a token bucket in integers: a token has 60 000 units, and a plan of n requests per minute
 * refills n units per millisecond. Without divisions and fractions, there are no rounding errors for any plan.
 *
 * A full bucket of 60 admits 60 requests at once and up to 119 in its first minute (60 stored + 59 refilled).
 */

const MINUTE_MS = 60_000

/** Units that one request costs. */
export const COST = MINUTE_MS

/** The stored state of one caller's bucket. */
export interface TokenBucket {
  /** Units stored at the moment `at`. */
  readonly level: number
  /** Epoch milliseconds; does not move back with the clock, so that no unit is refilled twice. */
  readonly at: number
}

/** Returns the units in a full bucket. */
export const capacity = (perMinute: number): number => perMinute * MINUTE_MS

/** Returns the units stored at `now`; a lowered plan caps them, a raised plan does not change them. */
export const levelAt = (bucket: TokenBucket, now: number, perMinute: number): number => {
  const elapsed = Math.min(Math.max(now - bucket.at, 0), MINUTE_MS)
  return Math.min(bucket.level + elapsed * perMinute, capacity(perMinute))
}

/** Returns the number of whole requests that `level` units admit. */
export const remaining = (level: number): number => Math.floor(level / COST)

/** Returns the epoch milliseconds at which a bucket with `level` units at `at` reaches `target` units. */
export const reaches = (level: number, at: number, target: number, perMinute: number): number =>
  level >= target ? at : at + Math.ceil((target - level) / perMinute)

/** Returns the epoch milliseconds from which the bucket is full: a minute refills the bucket of every plan. */
export const fullBy = (at: number): number => at + MINUTE_MS
