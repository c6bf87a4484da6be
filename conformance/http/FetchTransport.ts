/** A web-standard handler called without a socket. Methods and targets that `Request` refuses are no answer. */
import * as Effect from "effect/Effect"
import { NoAnswer, type Transport } from "./Wire.ts"

/** A `Request → Response` function, as Hono, Bun, Deno and route handlers have. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** A transport to a handler that sees requests to `origin`. */
export const make =
  (handler: FetchHandler, origin = "http://subject.test"): Transport =>
  ({ body, headers, method, target }) =>
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
