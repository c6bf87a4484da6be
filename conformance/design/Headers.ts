/** The headers of every response, and what an error body says (design of §1, §4, §5.3, §7, §8). */
import * as Result from "effect/Result"
import { catalogue } from "../../core/errors/ErrorCatalogue.ts"
import { hasBody, isFilled } from "../http/ByService.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as LinkHeader from "../http/LinkHeader.ts"
import * as StandardRateLimit from "../http/StandardRateLimit.ts"
import { header, headerValues } from "../http/Wire.ts"
import { broken, kept, type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import { methods } from "./Expected.ts"
import * as Lists from "./Lists.ts"
import type { Reading } from "./Reading.ts"

/** A response together with its request. */
export interface Responded {
  readonly exchange: Seen["exchange"]
  readonly reading: Reading
  readonly basePath: string
  /** The request ids of the latest responses. */
  readonly ids: ReadonlyArray<string>
}

const JSON_TYPE = "application/json; charset=utf-8"
const SUNSET = "Thu, 05 Dec 2030 00:00:00 GMT"
const MAX_MESSAGE = 400
/** Minimum length of a credential whose presence in a message cannot be a coincidence. */
const MIN_SECRET = 8

type Law = (responded: Responded) => ReadonlyArray<Ruling>

const standard: Law = ({ exchange: { request, response }, ids }) => {
  const { headers, status } = response
  const id = header(response, "x-request-id")
  const isNew = id === undefined || !(ids.includes(id) || headerValues(request, "x-request-id").includes(id))
  const cors = headers.find(([name]) => /^access-control-/i.test(name))
  const isRedirect = status >= 300 && status < 400
  return [
    ...mandatory.map(([name, form]) => {
      const value = header(response, name)
      return rule(form.test(value ?? ""), "http.standard-headers", `${name}: ${form.source}`, value)
    }),
    rule(isNew, "http.request-id", "a new X-Request-Id", id),
    rule(cors === undefined, "http.no-cors", "no CORS headers", cors?.join(": ")),
    rule(!isRedirect, "http.no-redirects", "no redirect", status),
    rule(status < 500, "errors.no-5xx-anywhere", "no 5xx", status)
  ]
}

const mandatory = [
  ["Cache-Control", /^no-store$/],
  ["X-Content-Type-Options", /^nosniff$/],
  ["Date", /./],
  ["X-Request-Id", /./]
] as const

const date: Law = ({ exchange: { from, response, to } }) => {
  const value = header(response, "date")
  if (value === undefined) return []
  const time = Date.parse(value)
  const isNow = time > from - 1_000 && time <= to && new Date(time).toUTCString() === value
  return [rule(isNow, "http.date", new Date(from).toUTCString(), value)]
}

const contentType: Law = ({ exchange }) => {
  const type = header(exchange.response, "content-type")
  if (isFilled(exchange)) return [rule(type === JSON_TYPE, "http.content-type", JSON_TYPE, type)]
  if (exchange.request.method !== "HEAD") return []
  const { length } = exchange.response.body
  return [
    rule(length === 0, "http.head", "no body with HEAD", `${length} bytes`),
    rule(type === JSON_TYPE, "http.head", `${JSON_TYPE} with HEAD, as with GET`, type)
  ]
}

const allow: Law = ({ exchange: { response }, reading: { path } }) => {
  if (path.is === "unknown" || (response.status !== 405 && response.status !== 204)) return []
  const clause = response.status === 405 ? "http.method-not-allowed" : "http.options"
  const given = (header(response, "allow") ?? "").split(/\s*,\s*/).toSorted()
  const expected = methods[path.is].toSorted()
  return [rule(given.join() === expected.join(), clause, `Allow: ${expected.join(", ")}`, given.join(", "))]
}

const challenge: Law = ({ exchange: { response }, reading: { caller } }) => {
  if (response.status !== 401 || caller.is !== "nobody") return []
  const value = header(response, "www-authenticate") ?? ""
  const isOurs = /^Bearer\s/i.test(value) && value.includes('realm="animals"')
  const saysInvalid = value.includes('error="invalid_token"')
  const expected = `${caller.hasCredential ? "" : "no "}error="invalid_token"`
  return [
    rule(isOurs, "auth.challenge", 'Bearer realm="animals"', value || "none"),
    rule(saysInvalid === caller.hasCredential, "auth.challenge-error", expected, value)
  ]
}

const retryAfter: Law = ({ exchange: { response } }) => {
  const value = header(response, "retry-after")
  const isExpected = response.status === 429 || response.status === 503
  if (!isExpected && value === undefined) return []
  const isWhole = value !== undefined && /^[1-9][0-9]{0,6}$/.test(value) && Number(value) <= 2_147_483
  const expected = isExpected ? "Retry-After in whole seconds" : `no Retry-After with ${response.status}`
  return [rule(isExpected && isWhole, "limits.retry-after-seconds", expected, value)]
}

/** `RateLimit` and `RateLimit-Policy` have the right form, and name the same policies. */
const rateLimit: Law = ({ exchange: { response } }) => {
  const policies = StandardRateLimit.itemsOf(response, "RateLimit-Policy")
  const states = StandardRateLimit.itemsOf(response, "RateLimit")
  if (policies?.length === 0 && states?.length === 0) return []
  const isWhole = (items: typeof states, letter: string) =>
    items?.every(({ numbers }) => (numbers.get(letter) ?? -1) >= 0) === true
  const areSame = states?.every(({ policy }) => policies?.some((each) => each.policy === policy)) === true
  const isRight = areSame && isWhole(policies, "q") && isWhole(states, "r")
  const actual = `${headerValues(response, "ratelimit-policy")}; ${headerValues(response, "ratelimit")}`
  return [rule(isRight, "limits.standard-syntax", "two lists of the same policies", actual)]
}

const deprecation: Law = ({ basePath, exchange: { request, response }, reading: { path } }) => {
  const { method } = request
  const [date, sunset] = [header(response, "deprecation"), header(response, "sunset")]
  const isSilent = date === undefined && sunset === undefined
  if (path.is !== "pet") {
    return [rule(isSilent, "deprecation.getpet-only", "no Deprecation and no Sunset", date ?? sunset)]
  }
  if (method !== "GET" && method !== "HEAD") return []
  const links = LinkHeader.parse(headerValues(response, "link"))
  const successor = links.find((link) => LinkHeader.hasRelation(link, "successor-version"))?.target
  if (isSilent && successor === undefined) {
    return [broken("get.deprecation-headers", "Deprecation, Sunset and Link", `none with ${response.status}`)]
  }
  const isDate = /^@[0-9]{1,12}$/.test(date ?? "")
  const isAddress = Lists.isAddressOf(successor ?? "", basePath, "/pets")
  return [
    kept("get.deprecation-headers"),
    rule(isDate, "deprecation.date", "@ and the time of the announcement", date),
    rule(sunset === SUNSET, "deprecation.sunset", SUNSET, sunset),
    rule(isAddress, "deprecation.successor", `<${basePath}/pets>; rel="successor-version"`, successor)
  ]
}

const statusOf: ReadonlyMap<string, number> = new Map(
  Object.entries(catalogue).map(([code, { status }]) => [code, status])
)

const errorBody: Law = ({ exchange }) => {
  const { request, response } = exchange
  const body = response.status >= 400 && hasBody(exchange) ? ErrorBody.of(response) : undefined
  if (body === undefined || Result.isFailure(body)) return []
  const { code, members, message } = body.success
  const tokens = headerValues(request, "authorization").flatMap((value) => value.split(/\s+/))
  const echo = tokens.find((token) => token.length >= MIN_SECRET && message.includes(token))
  const isExact = members.toSorted().join() === "code,message,status"
  return [
    rule(isExact, "errors.exact-body", "only code, message and status", members.join(", ")),
    rule(statusOf.get(code) === response.status, "errors.codes", `a code of ${response.status}`, code),
    rule(!message.includes("\n"), "errors.messages", "a message of one line", JSON.stringify(message)),
    rule(echo === undefined, "errors.no-echo", "a message without the credential", "the credential in it"),
    rule(message.length <= MAX_MESSAGE, "errors.no-echo", `at most ${MAX_MESSAGE} characters`, message.length)
  ]
}

const laws: ReadonlyArray<Law> = [
  standard,
  date,
  contentType,
  allow,
  challenge,
  retryAfter,
  rateLimit,
  deprecation,
  errorBody
]

/** Returns what the headers and the error body of a response decide. */
export const judge = (responded: Responded): ReadonlyArray<Ruling> => laws.flatMap((law) => law(responded))
