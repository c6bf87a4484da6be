/** The service as a web-standard `Request → Response` function: Hono, Bun, Deno, workers, route handlers. */
import * as Effect from "effect/Effect"
import { Service } from "../../core/service/Service.ts"
import { BodyConsumed, BodyTooLarge, type ServiceRequest } from "../../core/service/ServiceRequest.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"

export type FetchHandler = (request: Request) => Promise<Response>

export interface FetchHandlerOptions {
  /** The caller's IP address, where the host knows it; a `Request` does not. */
  readonly clientAddress?: ((request: Request) => string | undefined) | undefined
}

/** A handler; the request's fiber is interrupted when `request.signal` aborts, and the promise rejects. */
export const make = Effect.fnUntraced(function* (
  options: FetchHandlerOptions = {}
): Effect.fn.Return<FetchHandler, never, Service> {
  const service = yield* Service
  const run = Effect.runPromiseWith(yield* Effect.context())
  return async (request) => {
    const response = await run(service.handle(new FetchRequest(request, options)), { signal: request.signal })
    return toResponse(request, response)
  }
})

class FetchRequest implements ServiceRequest {
  readonly #request: Request
  readonly #options: FetchHandlerOptions

  constructor(request: Request, options: FetchHandlerOptions) {
    this.#request = request
    this.#options = options
  }

  get method(): string {
    return this.#request.method
  }

  get target(): string {
    return this.#request.url
  }

  get clientAddress(): string | undefined {
    return this.#options.clientAddress?.(this.#request)
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  body(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed> {
    const { body, bodyUsed } = this.#request
    if (bodyUsed || body?.locked === true) return Effect.fail(new BodyConsumed())
    return body === null ? Effect.succeed(new Uint8Array()) : readAtMost(body, maxBytes)
  }
}

// A body that breaks off has no one left to answer, hence the interruption.
const readAtMost = (
  body: ReadableStream<Uint8Array>,
  maxBytes: number
): Effect.Effect<Uint8Array, BodyTooLarge> =>
  Effect.matchEffect(
    Effect.tryPromise(async () => {
      const chunks: Array<Uint8Array> = []
      let size = 0
      // Leaving the loop cancels the stream, so nothing beyond the limit is read.
      for await (const chunk of body) {
        size += chunk.length
        if (size > maxBytes) return undefined
        chunks.push(chunk)
      }
      const bytes = new Uint8Array(size)
      let offset = 0
      for (const chunk of chunks) {
        bytes.set(chunk, offset)
        offset += chunk.length
      }
      return bytes
    }),
    {
      onSuccess: (bytes) => (bytes === undefined ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)),
      onFailure: () => Effect.interrupt
    }
  )

const toResponse = (request: Request, { body, headers, status }: ServiceResponse): Response => {
  const fields = new Headers()
  for (const [name, value] of headers) fields.append(name, value)
  if (request.method === "HEAD") fields.set("Content-Length", String(new TextEncoder().encode(body).length))
  return new Response(request.method === "HEAD" || body === "" ? null : body, { status, headers: fields })
}
