/** Adds the headers of every response (contract §8.3 "every response"). */
import * as HttpDate from "../codec/HttpDate.ts"
import * as Deprecation from "../deprecation/Deprecation.ts"
import type { Operation } from "../operations/Operation.ts"
import type { Call } from "./Call.ts"
import * as RateLimitHeaders from "./RateLimitHeaders.ts"
import { addresses, type ServiceOptions } from "./ServiceOptions.ts"
import type { FlatHeaders, Reply, ServiceResponse } from "./ServiceResponse.ts"

/** Creates the function that turns a reply into the response, on a service with these operations. */
export const make = (options: ServiceOptions, operations: ReadonlyArray<Operation>) => {
  const date = HttpDate.perSecond()
  const deprecationOf = ({ removal }: Operation, prefix?: string): FlatHeaders => {
    if (removal === undefined) return []
    const successor = addresses(options, prefix)(removal.successor)
    return Deprecation.headers(removal.policy(options), successor, options.deprecationUrl).flat()
  }
  const deprecations = new Map(operations.map((operation) => [operation, deprecationOf(operation)]))
  return (call: Call, { body, bytes, headers: replyHeaders, status }: Reply): ServiceResponse => {
    const { corsHeaders, id, now, prefix, route, verdict } = call
    const operation = route?.operation
    const deprecation =
      operation && (prefix === "" ? deprecations.get(operation) : deprecationOf(operation, prefix))
    const headers = verdict === undefined ? [] : RateLimitHeaders.of(verdict, options.standardHeaders)
    headers.push("Date", date(now), "X-Request-Id", id, "X-Content-Type-Options", "nosniff")
    // Responses with a file, and 304 responses for unchanged files, have a `Cache-Control` of their own.
    if (bytes === undefined && status !== 304) headers.push("Cache-Control", "no-store")
    if (body !== "") headers.push("Content-Type", "application/json; charset=utf-8")
    headers.push(...corsHeaders, ...replyHeaders)
    if (deprecation !== undefined) headers.push(...deprecation)
    if (verdict !== undefined && status === 429) headers.push("Retry-After", String(verdict.retryAfter))
    if (status === 503) headers.push("Retry-After", String(RateLimitHeaders.UNAVAILABLE_RETRY_AFTER))
    return bytes === undefined ? { status, headers, body } : { status, headers, body, bytes }
  }
}
