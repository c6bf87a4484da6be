/** The per-day limit: requests counted by UTC calendar day, as plain integers without `Date` or time zone. */

const DAY_MS = 86_400_000

/** What is kept of one caller's day. */
export interface DailyQuota {
  /** Days since 1970-01-01 UTC; only moves forward, so a clock stepping back over midnight refunds nothing. */
  readonly day: number
  /** Requests admitted on that day. */
  readonly used: number
}

/** The day that counts at `now`. */
export const dayAt = (stored: number, now: number): number => Math.max(stored, Math.floor(now / DAY_MS))

/** Epoch milliseconds of the midnight that ends `day`. */
export const endOf = (day: number): number => (day + 1) * DAY_MS
