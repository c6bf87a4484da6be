/** Adds the headers that every response carries (contract §8.3 "every response"). */
import * as HttpDate from "../codec/HttpDate.ts"
import type { Verdict } from "../limits/RateLimit.ts"
import * as Admission from "./Admission.ts"
import type { Header, ServiceResponse } from "./ServiceResponse.ts"

/** The values that the headers are made from. */
export interface HeaderValues {
  /** Epoch milliseconds. */
  readonly now: number
  readonly requestId: string
  /** `undefined` for probes, which are not limited. */
  readonly verdict?: Verdict | undefined
  /** The deprecation headers of the operation. */
  readonly deprecation?: ReadonlyArray<Header> | undefined
}

/** Returns the response with all its headers. */
export const add = (
  { body, headers: own, status }: ServiceResponse,
  { deprecation = [], now, requestId, verdict }: HeaderValues
): ServiceResponse => {
  const headers: Array<Header> = [["Date", HttpDate.format(now)], cacheControl, contentTypeOptions]
  if (body !== "") headers.push(contentType)
  headers.push(...own, ...deprecation)
  if (verdict !== undefined) {
    headers.push(
      ["X-RateLimit-Limit", String(verdict.limit)],
      ["X-RateLimit-Remaining", String(verdict.remaining)],
      ["X-RateLimit-Reset", String(verdict.resetAt)]
    )
    if (status === 429) headers.push(["Retry-After", String(verdict.retryAfter)])
    if (status === 503) headers.push(["Retry-After", String(Admission.UNAVAILABLE_RETRY_AFTER)])
  }
  headers.push(["X-Request-Id", requestId])
  return { status, headers, body }
}

const cacheControl: Header = ["Cache-Control", "no-store"]
const contentTypeOptions: Header = ["X-Content-Type-Options", "nosniff"]
const contentType: Header = ["Content-Type", "application/json; charset=utf-8"]
