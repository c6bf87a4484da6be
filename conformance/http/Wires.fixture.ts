/** Creates responses, and transports that use no network, for tests. */
import * as Effect from "effect/Effect"
import { bytes, type Header, type Transport, type WireRequest, type WireResponse } from "./Wire.ts"

/** Creates a response with a text body. */
export const wireResponse = (
  status: number,
  headers: ReadonlyArray<Header> = [],
  body = ""
): WireResponse => ({
  status,
  headers,
  body: bytes(body)
})

/** Returns the three headers of contract §8.3. */
export const rate = (limit: number, remaining: number, resetAt: number): ReadonlyArray<Header> => [
  ["X-RateLimit-Limit", String(limit)],
  ["X-RateLimit-Remaining", String(remaining)],
  ["X-RateLimit-Reset", String(resetAt)]
]

/** Creates a transport that gets its responses from `respond`; `sent` contains all requests so far. */
export const recording = (respond: (request: WireRequest, index: number) => WireResponse) => {
  const sent: Array<WireRequest> = []
  const transport: Transport = (request) =>
    Effect.sync(() => {
      sent.push(request)
      return respond(request, sent.length - 1)
    })
  return { sent, transport }
}
