/** The per-day limit: requests counted by UTC calendar day, as plain integers without `Date` or time zone. */

const DAY_MS = 86_400_000

/** What is kept of one caller's day. */
export interface DailyQuota {
  /** Days since 1970-01-01 UTC; moves forward only, unless the clock was put back by more than a minute. */
  readonly day: number
  /** Requests admitted on that day. */
  readonly used: number
}

/** The day of a moment in epoch milliseconds. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS)

/** The day that counts at `now`. */
export const dayAt = (stored: number, now: number): number => Math.max(stored, dayOf(now))

/** Epoch milliseconds of the midnight that ends `day`. */
export const endOf = (day: number): number => (day + 1) * DAY_MS
