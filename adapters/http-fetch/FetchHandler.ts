/** Wraps the service in a web `Request → Response` function for Hono, Bun, Deno, workers and route handlers. */
import * as Effect from "effect/Effect"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as Options from "../../core/options/Options.ts"
import { InFlight } from "../../core/service/InFlight.ts"
import { Service } from "../../core/service/Service.ts"
import { pairs, type ServiceResponse } from "../../core/service/ServiceResponse.ts"
import { type FetchHandlerOptions, table } from "./FetchHandlerOptions.ts"
import { FetchRequest } from "./FetchRequest.ts"

/** The handler that a web-standard host calls. */
export type FetchHandler = (request: Request) => Promise<Response>

export type { FetchHandlerOptions } from "./FetchHandlerOptions.ts"

/**
 * Creates a handler. Its promise rejects if the client has disconnected: with `request.signal.reason` if that signal
 * aborts, which also interrupts the request's fiber, or with the stream's error if the body fails.
 */
export const make = Effect.fnUntraced(function* (
  given?: FetchHandlerOptions
): Effect.fn.Return<FetchHandler, InvalidOption, Service> {
  const options = yield* Effect.fromResult(Options.check<FetchHandlerOptions>(table, given))
  const service = yield* Service
  const inFlight = yield* InFlight
  const run = Effect.runPromiseWith(yield* Effect.context())
  return async (request) => {
    const { signal } = request
    signal.throwIfAborted()
    const incoming = new FetchRequest(request, options)
    inFlight?.begin()
    try {
      return toResponse(request, await run(service.handle(incoming), { signal }))
    } catch (error) {
      signal.throwIfAborted()
      throw incoming.bodyFailure === undefined ? error : incoming.bodyFailure.reason
    } finally {
      inFlight?.end()
    }
  }
})

/**
 * Converts a response of the service.
 *
 * @internal
 */
export const toResponse = (request: Request, { body, bytes, headers, status }: ServiceResponse): Response => {
  const fields = new Headers()
  for (const [name, value] of pairs(headers)) fields.append(name, value)
  if (bytes !== undefined) {
    fields.set("Content-Length", String(bytes.length))
    return new Response(request.method === "HEAD" ? null : streamOf(bytes), { status, headers: fields })
  }
  // A response with these statuses has no body, and thus no length (RFC 9110 §8.6).
  if (request.method === "HEAD" && status !== 204 && status !== 304) {
    fields.set("Content-Length", String(new TextEncoder().encode(body).length))
  }
  return new Response(request.method === "HEAD" || body === "" ? null : body, { status, headers: fields })
}

const CHUNK_BYTES = 64 * 1024

/** Streams a file as fast as the host reads it. The chunks are copies, because a host may transfer their memory. */
const streamOf = (bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> => {
  let sent = 0
  return new ReadableStream(
    {
      pull: (controller) => {
        controller.enqueue(new Uint8Array(bytes.subarray(sent, sent + CHUNK_BYTES)))
        sent += CHUNK_BYTES
        if (sent >= bytes.length) controller.close()
      }
    },
    { highWaterMark: 0 }
  )
}
