/** Adds the headers of every response (contract §8.3 "every response"). */
import * as HttpDate from "../codec/HttpDate.ts"
import type { Verdict } from "../limits/RateLimit.ts"
import * as Admission from "./Admission.ts"
import * as RateLimitHeaders from "./RateLimitHeaders.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import type { Header, ServiceResponse } from "./ServiceResponse.ts"

/** The values from which the headers are computed. */
export interface HeaderValues {
  /** Epoch milliseconds. */
  readonly now: number
  readonly requestId: string
  /** The CORS headers. */
  readonly cors?: ReadonlyArray<Header> | undefined
  /** `undefined` for probes, which are not limited. */
  readonly verdict?: Verdict | undefined
  /** The deprecation headers of the operation. */
  readonly deprecation?: ReadonlyArray<Header> | undefined
}

/** Returns the response with the common headers added. */
export type Add = (response: ServiceResponse, values: HeaderValues) => ServiceResponse

/** Creates the function that adds the headers. */
export const make =
  ({ standardHeaders }: Pick<ServiceOptions, "standardHeaders">): Add =>
  (
    { body, bytes, headers: responseHeaders, status },
    { cors, deprecation = [], now, requestId, verdict }
  ) => {
    const headers: Array<Header> = [["Date", HttpDate.format(now)]]
    // Responses with a file, and 304 responses for unchanged files, have a `Cache-Control` of their own.
    if (bytes === undefined && status !== 304) headers.push(cacheControl)
    headers.push(contentTypeOptions)
    if (body !== "") headers.push(contentType)
    if (cors !== undefined) headers.push(...cors)
    headers.push(...responseHeaders, ...deprecation)
    if (verdict !== undefined) {
      headers.push(...RateLimitHeaders.ofContract(verdict))
      if (standardHeaders) headers.push(...RateLimitHeaders.standard(verdict))
      if (status === 429) headers.push(["Retry-After", String(verdict.retryAfter)])
      if (status === 503) headers.push(["Retry-After", String(Admission.UNAVAILABLE_RETRY_AFTER)])
    }
    headers.push(["X-Request-Id", requestId])
    return bytes === undefined ? { status, headers, body } : { status, headers, body, bytes }
  }

const cacheControl: Header = ["Cache-Control", "no-store"]
const contentTypeOptions: Header = ["X-Content-Type-Options", "nosniff"]
const contentType: Header = ["Content-Type", "application/json; charset=utf-8"]
