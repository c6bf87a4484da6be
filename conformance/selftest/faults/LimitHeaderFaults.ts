/** Defines faults in the rate-limit headers. */
import * as Plan from "../../../core/limits/Plan.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import { header } from "../../http/Wire.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"

const LIMIT = "X-RateLimit-Limit"
const REMAINING = "X-RateLimit-Remaining"
const RESET = "X-RateLimit-Reset"

/** Returns the next midnight in UTC, in epoch seconds. */
const nextDay = (now: number): number =>
  (Math.floor(now / RateLimits.DAY_MS) + 1) * (RateLimits.DAY_MS / 1000)

export const faults: ReadonlyArray<Fault> = [
  fault("limits.no-headers-on-4xx", "Omits X-RateLimit-Remaining from errors other than 401 and 429.")
    .breaks("limits.headers-present", "every.rate-headers", "X-RateLimit-Remaining is missing")
    .by(
      AtHttp.responses({ status: (status) => [400, 404, 405, 415].includes(status) }, Edit.without(REMAINING))
    ),
  fault("limits.no-headers-on-401", "Omits X-RateLimit-Reset from a 401.")
    .breaks("limits.headers-present", "every.rate-headers", "401 where X-RateLimit-Reset is missing")
    .by(AtHttp.responses({ status: 401 }, Edit.without(RESET))),
  fault("limits.no-headers-on-429", "Omits X-RateLimit-Limit from denials.")
    .breaks("limits.headers-present", "every.rate-headers", "429 where X-RateLimit-Limit is missing")
    .by(AtHttp.responses({ status: 429 }, Edit.without(LIMIT))),
  fault("limits.headers-twice", "Sends X-RateLimit-Remaining twice with a denial, once for each window.")
    .breaks("limits.headers-present", "every.rate-headers", "X-RateLimit-Remaining: 0 and 0")
    .by(
      AtHttp.responses({ status: 429 }, (response) => ({
        ...response,
        headers: [...response.headers, [REMAINING, "0"]]
      }))
    ),
  fault(
    "limits.header-with-window",
    "Adds the window to X-RateLimit-Limit, as drafts of the RateLimit headers did."
  )
    .breaks("limits.header-types", "every.rate-integers", "100000;w=60")
    .by(
      AtHttp.responses({}, (response) => {
        const limit = header(response, LIMIT) ?? ""
        return Edit.header(LIMIT, `${limit}, ${limit};w=60`)(response)
      })
    ),
  fault("limits.negative-remaining", "Shows -1 remaining requests in denials.")
    .breaks(
      "limits.header-types",
      "every.rate-integers",
      'X-RateLimit-Remaining to be a decimal integer "-1"'
    )
    .by(RateLimits.showsDenied(() => ({ remaining: -1 }))),
  fault(
    "limits.remaining-above-limit",
    "Shows one remaining request more than the limit when the bucket is full."
  )
    .breaks("limits.remaining-within", "every.remaining-within", "the limit 100001 remaining")
    .by(
      RateLimits.shows(({ limit, remaining }) => (remaining === limit - 1 ? { remaining: limit + 1 } : {}))
    ),
  fault("limits.counts-twice", "Counts each request twice, as two layers of middleware do.")
    .breaks("limits.remaining-truth", "every.remaining-falls-by-one", "99996 remaining, 99998 before")
    .by(
      RateLimits.decides((state, now, policy) => {
        const [, once] = RateLimit.step(state, now, policy)
        return RateLimit.step(once, now, policy)
      })
    ),
  fault("limits.remaining-before", "Shows the number of requests that remained before the current one.")
    .breaks("limits.remaining-truth", "limits.remaining-kept", "Remaining 1, and the next request denied")
    .by(RateLimits.showsAdmitted(({ remaining }) => ({ remaining: remaining + 1 }))),
  fault("limits.remaining-constant", "Always shows the same number of remaining requests.")
    .breaks("limits.remaining-truth", "limits.remaining-kept", "and the next request denied")
    .by(RateLimits.showsAdmitted(({ limit }) => ({ remaining: limit - 1 }))),
  fault("limits.remaining-less", "Shows one remaining request too few.")
    .breaks("limits.remaining-bound", "limits.remaining-bound", "Remaining 3 4 admitted")
    .by(RateLimits.shows(({ remaining }) => ({ remaining: Math.max(remaining - 1, 0) }))),
  fault("limits.denied-with-remaining", "Shows three remaining requests in denials.")
    .breaks("limits.window-shown-denied", "every.refused-remaining", "Remaining 0 with 429 3")
    .by(RateLimits.showsDenied(() => ({ remaining: 3 }))),
  fault("limits.limit-of-another-plan", "Shows the limit of the Free plan for every key.")
    .breaks("limits.plan-in-force", "limits.plan-shown", "the plan of the key Limit 60")
    .by(RateLimits.shows(() => ({ limit: Plan.standard.Free.perMinute }))),
  fault(
    "limits.always-shows-day",
    "Always shows the daily limit, even when fewer requests remain in the minute."
  )
    .breaks("limits.window-shown", "bucket.remaining", "remaining 39 of 40")
    .by(
      RateLimits.decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        const { perDay } = policy.plan
        return [{ ...verdict, limit: perDay, remaining: perDay - next.used, resetAt: nextDay(now) }, next]
      })
    ),
  fault("limits.mixed-windows", "Shows the minute's limit with the day's reset.")
    .breaks("limits.window-single", "bucket.reset", "of the window of 5 1796515200")
    .by(RateLimits.shows((_verdict, now) => ({ resetAt: nextDay(now) }))),
  fault(
    "limits.reset-of-two-clocks",
    "Adds 20 s to every second reset, as two nodes with different clocks do."
  )
    .breaks("limits.reset-forward", "every.reset-forward", "as shown before, or later")
    .by(
      RateLimits.showsAdmitted(({ remaining, resetAt }) => ({
        resetAt: remaining % 2 === 0 ? resetAt : resetAt + 20
      }))
    ),
  fault("limits.reset-in-ms", "Sends the reset in milliseconds.")
    .breaks("limits.reset-unix-seconds", "every.reset-unix-seconds", "as if in milliseconds")
    .by(RateLimits.shows(({ resetAt }) => ({ resetAt: resetAt * 1000 }))),
  fault("limits.reset-as-delta", "Sends the number of seconds until the reset instead of its time.")
    .breaks("limits.reset-unix-seconds", "every.reset-unix-seconds", "as if in seconds from now")
    .by(RateLimits.shows(({ resetAt }, now) => ({ resetAt: resetAt - Math.floor(now / 1000) }))),
  fault("limits.reset-in-past", "Sends a reset that is a minute in the past.")
    .breaks("limits.reset-not-past", "every.reset-not-past", "08:59:00.000Z) at")
    .by(RateLimits.shows((_verdict, now) => ({ resetAt: Math.floor(now / 1000) - 60 }))),
  fault("limits.reset-in-days", "Sends a reset that is five days too late.")
    .breaks("limits.reset-ahead", "every.reset-ahead", "(2026-12-06T09:00")
    .by(RateLimits.shows(({ resetAt }) => ({ resetAt: resetAt + 5 * 86_400 }))),
  fault("limits.reset-too-early", "Sends a reset at which requests are still denied.")
    .breaks("limits.reset-truth", "limits.reset-kept", "429 a second after it")
    .by(RateLimits.showsDenied((_verdict, now) => ({ resetAt: Math.ceil(now / 1000) + 1 }))),
  fault(
    "limits.reset-of-next-token",
    "Sends the time of the next token as the reset, instead of the time of the full bucket."
  )
    .breaks("limits.reset-full", "bucket.reset", "of the window of 5 1796461452")
    .by(RateLimits.showsDenied(({ retryAfter }, now) => ({ resetAt: Math.ceil(now / 1000) + retryAfter })))
]
