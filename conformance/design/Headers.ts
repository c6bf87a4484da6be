/** The headers of every response, and what an error body says (design of §1, §4, §5.3, §7, §8). */
import * as Result from "effect/Result"
import { getPet } from "../../core/deprecation/Deprecation.ts"
import { catalogue, codes } from "../../core/errors/ErrorCatalogue.ts"
import { hasBody, isFilled } from "../http/ByService.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as LinkHeader from "../http/LinkHeader.ts"
import { header, headerValues } from "../http/Wire.ts"
import { type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import { isAddressOf, type Reading } from "./Reading.ts"

/** A response together with its request. */
export interface Responded {
  readonly exchange: Seen["exchange"]
  readonly reading: Reading
  /** The request ids of the latest responses. */
  readonly ids: ReadonlyArray<string>
}

const JSON_TYPE = "application/json; charset=utf-8"
const SUNSET = new Date(getPet.sunsetAt).toUTCString()
const MAX_MESSAGE = 400
/** Minimum length of a credential whose presence in a message cannot be a coincidence. */
const MIN_SECRET = 8

function* ofEvery({ exchange: { from, request, response, to }, ids }: Responded): Iterable<Ruling> {
  const { headers, status } = response
  for (const [name, form] of mandatory) {
    const value = header(response, name)
    yield rule(form.test(value ?? ""), "http.standard-headers", `${name}: ${form.source}`, value)
  }
  const id = header(response, "x-request-id")
  const isUsed = id !== undefined && [...ids, ...headerValues(request, "x-request-id")].includes(id)
  yield rule(!isUsed, "http.request-id", "a new X-Request-Id", id)
  const cors = headers.find(([name]) => /^access-control-/i.test(name))
  yield rule(cors === undefined, "http.no-cors", "no CORS headers", cors?.join(": "))
  yield rule(status < 300 || status >= 400, "http.no-redirects", "no redirect", status)
  yield rule(status < 500, "errors.no-5xx-anywhere", "no 5xx", status)
  const date = header(response, "date")
  if (date === undefined) return
  const time = Date.parse(date)
  const isNow = time > from - 1_000 && time <= to && new Date(time).toUTCString() === date
  yield rule(isNow, "http.date", new Date(from).toUTCString(), date)
}

const mandatory = [
  ["Cache-Control", /^no-store$/],
  ["X-Content-Type-Options", /^nosniff$/],
  ["Date", /./],
  ["X-Request-Id", /./]
] as const

function* ofContent({ exchange }: Responded): Iterable<Ruling> {
  const type = header(exchange.response, "content-type")
  if (isFilled(exchange)) yield rule(type === JSON_TYPE, "http.content-type", JSON_TYPE, type)
  if (exchange.request.method !== "HEAD") return
  const { length } = exchange.response.body
  yield rule(length === 0, "http.head", "no body with HEAD", `${length} bytes`)
  yield rule(type === JSON_TYPE, "http.head", `${JSON_TYPE} with HEAD, as with GET`, type)
}

function* ofMethods({ exchange: { response }, reading: { route } }: Responded): Iterable<Ruling> {
  if (route === undefined || (response.status !== 405 && response.status !== 204)) return
  const clause = response.status === 405 ? "http.method-not-allowed" : "http.options"
  const [expected, given] = [route.resource.allow, header(response, "allow") ?? ""].map((list) =>
    list
      .split(/\s*,\s*/)
      .toSorted()
      .join(", ")
  )
  yield rule(given === expected, clause, `Allow: ${expected}`, given)
}

function* ofChallenge({ exchange: { response }, reading: { caller } }: Responded): Iterable<Ruling> {
  if (response.status !== 401 || caller.is !== "nobody") return
  const value = header(response, "www-authenticate") ?? ""
  const isOurs = /^Bearer\s/i.test(value) && value.includes('realm="animals"')
  const isRight = isOurs && value.includes('error="invalid_token"') === caller.hasCredential
  const expected = `Bearer realm="animals", ${caller.hasCredential ? "" : "no "}error="invalid_token"`
  yield rule(isRight, "auth.challenge", expected, value || "none")
}

function* ofRetryAfter({ exchange: { response } }: Responded): Iterable<Ruling> {
  const value = header(response, "retry-after")
  const isExpected = response.status === 429 || response.status === 503
  if (!isExpected && value === undefined) return
  const isWhole = value !== undefined && /^[1-9][0-9]{0,6}$/.test(value) && Number(value) <= 2_147_483
  const expected = isExpected ? "Retry-After in whole seconds" : `no Retry-After with ${response.status}`
  yield rule(isExpected && isWhole, "limits.retry-after-seconds", expected, value)
}

function* ofDeprecation({
  exchange: { response },
  reading: { basePath, route }
}: Responded): Iterable<Ruling> {
  const [date, sunset] = [header(response, "deprecation"), header(response, "sunset")]
  if (route?.operation?.removal === undefined) {
    const isSilent = date === undefined && sunset === undefined
    return yield rule(isSilent, "deprecation.getpet-only", "no Deprecation and no Sunset", date ?? sunset)
  }
  const [successor = ""] = LinkHeader.targets(headerValues(response, "link"), "successor-version")
  const isRight = /^@[0-9]{1,12}$/.test(date ?? "") && sunset === SUNSET
  const expected = `Deprecation: @ and a time, Sunset: ${SUNSET}, and a Link to the successor ${basePath}/pets`
  const isLinked = isAddressOf(successor, basePath, "/pets")
  yield rule(isRight && isLinked, "get.deprecation-headers", expected, [date, sunset, successor].join(", "))
}

function* ofError({ exchange }: Responded): Iterable<Ruling> {
  const { request, response } = exchange
  const body = ErrorBody.of(response)
  if (response.status < 400 || !hasBody(exchange) || Result.isFailure(body)) return
  const { code, members, message } = body.success
  const isExact = members.toSorted().join() === "code,message,status"
  yield rule(isExact, "errors.exact-body", "only code, message and status", members.join(", "))
  const isOfStatus = codes.some((each) => each === code && catalogue[each].status === response.status)
  yield rule(isOfStatus, "errors.codes", `a code of ${response.status}`, code)
  yield rule(!message.includes("\n"), "errors.messages", "a message of one line", JSON.stringify(message))
  const tokens = headerValues(request, "authorization").flatMap((value) => value.split(/\s+/))
  const isEcho = tokens.some((token) => token.length >= MIN_SECRET && message.includes(token))
  yield rule(!isEcho, "errors.no-echo", "a message without the credential", "the credential in it")
  const { length } = message
  yield rule(length <= MAX_MESSAGE, "errors.no-echo", `at most ${MAX_MESSAGE} characters`, length)
}

const laws = [ofEvery, ofContent, ofMethods, ofChallenge, ofRetryAfter, ofDeprecation, ofError]

/** Returns what the headers and the error body of a response decide. */
export const judge = (responded: Responded): ReadonlyArray<Ruling> =>
  laws.flatMap((law) => [...law(responded)])
