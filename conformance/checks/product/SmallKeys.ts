/** Defines how long the limits of small keys take to refill, and which statuses a denied key gets (contract §8). */

/** Milliseconds after which any one-minute window has ended. */
export const MINUTE_PASSED = 61_000

/** Milliseconds after which a key that sent nothing has its full per-minute and daily limits again. */
export const DAY_PASSED = 86_461_000

/** Statuses of a denied key: it is over its limit, or banned. */
export const DENIED: ReadonlySet<number> = new Set([403, 429])
