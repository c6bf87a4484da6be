/** The status, the code and the message of a response, by what the request leads to. */
import * as Result from "effect/Result"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import { headerValues, type WireRequest, type WireResponse } from "../http/Wire.ts"
import { kept, type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import * as Expected from "./Expected.ts"
import type { Lists } from "./Lists.ts"
import type { Verdict } from "./Meter.ts"
import type { Caller, Reading } from "./Reading.ts"

export const judge = (
  { from, request, response, to }: Seen["exchange"],
  reading: Reading,
  lists: Lists,
  verdict: Verdict | undefined
): ReadonlyArray<Ruling> => {
  const { status } = response
  const { caller } = reading
  // The outcome of a repeated creation is another matter.
  const isOpen = caller.is === "unclear" || headerValues(request, "idempotency-key").length > 0
  const isDenialOpen = status === 429 && verdict === undefined
  // Other laws are about redirects and failures.
  const isOther = status >= 500 || (status >= 300 && status < 400)
  if (isOpen || isDenialOpen || isOther) return []
  const [expected, ...later] = Expected.outcomes(request, reading, { lists, from, to, verdict })
  if (expected === undefined) return []
  const isRight = expected.statuses.includes(status)
  const isOfOrder = status >= 400 && later.some(({ statuses }) => statuses.includes(status))
  const wanted = `${expected.statuses.join(" or ")} for ${expected.because}`
  const ignored = ignoredBy(request, caller)
  if (!isRight) {
    const isScheme = ignored === "auth.scheme-case" && status !== 401
    const clause = status === 410 ? "get.gone" : isOfOrder ? expected.ofOrder : isScheme ? undefined : ignored
    const broken = clause ?? expected.clause
    return broken === undefined ? [] : [rule(false, broken, wanted, status)]
  }
  const order = later.some(({ statuses }) => statuses.some((each) => each >= 400))
    ? expected.ofOrder
    : undefined
  const held = [expected.clause, ignored, order].filter((clause) => clause !== undefined)
  return [...held.map(kept), ...ofError(expected, response)]
}

/** Returns our decision to ignore what is unusual about the headers of a request. */
const ignoredBy = (request: WireRequest, caller: Caller): ClauseSlug | undefined => {
  if (request.headers.some(([name]) => /method-override|^x-http-method$/i.test(name)))
    return "http.other-operations"
  const accept = headerValues(request, "accept").join(", ")
  if (accept !== "" && !/application\/json|\*\/\*/.test(accept)) return "http.accept"
  return caller.is === "key" && !caller.isUsual ? "auth.scheme-case" : undefined
}

/** Judges the code and the message of an expected error. */
const ofError = (
  { code, names = [], ofCode, statuses }: Expected.Outcome,
  response: WireResponse
): ReadonlyArray<Ruling> => {
  const body = ErrorBody.of(response)
  if (Result.isFailure(body) || response.status !== statuses.at(-1)) return []
  const { code: actual, message } = body.success
  const unnamed = names.find((name) => !message.includes(name))
  const about = unnamed === undefined ? "" : `a message about ${unnamed}`
  // Whether a denial is a ban is a matter of the limits.
  const isOfLimits = response.status === 429 && denials.includes(actual) && actual !== code
  return [
    ...(ofCode === undefined || isOfLimits ? [] : [rule(actual === code, ofCode, `${code}`, actual)]),
    ...(names.length === 0 ? [] : [rule(about === "", "errors.messages", about, JSON.stringify(message))])
  ]
}

const denials = ["rate_limit_exceeded", "api_key_banned"]
