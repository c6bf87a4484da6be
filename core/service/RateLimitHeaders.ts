/**
 * Creates the rate-limit headers: the headers of contract §8.3, and the headers `RateLimit` and `RateLimit-Policy` of
 * draft-ietf-httpapi-ratelimit-headers, which show both windows.
 */
import type { Verdict } from "../limits/RateLimit.ts"
import type { FlatHeaders } from "./ServiceResponse.ts"

/** Returns the headers of contract §8.3. */
export const ofContract = ({ limit, remaining, resetAt }: Verdict): FlatHeaders => [
  "X-RateLimit-Limit",
  String(limit),
  "X-RateLimit-Remaining",
  String(remaining),
  "X-RateLimit-Reset",
  String(resetAt)
]

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
export const standard = ({ day, minute }: Verdict): FlatHeaders => [
  "RateLimit-Policy",
  `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`,
  "RateLimit",
  `"minute";r=${minute.remaining}${until(minute.moreIn)}, "day";r=${day.remaining}${until(day.moreIn)}`
]

/** Returns the `t` parameter, or an empty string for a full window. */
const until = (seconds: number): string => (seconds === 0 ? "" : `;t=${seconds}`)
