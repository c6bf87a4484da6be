/**
 * Creates the rate-limit headers: the headers of contract §8.3, and the headers `RateLimit` and `RateLimit-Policy` of
 * draft-ietf-httpapi-ratelimit-headers, which show both windows.
 */
import type { Verdict } from "../limits/RateLimit.ts"

/**
 * Returns the headers of contract §8.3 and, if `isStandard`, the standard headers: for both windows the quota (`q`) and
 * the length in seconds (`w`), and the remaining requests (`r`) with the seconds until the window grants more (`t`).
 *
 * @example
 * ```ts
 * // RateLimit-Policy: "minute";q=60;w=60, "day";q=1000;w=86400
 * // RateLimit: "minute";r=59;t=1, "day";r=999;t=43200
 * ```
 */
export const of = (
  { day, limit, minute, remaining, resetAt }: Verdict,
  isStandard: boolean
): Array<string> => {
  const contract = [names[0], String(limit), names[1], String(remaining), names[2], String(resetAt)]
  if (!isStandard) return contract
  const policy = `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`
  const rest = `"minute";r=${minute.remaining}${until(minute.moreIn)}, "day";r=${day.remaining}${until(day.moreIn)}`
  return contract.concat("RateLimit-Policy", policy, "RateLimit", rest)
}

const names = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const

/** Returns the `t` parameter, or an empty string for a full window. */
const until = (seconds: number): string => (seconds === 0 ? "" : `;t=${seconds}`)
