/** The headers of every response, and what an error body says (design of §1, §4, §5.3, §7, §8). */
import * as Result from "effect/Result"
import { catalogue } from "../../core/errors/ErrorCatalogue.ts"
import { hasBody, isFilled } from "../http/ByService.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as LinkHeader from "../http/LinkHeader.ts"
import * as StandardRateLimit from "../http/StandardRateLimit.ts"
import { header, headerValues, type WireRequest, type WireResponse } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import { methods } from "./Expected.ts"
import { type Finding, finding } from "./Finding.ts"
import type { Reading } from "./Reading.ts"

/** A response together with its request. */
export interface Responded {
  readonly exchange: Exchange & { readonly response: WireResponse }
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

type Law = (responded: Responded) => ReadonlyArray<Finding>

const standard: Law = ({ exchange: { request, response }, ids }) => {
  const isMissing = (name: string) => (header(response, name) ?? "") === ""
  const wrong =
    header(response, "cache-control") !== "no-store"
      ? "Cache-Control: no-store"
      : header(response, "x-content-type-options") !== "nosniff"
        ? "X-Content-Type-Options: nosniff"
        : ["Date", "X-Request-Id"].find(isMissing)
  const id = header(response, "x-request-id")
  const isNew = id === undefined || !(ids.includes(id) || headerValues(request, "x-request-id").includes(id))
  const cors = response.headers.find(([name]) => /^access-control-/i.test(name))
  return [
    finding("http.standard-headers", wrong === undefined, wrong ?? "", `none with ${response.status}`),
    finding("http.request-id", isNew, "a new X-Request-Id", id),
    finding("http.no-cors", cors === undefined, "no CORS headers", cors?.join(": ")),
    finding(
      "http.no-redirects",
      response.status < 300 || response.status >= 400,
      "no redirect",
      response.status
    ),
    finding("errors.no-5xx-anywhere", response.status < 500, "no 5xx", response.status)
  ]
}

const date: Law = ({ exchange: { from, response, to } }) => {
  const value = header(response, "date")
  if (value === undefined) return []
  const time = Date.parse(value)
  const isNow = time > from - 1_000 && time <= to && new Date(time).toUTCString() === value
  return [finding("http.date", isNow, new Date(from).toUTCString(), value)]
}

const contentType: Law = ({ exchange }) => {
  const type = header(exchange.response, "content-type")
  if (isFilled(exchange)) return [finding("http.content-type", type === JSON_TYPE, JSON_TYPE, type)]
  if (exchange.request.method !== "HEAD") return []
  const { length } = exchange.response.body
  return [
    finding("http.head", length === 0, "no body with HEAD", `${length} bytes`),
    finding("http.head", type === JSON_TYPE, `${JSON_TYPE} with HEAD, as with GET`, type)
  ]
}

const allow: Law = ({ exchange: { response }, reading: { path } }) => {
  if (path.is === "unknown" || (response.status !== 405 && response.status !== 204)) return []
  const clause = response.status === 405 ? "http.method-not-allowed" : "http.options"
  const given = (header(response, "allow") ?? "").split(/\s*,\s*/).toSorted()
  const expected = methods[path.is].toSorted()
  return [
    finding(clause, given.join() === expected.join(), `Allow: ${expected.join(", ")}`, given.join(", "))
  ]
}

const challenge: Law = ({ exchange: { response }, reading: { caller } }) => {
  if (response.status !== 401 || caller.is !== "nobody") return []
  const value = header(response, "www-authenticate") ?? ""
  const isOurs = /^Bearer\s/i.test(value) && value.includes('realm="animals"')
  const saysInvalid = value.includes('error="invalid_token"')
  const expected = `${caller.hasCredential ? "" : "no "}error="invalid_token"`
  return [
    finding("auth.challenge", isOurs, 'Bearer realm="animals"', value || "none"),
    finding("auth.challenge-error", saysInvalid === caller.hasCredential, expected, value)
  ]
}

const retryAfter: Law = ({ exchange: { response } }) => {
  const value = header(response, "retry-after")
  const isExpected = response.status === 429 || response.status === 503
  if (!isExpected && value === undefined) return []
  const isWhole = value !== undefined && /^[1-9][0-9]{0,6}$/.test(value) && Number(value) <= 2_147_483
  const expected = isExpected ? "Retry-After in whole seconds" : `no Retry-After with ${response.status}`
  return [finding("limits.retry-after-seconds", isExpected && isWhole, expected, value)]
}

/** `RateLimit` and `RateLimit-Policy` have the right form, and name the same policies. */
const rateLimit: Law = ({ exchange: { response } }) => {
  const [policies, states] = [
    StandardRateLimit.itemsOf(response, "RateLimit-Policy"),
    StandardRateLimit.itemsOf(response, "RateLimit")
  ]
  if (policies?.length === 0 && states?.length === 0) return []
  const names = new Set(policies?.map(({ policy }) => policy))
  const isRight =
    policies?.every(({ numbers }) => (numbers.get("q") ?? -1) >= 0) === true &&
    states?.every(({ numbers, policy }) => names.has(policy) && (numbers.get("r") ?? -1) >= 0) === true
  const actual = `${headerValues(response, "ratelimit-policy")}; ${headerValues(response, "ratelimit")}`
  return [finding("limits.standard-syntax", isRight, "two lists of the same policies", actual)]
}

const deprecation: Law = ({ basePath, exchange: { request, response }, reading: { path } }) => {
  const [deprecated, sunset] = [header(response, "deprecation"), header(response, "sunset")]
  if (path.is !== "pet") {
    const isAbsent = deprecated === undefined && sunset === undefined
    return [
      finding("deprecation.getpet-only", isAbsent, "no Deprecation and no Sunset", deprecated ?? sunset)
    ]
  }
  if (request.method !== "GET" && request.method !== "HEAD") return []
  const link = LinkHeader.parse(headerValues(response, "link")).find((each) =>
    LinkHeader.hasRelation(each, "successor-version")
  )
  if (deprecated === undefined && sunset === undefined && link === undefined) {
    return [
      finding(
        "get.deprecation-headers",
        false,
        `Deprecation, Sunset and Link with ${response.status}`,
        "none"
      )
    ]
  }
  const isAddress =
    link !== undefined && (link.target === `${basePath}/pets` || /^https?:.*\/pets$/.test(link.target))
  return [
    finding("get.deprecation-headers", true, "", ""),
    finding(
      "deprecation.date",
      /^@[0-9]{1,12}$/.test(deprecated ?? ""),
      "@ and the time of the announcement",
      deprecated
    ),
    finding("deprecation.sunset", sunset === SUNSET, SUNSET, sunset),
    finding("deprecation.successor", isAddress, `<${basePath}/pets>; rel="successor-version"`, link?.target)
  ]
}

const statusOf: ReadonlyMap<string, number> = new Map(
  Object.entries(catalogue).map(([code, { status }]) => [code, status])
)

const errorBody: Law = ({ exchange }) => {
  const { request, response } = exchange
  const body = response.status >= 400 && hasBody(exchange) ? ErrorBody.of(response) : undefined
  if (body === undefined || Result.isFailure(body)) return []
  const { code, members, message, messageLength } = body.success
  const secrets = tokensOf(request).filter((token) => token.length >= MIN_SECRET)
  const isEcho = secrets.some((secret) => message.includes(secret))
  return [
    finding(
      "errors.exact-body",
      members.toSorted().join() === "code,message,status",
      "only code, message and status",
      members.join(", ")
    ),
    finding("errors.codes", statusOf.get(code) === response.status, `a code of ${response.status}`, code),
    finding("errors.messages", !message.includes("\n"), "a message of one line", JSON.stringify(message)),
    finding("errors.no-echo", !isEcho, "a message without the credential", isEcho ? "the credential" : ""),
    finding(
      "errors.no-echo",
      messageLength <= MAX_MESSAGE,
      `at most ${MAX_MESSAGE} characters`,
      messageLength
    )
  ]
}

const tokensOf = (request: WireRequest): ReadonlyArray<string> =>
  headerValues(request, "authorization").flatMap((value) => value.split(/\s+/))

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
export const judge = (responded: Responded): ReadonlyArray<Finding> => laws.flatMap((law) => law(responded))
