/**
 * The per-minute limit as a token bucket in integers: a token is worth 60 000 units, a plan of n requests per minute
 * refills n units each millisecond. No division and no fraction, so nothing drifts for any plan.
 *
 * A full bucket of 60 admits 60 requests at once and up to 119 in its first minute (60 stored + 59 refilled).
 */

const MINUTE_MS = 60_000

/** Units that one request takes. */
export const COST = MINUTE_MS

/** What is kept of one caller's minute. */
export interface TokenBucket {
  /** Units stored at the moment `at`. */
  readonly level: number
  /** Epoch milliseconds; does not move back with the clock, so that nothing is refilled twice. */
  readonly at: number
}

/** Units in a full bucket of a plan with so many requests per minute. */
export const capacity = (perMinute: number): number => perMinute * MINUTE_MS

/** Units stored at `now`; a lowered plan caps them, a raised one keeps them. */
export const levelAt = (bucket: TokenBucket, now: number, perMinute: number): number => {
  const elapsed = Math.min(Math.max(now - bucket.at, 0), MINUTE_MS)
  return Math.min(bucket.level + elapsed * perMinute, capacity(perMinute))
}

/** Whole requests that `level` pays for. */
export const remaining = (level: number): number => Math.floor(level / COST)

/** Epoch milliseconds at which a bucket with `level` units at `at` has reached `target` units. */
export const reaches = (level: number, at: number, target: number, perMinute: number): number =>
  level >= target ? at : at + Math.ceil((target - level) / perMinute)

/** Epoch milliseconds from which the bucket is full, whatever its plan: a minute refills any of them. */
export const fullBy = (at: number): number => at + MINUTE_MS
