/**
 * Creates the rate-limit headers: the headers of contract §8.3, and the headers `RateLimit` and `RateLimit-Policy` of
 * draft-ietf-httpapi-ratelimit-headers, which show both windows.
 */
import type { Verdict } from "../limits/RateLimit.ts"

/** Seconds in `Retry-After` when a store is unavailable. */
export const UNAVAILABLE_RETRY_AFTER = 5

/** Returns a new list of the headers of contract §8.3, and of the standard headers if `isStandard`. */
export const of = (verdict: Verdict, isStandard: boolean): Array<string> => {
  const headers = isStandard ? standard(verdict) : []
  headers.push("X-RateLimit-Limit", String(verdict.limit), "X-RateLimit-Remaining", String(verdict.remaining))
  headers.push("X-RateLimit-Reset", String(verdict.resetAt))
  return headers
}

/**
 * Returns the standard headers: for both windows the quota (`q`) and the length in seconds (`w`), and the remaining
 * requests (`r`) with the seconds until the window grants more (`t`).
 *
 * @example
 * ```ts
 * // RateLimit-Policy: "minute";q=60;w=60, "day";q=1000;w=86400
 * // RateLimit: "minute";r=59;t=1, "day";r=999;t=43200
 * ```
 */
const standard = ({ day, minute }: Verdict): Array<string> => [
  "RateLimit-Policy",
  `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`,
  "RateLimit",
  `"minute";r=${minute.remaining}${until(minute.moreIn)}, "day";r=${day.remaining}${until(day.moreIn)}`
]

/** Returns the `t` parameter, or an empty string for a full window. */
const until = (seconds: number): string => (seconds === 0 ? "" : `;t=${seconds}`)
