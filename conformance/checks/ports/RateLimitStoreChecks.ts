/** The promises of RateLimitStore. */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
