/** What every response has, whatever the request: rate limit headers, JSON, and an Error body from 400 on (contract §7, §8.3). */
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

/** The laws of every exchange that need no other exchange. */
const laws = [...RateLimitHeaderChecks.checks, ...HeaderChecks.checks, ...ErrorChecks.checks].filter(
  ({ id }) => NAMES.has(id)
)

/** The clauses of those laws, for the laws that use them. */
export const clauses = [
  "limits.headers-present",
  "limits.header-types",
  "limits.reset-ahead",
  "limits.reset-not-past",
  "http.json-bodies",
  "errors.body"
] as const

/** Fails unless the response has what every response has. */
export const holds = (exchange: Exchange): Effect.Effect<void, Violation> => {
  for (const { examine, isAbout } of laws) {
    const violation = isAbout(exchange, undefined, []) ? examine(exchange, undefined, []) : undefined
    if (violation !== undefined) return Effect.fail(violation)
  }
  return Effect.void
}
