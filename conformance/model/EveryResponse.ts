/** The laws of every response, whatever was asked: its body (§1, §2, §7), its rate headers (§8.3) and Retry-After (§8.4). */
import * as Result from "effect/Result"
import { hasBody, isFilled } from "../http/ByService.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as Moment from "../http/Moment.ts"
import * as PetJson from "../http/PetJson.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { headerValues, text } from "../http/Wire.ts"
import { broken, kept, type Ruling, rule } from "./Exchange.ts"
import { isByContract, isByService, isDenial, type Seen } from "./Seen.ts"

const [HOUR_S, DAY_S, YEAR_S] = [3_600, 86_400, 31_536_000]

/** Tolerance in seconds of a Reset, for rounding. */
const SLACK_S = 2

/** Whether a Reset can be a Unix time in seconds. A caller without a key may have no window, and a limit of 0. */
export const isUnixSeconds = ({ limit, resetAt }: RateHeaders.RateHeaders, from: number): boolean =>
  resetAt * 1_000 <= from + YEAR_S * 1_000 && (limit === 0 || (resetAt + HOUR_S) * 1_000 >= from)

const rateNames = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const

function* ofBody({ exchange, status }: Seen): Iterable<Ruling> {
  const parsed = PetJson.parse(text(exchange.response.body))
  if (isFilled(exchange)) {
    const reason = Result.isFailure(parsed) ? parsed.failure : "JSON"
    yield rule(Result.isSuccess(parsed), "http.json-bodies", "a JSON body", reason)
    const type = headerValues(exchange.response, "content-type").find(
      (value) => !/^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(value)
    )
    yield rule(type === undefined, "http.json-bodies", "a JSON media type as Content-Type", type ?? "")
  }
  if (status < 400 || !hasBody(exchange)) return
  const error = Result.flatMap(parsed, ErrorBody.read)
  const expected = `an Error body with ${status}`
  if (Result.isFailure(error)) {
    const isOfOtherTypes = Result.isSuccess(parsed) && hasMembers(parsed.success)
    const ofOther = isOfOtherTypes ? "errors.body-types" : "errors.body"
    return yield broken(status === 401 ? "auth.error-body" : ofOther, expected, error.failure)
  }
  if (status === 401) yield kept("auth.error-body")
  yield kept("errors.body")
  yield kept("errors.body-types")
  const inBody = error.success.status
  yield rule(inBody === status, "errors.status-matches", `status ${status} in the body`, inBody)
}

const hasMembers = (value: unknown): boolean =>
  typeof value === "object" && value !== null && ["code", "message", "status"].every((name) => name in value)

function* ofRateHeaders({ exchange: { response }, status }: Seen): Iterable<Ruling> {
  const wrong = rateNames.find((name) => headerValues(response, name).length !== 1)
  const values = wrong === undefined ? [] : headerValues(response, wrong)
  const actual = values.join(" and ") || "none"
  yield rule(wrong === undefined, "limits.headers-present", `${wrong} once with ${status}`, actual)
  if (wrong !== undefined) return
  const valueOf = (name: string) => headerValues(response, name)[0] ?? ""
  const other = rateNames.find((name) => !/^[0-9]{1,15}$/.test(valueOf(name)))
  const shown = other && JSON.stringify(valueOf(other))
  yield rule(other === undefined, "limits.header-types", `${other} in digits`, shown)
}

function* ofRate(seen: Seen, mayBeBanned: boolean): Iterable<Ruling> {
  const { asked, exchange, status } = seen
  const rate = RateHeaders.of(exchange.response)
  if (rate === undefined) return
  const { limit, remaining, resetAt } = rate
  yield rule(remaining <= limit, "limits.remaining-within", `at most ${limit} remaining`, remaining)
  const isOfKey = asked.caller.is === "valid" && status !== 401 && isByService(seen)
  const isTime = !isByService(seen) || isUnixSeconds(rate, exchange.from)
  const isInMs = !isTime && Math.abs(resetAt - exchange.from) <= 2 * DAY_S * 1_000
  const given = `${resetAt}${isInMs ? ": is it in ms?" : ""}`
  const inSeconds = `X-RateLimit-Reset in seconds since 1970, now ${Math.floor(exchange.from / 1_000)}`
  yield rule(isTime, "limits.reset-unix-seconds", inSeconds, given)
  if (!isTime || !isOfKey) return
  const isFuture = (resetAt + SLACK_S) * 1_000 >= exchange.from
  const shown = `${resetAt} (${Moment.iso(resetAt * 1_000)})`
  yield rule(isFuture, "limits.reset-not-past", `a Reset at ${Moment.iso(exchange.from)} or later`, shown)
  // What a ban shows is up to the service.
  if (isDenial(seen) && mayBeBanned) return
  const isNear = (resetAt - SLACK_S - DAY_S) * 1_000 <= exchange.to
  yield rule(isNear, "limits.reset-ahead", "X-RateLimit-Reset at most a day ahead", shown)
  const { plan } = asked.caller.key
  if (plan === undefined) return
  const isOfPlan = limit === plan.perMinute || limit === plan.perDay
  yield rule(isOfPlan, "limits.plan-in-force", `Limit ${plan.perMinute} or ${plan.perDay}`, limit)
}

function* ofDenial({ exchange, status }: Seen): Iterable<Ruling> {
  if (status !== 429) return
  const hasWait = RateHeaders.retryAfterSeconds(exchange.response, exchange.to) !== undefined
  const values = headerValues(exchange.response, "retry-after").join(" and ")
  yield rule(hasWait, "limits.retry-after-present", "Retry-After with 429", values || "none")
}

/** Rules on every law of all responses. */
export const judge = (seen: Seen, mayBeBanned: boolean): ReadonlyArray<Ruling> =>
  isByContract(seen)
    ? [...ofBody(seen), ...ofRateHeaders(seen), ...ofRate(seen, mayBeBanned), ...ofDenial(seen)]
    : []
