/** Laws about the rate limit headers of all responses of a run (contract §8.3, §8.4). */
import { maxRetryAfter } from "../../../core/limits/RateLimit.ts"
import { isOfService, transportStatuses } from "../../http/ByService.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as Moment from "../../http/Moment.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { header, headerValues } from "../../http/Wire.ts"
import type { AmbientCheck, Look } from "../AmbientCheck.ts"
import {
  about,
  isOfValidKey,
  iso,
  momentsOf,
  ofLevel,
  rateOf,
  received,
  unless,
  violation
} from "./ExchangeLaws.ts"

const DAY_MS = 86_400_000

/** Tolerance in ms for the times of an exchange. */
const SLACK_MS = 500

/** Minimum Reset that must be in milliseconds since 1970; in seconds it would be in the year 5138. */
const MIN_MILLISECONDS = 100_000_000_000

const rateNames = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const

const isDenial = ({ response }: Exchange): boolean => response.status === 429 || response.status === 403

/** Formats epoch seconds, with the date if it is plausible. */
const dated = (seconds: number): string =>
  seconds < MIN_MILLISECONDS ? `${seconds} (${Moment.iso(seconds * 1_000)})` : String(seconds)

/** The rate headers of two consecutive responses with the same limit. */
interface Succession {
  readonly before: RateHeaders.RateHeaders
  readonly after: RateHeaders.RateHeaders
}

const successionOf = (exchange: Exchange, previous: Exchange): Succession | undefined => {
  const before = rateOf(previous)
  const after = rateOf(exchange)
  return before === undefined || after === undefined || before.limit !== after.limit
    ? undefined
    : { before, after }
}

/** Maximum difference in seconds between the advance of Reset and the elapsed time if the window is the same. */
const MAX_RESET_SHIFT_S = 75

/** Returns the rate headers of two consecutive successes that show the same window; `undefined` for others. */
const sameWindowSuccession: Look<Succession | undefined> = (exchange, previous) => {
  // Keys may share a budget (contract §8), so no other request may be between the two.
  if (previous === undefined || previous.index !== exchange.index - 1) return undefined
  if (!isOfValidKey(exchange) || exchange.response.status >= 300 || previous.response.status >= 300)
    return undefined
  const succession = successionOf(exchange, previous)
  if (succession === undefined) return undefined
  // Minute and day may have the same limit; their resets are far apart.
  const { after, before } = succession
  const moved = after.resetAt - before.resetAt - (exchange.receivedAt - previous.sentAt) / 1_000
  return Math.abs(moved) > MAX_RESET_SHIFT_S ? undefined : succession
}

/**
 * Returns the rate headers of two consecutive successes if the second shows fewer requests left in the same window. If
 * as many are left, the window may have refilled, and a server that refills it in steps may show an earlier reset.
 */
const fallingSuccession: Look<Succession | undefined> = (...look) => {
  const succession = sameWindowSuccession(...look)
  return succession !== undefined && succession.after.remaining < succession.before.remaining
    ? succession
    : undefined
}

/** Returns `Date` in epoch ms, or NaN. */
const dateOf = ({ response }: Exchange): number => Date.parse(header(response, "date") ?? "")

/**
 * Returns the rate headers of two consecutive responses to a valid key on the same UTC day, and the maximum time in ms
 * between them; `undefined` for other exchanges.
 */
