/** Creates the keys of callers as the service passes them to its stores, and counts their requests. */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import type * as RateLimit from "../../core/limits/RateLimit.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { UNREACHABLE_LIMIT } from "../http/Catalogue.ts"

/** Limits that are never reached. */
export const unlimited: RateLimit.Policy = {
  plan: { perMinute: UNREACHABLE_LIMIT, perDay: UNREACHABLE_LIMIT },
  ban: BanPolicy.standard
}

/** Returns the key of a caller; each call creates a new string, as each request does. */
const keyOf = (index: number): string => `key:key_${index.toString(36).padStart(11, "0")}`

/** Returns the keys of `count` callers from index `start` on. */
export const keys = (start: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => keyOf(start + index))

const STRIDE = 7_919

/** Returns the key of one of `size` callers; consecutive indexes give distant callers, so processor caches do not help. */
export const scatteredKey = (index: number, size: number): string => keyOf((index * STRIDE) % size)

/** Counts one request as the service does. */
export const consume = (
  limits: RateLimitStore["Service"],
  key: string,
  now: number,
  policy: RateLimit.Policy
) => limits.consume(key, now, policy)
