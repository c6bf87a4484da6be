/** Compares the status, the code and the message of a response with those of our service. */
import * as Result from "effect/Result"
import type { Verdict } from "../../core/limits/RateLimit.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import { headerValues, type WireResponse } from "../http/Wire.ts"
import { kept, type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import * as Expected from "./Expected.ts"
import type { Lists } from "./Lists.ts"
import type { Reading } from "./Reading.ts"

export const judge = (
  exchange: Seen["exchange"],
  reading: Reading,
  lists: Lists,
  verdict: Verdict | undefined
): ReadonlyArray<Ruling> => {
  const { request, response } = exchange
  const { status } = response
  const { caller } = reading
  // The outcome of a repeated creation is another matter.
  const isOpen = caller.is === "unclear" || headerValues(request, "idempotency-key").length > 0
  const isDenialOpen = status === 429 && verdict === undefined
  // Other laws are about redirects and failures.
  const isOther = status >= 500 || (status >= 300 && status < 400)
  const [expected, ...later] = Expected.outcomes(exchange, reading, lists, verdict)
  if (isOpen || isDenialOpen || isOther || expected === undefined) return []
  const ignored = ignoredBy(reading)
  const errors = later.flatMap(({ statuses }) => statuses.filter((each) => each >= 400))
  const order = orderOf(expected, reading)
  if (!expected.statuses.includes(status)) {
    const isOfOrder = status >= 400 && errors.includes(status)
    const isScheme = ignored === "auth.scheme-case" && status !== 401
    const ofRequest = isOfOrder ? order : isScheme ? undefined : ignored
    const broken = (status === 410 ? "get.gone" : ofRequest) ?? expected.clause
    const wanted = `${expected.statuses.join(" or ")}${expected.because && `: ${expected.because}`}`
    return broken === undefined ? [] : [rule(false, broken, wanted, status)]
  }
  const held = [expected.clause, ignored, errors.length > 0 ? order : undefined]
  return [...held.filter((clause) => clause !== undefined).map(kept), ...ofError(expected, response)]
}

/** Returns our decision to ignore what is unusual about the headers of a request. */
const ignoredBy = ({ caller, request }: Reading): ClauseSlug | undefined => {
  if (request.headers.some(([name]) => /method-override|^x-http-method$/i.test(name)))
    return "http.other-operations"
  const accept = headerValues(request, "accept").join(", ")
  if (accept !== "" && !/application\/json|\*\/\*/.test(accept)) return "http.accept"
  return caller.is === "key" && !caller.isUsual ? "auth.scheme-case" : undefined
}

/** Returns the clause that is broken if a later error is reported instead. */
const orderOf = ({ code, statuses }: Expected.Outcome, { caller }: Reading): ClauseSlug | undefined =>
  // Without a key, 401 comes before everything else as well.
  code === "invalid_parameter" || (statuses[0] === 429 && caller.is === "nobody")
    ? undefined
    : "http.order-of-checks"

/** Judges the code and the message of an expected error. */
const ofError = (
  { because, code, statuses }: Expected.Outcome,
  response: WireResponse
): ReadonlyArray<Ruling> => {
  const body = ErrorBody.of(response)
  if (code === undefined || Result.isFailure(body) || response.status !== statuses.at(-1)) return []
  const { code: actual, message } = body.success
  // Whether a denial is a ban is a matter of the limits.
  const isOfLimits = response.status === 429 && /^(?:rate_limit_exceeded|api_key_banned)$/.test(actual)
  const ofCode = isOfLimits ? [] : [rule(actual === code, "errors.codes", code, actual)]
  const names = Expected.fieldsIn(because)
  const unnamed = names.find((name) => !message.includes(name))
  const isNamed = unnamed === undefined
  const ofMessage = rule(isNamed, "errors.messages", `a message about ${unnamed}`, JSON.stringify(message))
  return names.length === 0 ? ofCode : [...ofCode, ofMessage]
}
