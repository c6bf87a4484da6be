/** Reads the rate limit headers and Retry-After (contract §8.3, §8.4) as numbers. */
import { header, type WireResponse } from "./Wire.ts"

/** Milliseconds after which any one-minute window has ended, and a full per-minute limit is available again. */
export const MINUTE_PASSED_MS = 61_000

export interface RateHeaders {
  readonly limit: number
  readonly remaining: number
  /** The time of Reset in epoch seconds. */
  readonly resetAt: number
}

const whole = (text: string | undefined): number | undefined =>
  text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined

/** Returns the three rate limit headers; `undefined` if one is missing, repeated or not a whole number. */
export const of = (response: Pick<WireResponse, "headers">): RateHeaders | undefined => {
  const limit = whole(header(response, "x-ratelimit-limit"))
  const remaining = whole(header(response, "x-ratelimit-remaining"))
  const resetAt = whole(header(response, "x-ratelimit-reset"))
  return limit === undefined || remaining === undefined || resetAt === undefined
    ? undefined
    : { limit, remaining, resetAt }
}

/**
 * Returns the seconds to wait by `Retry-After`, a number of seconds or a date (RFC 9110 §10.2.3); the contract allows
 * both. `receivedAt` is the time of the response in epoch ms, by the subject's clock if `byClock` is true. The wait for a
 * date starts at the `Date` of the response; it starts at `receivedAt` if `Date` is missing, or if `byClock` is true.
 * Returns `undefined` if the header is missing, repeated or invalid.
 */
export const retryAfterSeconds = (
  response: Pick<WireResponse, "headers">,
  receivedAt: number,
  byClock = false
): number | undefined => {
  const value = header(response, "retry-after")
  const seconds = whole(value)
  if (seconds !== undefined || value === undefined) return seconds
  const date = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(date)) return undefined
  // A server may take Date from another clock than that of the service.
  const sent = byClock ? Number.NaN : Date.parse(header(response, "date") ?? "")
  return Math.max(0, Math.ceil((date - (Number.isNaN(sent) ? receivedAt : sent)) / 1_000))
}
