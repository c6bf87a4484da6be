/** A web-standard handler called without a socket. Methods and targets that `Request` refuses are no answer. */
import * as Effect from "effect/Effect"
import { NoAnswer, type Transport, type WireRequest, type WireResponse } from "./Wire.ts"

/** A `Request → Response` function, as Hono, Bun, Deno and route handlers have. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** Ms within which a handler must answer. */
const TIMEOUT_MS = 10_000

/** A transport to a handler that sees requests to `origin`. */
export const make =
  (handler: FetchHandler, origin = "http://subject.test"): Transport =>
  ({ body, headers, method, target }) =>
    Effect.timeoutOrElse(answer(handler, origin, { body, headers, method, target }), {
      duration: TIMEOUT_MS,
      orElse: () =>
        Effect.fail(new NoAnswer({ kind: "timeout", reason: `no complete answer within ${TIMEOUT_MS} ms` }))
    })

const answer = (
  handler: FetchHandler,
  origin: string,
  { body, headers, method, target }: WireRequest
): Effect.Effect<WireResponse, NoAnswer> =>
  Effect.tryPromise({
    try: async (signal) => {
      const request = new Request(origin + target, {
        method,
        headers: headers.map(([name, value]): [string, string] => [name, value]),
        ...(body === undefined ? {} : { body: body.slice() }),
        signal
      })
      const response = await handler(request)
      return {
        status: response.status,
        headers: [...response.headers],
        body: new Uint8Array(await response.arrayBuffer())
      }
    },
    catch: (cause) =>
      new NoAnswer({ kind: "connection", reason: cause instanceof Error ? cause.message : String(cause) })
  })
