/** Defines how long the limits of small keys take to be free again, and how a denied key is recognised (contract §8). */

/** Milliseconds in which any window of a minute passes. */
export const MINUTE_PASSED = 61_000

/** Milliseconds after which a key that sent nothing has all its requests of a minute and of a day left. */
export const DAY_PASSED = 86_461_000

/** Statuses of a denied key: it is over its limit, or banned. */
export const DENIED: ReadonlySet<number> = new Set([403, 429])
