/** Transports that are functions, for tests of their users. */
import * as Effect from "effect/Effect"
import { bytes, type Header, type Transport, type WireRequest, type WireResponse } from "./Wire.ts"

/** A response with a text body. */
export const wireResponse = (
  status: number,
  headers: ReadonlyArray<Header> = [],
  body = ""
): WireResponse => ({
  status,
  headers,
  body: bytes(body)
})

/** The three headers of contract §8.3. */
export const rate = (limit: number, remaining: number, resetAt: number): ReadonlyArray<Header> => [
  ["X-RateLimit-Limit", String(limit)],
  ["X-RateLimit-Remaining", String(remaining)],
  ["X-RateLimit-Reset", String(resetAt)]
]

/** Responds to each request with a function, and records the requests. */
export const recording = (respond: (request: WireRequest, index: number) => WireResponse) => {
  const sent: Array<WireRequest> = []
  const transport: Transport = (request) =>
    Effect.sync(() => {
      sent.push(request)
      return respond(request, sent.length - 1)
    })
  return { sent, transport }
}
