/** Computes the per-day limit: requests per UTC calendar day, in plain integers without `Date` or time zones. */

const DAY_MS = 86_400_000

/** The stored state of one caller's quota. */
export interface DailyQuota {
  /** Days since 1970-01-01 UTC; decreases only if the clock was set back by more than a minute. */
  readonly day: number
  /** Number of requests admitted on that day. */
  readonly used: number
}

/** Returns the day of a time in epoch milliseconds. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS)

/** Returns the effective day at `now`: the current day, or the stored day if that is later. */
export const dayAt = (stored: number, now: number): number => Math.max(stored, dayOf(now))

/** Returns the epoch milliseconds of the midnight that ends `day`. */
export const endOf = (day: number): number => (day + 1) * DAY_MS
