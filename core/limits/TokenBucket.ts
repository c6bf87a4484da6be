/**
 * Computes the per-minute limit as a token bucket in integers: a token has 60,000 units, and a plan of n requests per
 * minute refills n units per millisecond. Refilling needs no division and therefore causes no rounding errors.
 *
 * A full bucket of 60 tokens admits 60 requests immediately and up to 119 in its first minute (60 stored + 59
 * refilled).
 */

const MINUTE_MS = 60_000

/** Number of units that one request costs. */
export const COST = MINUTE_MS

/** The stored state of one caller's bucket. */
export interface TokenBucket {
  /** Number of units at the time `at`. */
  readonly level: number
  /**
   * Epoch milliseconds. Moves back only if the clock was set back by more than a minute, so that no unit is refilled
   * twice when the clocks of nodes differ.
   */
  readonly at: number
}

/** Returns the number of units in a full bucket. */
export const capacity = (perMinute: number): number => perMinute * MINUTE_MS

/** Returns the number of units at `now`. A lowered plan caps them; a raised plan only refills them faster. */
export const levelAt = (bucket: TokenBucket, now: number, perMinute: number): number => {
  const elapsed = Math.min(Math.max(now - bucket.at, 0), MINUTE_MS)
  return Math.min(bucket.level + elapsed * perMinute, capacity(perMinute))
}

/** Returns the number of whole requests that `level` units admit. */
export const remaining = (level: number): number => Math.floor(level / COST)

/** Returns the epoch milliseconds at which a bucket with `level` units at `at` reaches `target` units. */
export const reaches = (level: number, at: number, target: number, perMinute: number): number =>
  level >= target ? at : at + Math.ceil((target - level) / perMinute)

/** Returns the epoch milliseconds from which the bucket is full; a minute refills the bucket of any plan. */
export const fullBy = (at: number): number => at + MINUTE_MS
