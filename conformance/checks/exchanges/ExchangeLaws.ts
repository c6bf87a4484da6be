/** Provides helpers for the laws about every exchange. */
import * as Result from "effect/Result"
import type { Level } from "../../clauses/Clause.ts"
import { Violation } from "../../evaluation/Outcome.ts"
import { hasBody } from "../../http/ByService.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as Moment from "../../http/Moment.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { header, headerValues } from "../../http/Wire.ts"
import type { AmbientCheck, Look } from "../AmbientCheck.ts"

/** Tolerance in ms between a Reset and the times of an exchange, for the clocks of two machines and for rounding. */
const CLOCK_SLACK_MS = 10_000

/** The same tolerance in ms when the response has no Date; also the tolerance of Date itself. */
export const DATELESS_SLACK_MS = 120_000

/** Adds this level to each check. */
export const ofLevel = (
  level: Level,
  checks: ReadonlyArray<Omit<AmbientCheck, "level">>
): ReadonlyArray<AmbientCheck> => checks.map((check) => ({ ...check, level }))

export const violation = (expected: string, actual: string): Violation => new Violation({ expected, actual })

/** Returns a violation unless `holds`. */
export const unless = (holds: boolean, expected: string, actual: string): Violation | undefined =>
  holds ? undefined : violation(expected, actual)

/** Creates a law about the value that `select` returns for an exchange; the law does not apply if it is `undefined`. */
export const about = <A>(
  select: Look<A | undefined>,
  examine: (value: A, exchange: Exchange) => Violation | undefined
): Pick<AmbientCheck, "isAbout" | "examine"> => ({
  isAbout: (...args) => select(...args) !== undefined,
  examine: (...args) => {
    const value = select(...args)
    return value === undefined ? undefined : examine(value, args[0])
  }
})

/** Whether the request was sent with a valid key that the subject declares. */
export const hasDeclaredKey = ({ key }: Exchange): boolean =>
  key === "main" || key === "tiny" || key === "victim"

/** Whether the response is about the limits of a valid key. */
export const isOfValidKey = (exchange: Exchange): boolean =>
  hasDeclaredKey(exchange) && exchange.response.status !== 401

export const rateOf = ({ response }: Exchange): RateHeaders.RateHeaders | undefined =>
  RateHeaders.of(response)

export const errorOf = (exchange: Exchange): ErrorBody.ErrorBody | undefined =>
  exchange.response.status < 400 || !hasBody(exchange)
    ? undefined
    : Result.getOrUndefined(ErrorBody.of(exchange.response))

/**
 * Returns the earliest and latest time (epoch ms) at which the response can have been created, with a tolerance. If the
 * times of the exchange are by the subject's clock, only they are used. Otherwise `Date` is also used, although a
 * server may take it from another clock; without `Date` the tolerance is larger.
 */
export const momentsOf = ({
  byClock = false,
  receivedAt,
  response,
  sentAt
}: Exchange): readonly [earliest: number, latest: number] => {
  if (byClock) return [sentAt - CLOCK_SLACK_MS, receivedAt + CLOCK_SLACK_MS]
  const date = Date.parse(header(response, "date") ?? "")
  return Number.isNaN(date)
    ? [sentAt - DATELESS_SLACK_MS, receivedAt + DATELESS_SLACK_MS]
    : [Math.min(date, sentAt) - CLOCK_SLACK_MS, Math.max(date + 1_000, receivedAt) + CLOCK_SLACK_MS]
}

/** Returns the time at which the request was sent, for messages. */
export const iso = ({ sentAt }: Exchange): string => Moment.iso(sentAt)

/** Returns a header as received, for messages. */
export const received = ({ response }: Exchange, name: string): string => {
  const values = headerValues(response, name)
  return values.length === 0 ? `${name} is missing` : `${name}: ${values.join(" and ")}`
}

/** Returns the operation of a request; `undefined` if contract §4 does not describe such a request. */
export const describedAs = ({ request }: Exchange): "list" | "create" | "get" | undefined => {
  const { body, headers, method, target } = request
  const [path = "", query] = target.split("?", 2)
  const lower = headers.map(([name, value]) => [name.toLowerCase(), value] as const)
  const isPlain =
    lower.filter(([name]) => name === "authorization").length <= 1 &&
    lower.every(
      ([name, value]) =>
        name === "authorization" ||
        (name === "content-type" && value === "application/json" && method === "POST")
    )
  if (!isPlain) return undefined
  if (method === "POST" && path.endsWith("/pets") && query === undefined) {
    const hasJsonBody =
      body !== undefined && body.length <= 1_024 && lower.some(([name]) => name === "content-type")
    return hasJsonBody ? "create" : undefined
  }
  if (method !== "GET" || body !== undefined) return undefined
  if (path.endsWith("/pets")) {
    const parameter = "(?:limit=(?:[1-9][0-9]?|100)|status=(?:available|pending|sold))"
    const isListQuery =
      query === undefined ||
      (new RegExp(`^${parameter}(?:&${parameter})?$`).test(query) && !/(\w+)=.*&\1=/.test(query))
    return isListQuery ? "list" : undefined
  }
  const [, id] = /\/pets\/(-?[0-9]{1,19})$/.exec(path) ?? []
  const isInt64 = id !== undefined && BigInt.asIntN(64, BigInt(id)) === BigInt(id)
  return isInt64 && query === undefined ? "get" : undefined
}
