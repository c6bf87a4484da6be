/** The laws of every response, whatever was asked: its body (§1, §2, §7), its rate headers (§8.3) and Retry-After (§8.4). */
import * as Result from "effect/Result"
import { hasBody, isFilled } from "../http/ByService.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as KeptResponse from "../http/KeptResponse.ts"
import * as Moment from "../http/Moment.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { headerValues } from "../http/Wire.ts"
import { type Break, breaks, unless } from "./Exchange.ts"
import { isByService, isDenial, type Seen } from "./Seen.ts"

const DAY_S = 86_400

/** Tolerance in seconds of a Reset, for rounding. */
const SLACK_S = 2

/** Minimum Reset that must be in milliseconds since 1970; in seconds it would be in the year 5138. */
const MIN_MILLISECONDS = 100_000_000_000

const rateNames = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const

type Law = (seen: Seen) => Break | undefined

const bodyIsJson: Law = ({ exchange }) => {
  if (!isFilled(exchange)) return undefined
  const json = KeptResponse.jsonOf(exchange.response)
  if (Result.isFailure(json)) return breaks("http.json-bodies", "a JSON body", json.failure)
  const type = headerValues(exchange.response, "content-type").find(
    (value) => !/^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(value)
  )
  return unless(type === undefined, "http.json-bodies", "a JSON media type as Content-Type", type ?? "")
}

const errorHasBody: Law = ({ exchange, status }) => {
  if (status < 400 || !hasBody(exchange)) return undefined
  const body = ErrorBody.of(exchange.response)
  if (Result.isFailure(body)) {
    const clause = status === 401 ? "auth.error-body" : "errors.body"
    return breaks(clause, `an Error body with ${status}`, body.failure)
  }
  const { status: inBody } = body.success
  return unless(inBody === status, "errors.status-matches", `status ${status} in the body`, inBody)
}

const rateHeadersArePresent: Law = ({ exchange: { response }, status }) => {
  const wrong = rateNames.find((name) => headerValues(response, name).length !== 1)
  if (wrong !== undefined) {
    const values = headerValues(response, wrong)
    return breaks("limits.headers-present", `${wrong} once with ${status}`, values.join(" and ") || "none")
  }
  const text = rateNames
    .map((name) => headerValues(response, name)[0] ?? "")
    .find((value) => !/^[0-9]{1,15}$/.test(value))
  return text === undefined
    ? undefined
    : breaks("limits.header-types", "rate headers in digits", JSON.stringify(text))
}

const remainingIsWithinLimit: Law = ({ exchange }) => {
  const rate = RateHeaders.of(exchange.response)
  if (rate === undefined) return undefined
  const { limit, remaining } = rate
  return unless(remaining <= limit, "limits.remaining-within", `at most ${limit} remaining`, remaining)
}

const resetIsTime: Law = (seen) => {
  const { asked, exchange } = seen
  const rate = RateHeaders.of(exchange.response)
  if (rate === undefined) return undefined
  const { resetAt } = rate
  const expected = "X-RateLimit-Reset in seconds since 1970"
  const seconds = breaks("limits.reset-unix-seconds", expected, String(resetAt))
  if (resetAt >= MIN_MILLISECONDS) return seconds
  // A caller without a key may have no window.
  if (asked.caller.is !== "valid" || seen.status === 401) return undefined
  if (resetAt * 1_000 < exchange.from / 2) return seconds
  const shown = `${resetAt} (${Moment.iso(resetAt * 1_000)})`
  if ((resetAt + SLACK_S) * 1_000 < exchange.from) {
    return breaks("limits.reset-not-past", `a Reset at ${Moment.iso(exchange.from)} or later`, shown)
  }
  return isDenial(seen) || (resetAt - SLACK_S - DAY_S) * 1_000 <= exchange.to
    ? undefined
    : breaks("limits.reset-ahead", "X-RateLimit-Reset at most a day ahead", shown)
}

const limitIsOfPlan: Law = (seen) => {
  const { asked, exchange } = seen
  const rate = RateHeaders.of(exchange.response)
  const plan = asked.caller.is === "valid" ? asked.caller.key.plan : undefined
  if (rate === undefined || plan === undefined || seen.status === 401 || isDenial(seen)) return undefined
  const isOfPlan = rate.limit === plan.perMinute || rate.limit === plan.perDay
  return unless(isOfPlan, "limits.plan-in-force", `Limit ${plan.perMinute} or ${plan.perDay}`, rate.limit)
}

const denialTellsWait: Law = ({ exchange, status }) => {
  const hasWait = RateHeaders.retryAfterSeconds({ ...exchange, receivedAt: exchange.to }) !== undefined
  const values = headerValues(exchange.response, "retry-after").join(" and ")
  return unless(
    status !== 429 || hasWait,
    "limits.retry-after-present",
    "Retry-After with 429",
    values || "none"
  )
}

const laws: ReadonlyArray<Law> = [
  bodyIsJson,
  errorHasBody,
  rateHeadersArePresent,
  remainingIsWithinLimit,
  resetIsTime,
  limitIsOfPlan,
  denialTellsWait
]

/** Returns every law of all responses that this one breaks. */
export const judge = (seen: Seen): ReadonlyArray<Break> =>
  isByService(seen) ? laws.flatMap((law) => law(seen) ?? []) : []
