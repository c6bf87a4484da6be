/**
 * Applies the checks that every response must pass: rate limit headers, a JSON body, and an Error body for a status of
 * 400 or more (contract §7, §8.3).
 */
import * as Effect from "effect/Effect"
import type { Violation } from "../../evaluation/Outcome.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as ErrorChecks from "../exchanges/ErrorChecks.ts"
import * as HeaderChecks from "../exchanges/HeaderChecks.ts"
import * as RateLimitHeaderChecks from "../exchanges/RateLimitHeaderChecks.ts"

const NAMES: ReadonlySet<string> = new Set([
  "every.rate-headers",
  "every.rate-integers",
  "every.remaining-within",
  "every.reset-unix-seconds",
  "every.reset-ahead",
  "every.reset-not-past",
  "every.json-body",
  "every.json-type",
  "every.error-body",
  "every.error-status"
])

/** The checks with these ids; each examines one exchange without its history. */
const laws = [...RateLimitHeaderChecks.checks, ...HeaderChecks.checks, ...ErrorChecks.checks].filter(
  ({ id }) => NAMES.has(id)
)

/** Clauses that `check` tests; checks that call it list them among their own. */
export const clauses = [
  "limits.headers-present",
  "limits.header-types",
  "limits.reset-ahead",
  "limits.reset-not-past",
  "http.json-bodies",
  "errors.body"
] as const

/** Applies the checks to one exchange; fails with the first violation. */
export const check = (exchange: Exchange): Effect.Effect<void, Violation> => {
  for (const { examine, isAbout } of laws) {
    const violation = isAbout(exchange, undefined, []) ? examine(exchange, undefined, []) : undefined
    if (violation !== undefined) return Effect.fail(violation)
  }
  return Effect.void
}
