/**
 * Calls a handler of `Request` objects without a socket. A request that `Request` rejects or changes is not sent.
 */
import * as Effect from "effect/Effect"
import * as BoundedBody from "./BoundedBody.ts"
import * as HeaderLimits from "./HeaderLimits.ts"
import { NoResponse, type Transport, type WireRequest, type WireResponse } from "./Wire.ts"

/** A function from `Request` to `Response`, as in Hono, Bun, Deno and route handlers. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

export interface FetchTransportOptions {
  /** Timeout for a complete response in ms; 10,000 by default. */
  readonly timeoutMs?: number
}

/** Creates a transport to a handler; the URLs of its requests have this origin. */
export const make =
  (
    handler: FetchHandler,
    origin = "http://subject.test",
    { timeoutMs = 10_000 }: FetchTransportOptions = {}
  ): Transport =>
  (request) =>
    Effect.suspend(() => {
      const progress = { hasBegun: false }
      return Effect.timeoutOrElse(exchange(handler, origin, request, progress), {
        duration: timeoutMs,
        orElse: () =>
          Effect.fail(
            new NoResponse({
              kind: "timeout",
              reason: `no complete response within ${timeoutMs} ms`,
              hasBegun: progress.hasBegun
            })
          )
      })
    })

/** Whether the handler has returned a response. */
interface Progress {
  hasBegun: boolean
}

const exchange = (
  handler: FetchHandler,
  origin: string,
  { body, headers, method, target }: WireRequest,
  progress: Progress
): Effect.Effect<WireResponse, NoResponse> =>
  Effect.tryPromise({
    try: async (signal) => {
      const request = requestOf(origin, { body, headers, method, target }, signal)
      const response = await handler(request)
      const given = [...response.headers]
      progress.hasBegun = true
      const excess = HeaderLimits.exceeded(given)
      if (excess !== undefined) {
        // Not awaited, because the cancellation of a stream may take long.
        response.body?.cancel().catch(() => undefined)
        throw new NoResponse({ kind: "excess", reason: excess, hasBegun: true })
      }
      return { status: response.status, headers: given, body: await bodyOf(response, signal) }
    },
    catch: (cause) =>
      cause instanceof NoResponse
        ? cause
        : new NoResponse({
            kind: "connection",
            reason: cause instanceof Error ? cause.message : String(cause),
            hasBegun: progress.hasBegun
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

/** Number of body parts after which timers may run; a stream that never waits would block them. */
const PARTS_AT_ONCE = 1_000

const bodyOf = async ({ body }: Response, signal: AbortSignal): Promise<Uint8Array> => {
  const read = BoundedBody.make()
  if (body === null) return read.bytes()
  const reader = body.getReader()
  for (let parts = 1; ; parts++) {
    const { done, value } = await reader.read()
    if (done) return read.bytes()
    if (!(value instanceof Uint8Array)) throw new TypeError("a part of the body is not a Uint8Array")
    if (signal.aborted || !read.add(value)) {
      reader.cancel().catch(() => undefined)
      throw new NoResponse({ kind: "excess", reason: BoundedBody.tooLong, hasBegun: true })
    }
    if (parts % PARTS_AT_ONCE === 0) await new Promise<void>((resolve) => setTimeout(resolve, 0))
  }
}