const timedSuccession: Look<(Succession & { readonly ms: number }) | undefined> = (exchange, previous) => {
  // Requests with other credentials may count for the same key.
  if (previous === undefined || previous.index !== exchange.index - 1) return undefined
  if (!isOfValidKey(exchange) || !isOfValidKey(previous)) return undefined
  if (transportStatuses.has(exchange.response.status) || transportStatuses.has(previous.response.status))
    return undefined
  // During a ban Remaining does not show the window, and a 400 may be sent before the key is read.
  const isSilent = ({ response: { status } }: Exchange) => status === 429 || status === 400
  if (isSilent(exchange) || isSilent(previous)) return undefined
  const succession = successionOf(exchange, previous)
  // The run's own times are used, because a server may write Date by another clock than that of the service. If the
  // clock stands still between two readings, these times are too close together; Date then gives a longer time.
  const from = previous.sentAt - SLACK_MS
  const to = exchange.receivedAt + SLACK_MS
  if (succession === undefined) return undefined
  const byDate = dateOf(exchange) - dateOf(previous) + 1_000
  const ms = Math.max(to - from, Number.isNaN(byDate) ? 0 : byDate)
  return Math.floor(from / DAY_MS) === Math.floor(to / DAY_MS) ? { ...succession, ms } : undefined
}

/** Tolerance in seconds between two resets of one window, for rounding. */
const RESET_SLACK_S = 2

/** Whether a response with this status must have Retry-After. */
const hasRetryAfter = (status: number): boolean => status === 429 || status === 503

