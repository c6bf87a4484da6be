/**
 * Calls a handler of `Request` objects without a socket. A request that `Request` rejects or changes is not sent.
 */
import { setTimeout } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as ResponseLimits from "./ResponseLimits.ts"
import { NoResponse, type Transport, type WireRequest, type WireResponse } from "./Wire.ts"

/** A function from `Request` to `Response`, as in Hono, Bun, Deno and route handlers. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** Number of body parts after which timers may run; a stream that never waits would block them. */
const PARTS_AT_ONCE = 1_000

/** Creates a transport to a handler; the URLs of its requests have this origin. */
export const make =
  (handler: FetchHandler, origin = "http://subject.test", timeoutMs = 10_000): Transport =>
  (request) =>
    Effect.suspend(() => {
      let hasBegun = false
      const noResponse = (kind: NoResponse["kind"], reason: string) =>
        new NoResponse({ kind, reason, hasBegun })
      const received = Effect.tryPromise({
        try: async (signal): Promise<WireResponse> => {
          const response = await handler(requestOf(origin, request, signal))
          const { status } = response
          const headers = [...response.headers]
          hasBegun = true
          const excess = ResponseLimits.headersExceed(headers)
          if (excess !== undefined) throw noResponse("excess", excess)
          const body = ResponseLimits.boundedBody()
          let parts = 0
          const write = async (part: unknown): Promise<void> => {
            if (!(part instanceof Uint8Array)) throw new TypeError("a part of the body is not a Uint8Array")
            if (!body.add(part)) throw noResponse("excess", ResponseLimits.bodyTooLong)
            if (++parts % PARTS_AT_ONCE === 0) await setTimeout(0)
          }
          await response.body?.pipeTo(new WritableStream({ write }), { signal })
          return { status, headers, body: body.bytes() }
        },
        catch: (cause) => {
          if (cause instanceof NoResponse) return cause
          return noResponse("connection", cause instanceof Error ? cause.message : String(cause))
        }
      })
      return Effect.timeoutOrElse(received, {
        duration: timeoutMs,
        orElse: () => Effect.fail(noResponse("timeout", `no complete response within ${timeoutMs} ms`))
      })
    })

const requestOf = (
  origin: string,
  { body, headers, method, target }: WireRequest,
  signal: AbortSignal
): Request => {
  const unsent = (reason: string) => new NoResponse({ kind: "unsent", reason })
  let request: Request
  try {
    request = new Request(origin + target, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      ...(body === undefined ? {} : { body: body.slice() }),
      signal
    })
  } catch (cause) {
    throw unsent(String(cause))
  }
  if (request.method !== method || request.url !== origin + target || target.includes("#")) {
    throw unsent(`a Request cannot express ${method} ${target}`)
  }
  return request
}