export const checks: ReadonlyArray<AmbientCheck> = [
  ...ofLevel("spec", [
    {
      id: "every.rate-headers",
      law: "Every response has X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, once each.",
      clauses: ["limits.headers-present"],
      isAbout: isOfService,
      examine: (exchange) => {
        const wrong = rateNames.find((name) => headerValues(exchange.response, name).length !== 1)
        return wrong === undefined
          ? undefined
          : violation(
              `${wrong} once in every response`,
              `${exchange.response.status} where ${received(exchange, wrong)}`
            )
      }
    },
    {
      id: "every.rate-integers",
      law: "The three rate headers are non-negative decimal integers.",
      clauses: ["limits.header-types"],
      isAbout: ({ response }) => rateNames.some((name) => headerValues(response, name).length > 0),
      examine: ({ response }) => {
        for (const name of rateNames) {
          const wrong = headerValues(response, name).find((value) => !/^[0-9]+$/.test(value))
          if (wrong !== undefined) return violation(`${name} to be a decimal integer`, JSON.stringify(wrong))
        }
        return undefined
      }
    },
    {
      id: "every.remaining-within",
      law: "X-RateLimit-Remaining is at most X-RateLimit-Limit.",
      clauses: ["limits.remaining-within"],
      ...about(rateOf, ({ limit, remaining }) =>
        unless(remaining <= limit, `at most ${limit} remaining, the limit`, `${remaining} remaining`)
      )
    },
    {
      id: "every.remaining-falls-by-one",
      law: "Between two consecutive successes of one key, Remaining of the same window falls by at most one.",
      clauses: ["limits.remaining-truth"],
      ...about(sameWindowSuccession, ({ after, before }) =>
        unless(
          after.remaining >= before.remaining - 1,
          `at least ${before.remaining - 1} remaining after one more request`,
          `${after.remaining} remaining, ${before.remaining} before`
        )
      )
    },
    {
      id: "every.reset-forward",
      law: "Between two consecutive successes of one key, the Reset of a window with fewer requests left does not move back.",
      clauses: ["limits.reset-forward"],
      ...about(fallingSuccession, ({ after, before }) =>
        unless(
          after.resetAt >= before.resetAt - RESET_SLACK_S,
          `X-RateLimit-Reset ${dated(before.resetAt)}, as shown before, or later`,
          dated(after.resetAt)
        )
      )
    },
    {
      id: "every.reset-unix-seconds",
      law: "X-RateLimit-Reset is a Unix time in seconds.",
      clauses: ["limits.reset-unix-seconds"],
      ...about(rateOf, ({ resetAt }, exchange) => {
        const expected = "X-RateLimit-Reset in seconds since 1970"
        if (resetAt >= MIN_MILLISECONDS) return violation(expected, `${resetAt}, as if in milliseconds`)
        // A Reset in the distant past must be a number of seconds to wait. Callers without a key may have no window.
        const isDuration = isOfValidKey(exchange) && resetAt * 1_000 < exchange.sentAt / 2
        return unless(!isDuration, expected, `${resetAt}, as if in seconds from now`)
      })
    },
    {
      id: "every.reset-ahead",
      law: "For a valid key that is not denied, X-RateLimit-Reset is at most a day ahead.",
      clauses: ["limits.reset-ahead"],
      ...about(
        (exchange) => (isOfValidKey(exchange) && !isDenial(exchange) ? rateOf(exchange) : undefined),
        ({ resetAt }, exchange) =>
          unless(
            resetAt * 1_000 <= momentsOf(exchange)[1] + DAY_MS,
            "X-RateLimit-Reset at most a day ahead",
            `${dated(resetAt)} at ${iso(exchange)}`
          )
      )
    },
    {
      id: "every.reset-not-past",
      law: "For a valid key, X-RateLimit-Reset is not in the past.",
      clauses: ["limits.reset-not-past"],
      ...about(
        (exchange) => (isOfValidKey(exchange) ? rateOf(exchange) : undefined),
        ({ resetAt }, exchange) =>
          unless(
            resetAt * 1_000 >= momentsOf(exchange)[0],
            "X-RateLimit-Reset now or later",
            `${dated(resetAt)} at ${iso(exchange)}`
          )
      )
    },
    {
      id: "every.retry-after",
      profile: "limits",
      law: "Every 429 has Retry-After once, as a whole number of seconds or an HTTP date.",
      clauses: ["limits.retry-after-present"],
      isAbout: ({ response }) => response.status === 429,
      examine: (exchange) =>
        unless(
          RateHeaders.retryAfterSeconds(exchange) !== undefined,
          "Retry-After with a 429: whole seconds or a date",
          received(exchange, "Retry-After")
        )
    }
  ]),
  ...ofLevel("design", [
    {
      id: "every.retry-after-seconds",
      profile: "limits",
      law: `Retry-After is sent only with 429 and 503, as whole seconds from 1 to ${maxRetryAfter}.`,
      clauses: ["limits.retry-after-seconds"],
      isAbout: ({ response }) =>
        hasRetryAfter(response.status) || headerValues(response, "retry-after").length > 0,
      examine: (exchange) => {
        const { status } = exchange.response
        const values = headerValues(exchange.response, "retry-after")
        if (!hasRetryAfter(status)) return violation(`no Retry-After with ${status}`, values.join(", "))
        const isWhole = values.length === 1 && /^[1-9][0-9]{0,6}$/.test(values[0] ?? "")
        return unless(
          isWhole && Number(values[0]) <= maxRetryAfter,
          `Retry-After in whole seconds from 1 to ${maxRetryAfter}`,
          received(exchange, "Retry-After")
        )
      }
    },
    {
      id: "every.refused-remaining",
      profile: "limits",
      law: "Every 429 shows X-RateLimit-Remaining 0.",
      clauses: ["limits.window-shown-denied"],
      ...about(
        (exchange) => (exchange.response.status === 429 ? rateOf(exchange) : undefined),
        ({ remaining }) => unless(remaining === 0, "X-RateLimit-Remaining 0 with 429", String(remaining))
      )
    },
    {
      id: "every.remaining-arithmetic",
      law: "Each request lowers Remaining by one, and Remaining rises by no more than the elapsed time allows.",
      clauses: ["limits.every-request-costs", "limits.bucket-refill", "limits.remaining-floor"],
      ...about(timedSuccession, ({ after, before, ms }) => {
        const min = Math.max(before.remaining - 1, 0)
        const max = Math.max(before.remaining - 1 + Math.ceil((ms * before.limit) / 60_000), 0)
        return unless(
          after.remaining >= min && after.remaining <= max,
          `from ${min} to ${max} remaining, after ${before.remaining}`,
          `${after.remaining} remaining`
        )
      })
    }
  ])
]
