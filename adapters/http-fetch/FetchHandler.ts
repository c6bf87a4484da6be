/** The service as a web-standard `Request → Response` function: Hono, Bun, Deno, workers, route handlers. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Immediate from "../../core/ports/Immediate.ts"
import { Service } from "../../core/service/Service.ts"
import { BodyConsumed, BodyTooLarge, type ServiceRequest } from "../../core/service/ServiceRequest.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"

/** What web-standard hosts call. */
export type FetchHandler = (request: Request) => Promise<Response>

/** What a host can tell the handler. */
export interface FetchHandlerOptions {
  /** The caller's IP address, where the host knows it; a `Request` does not. */
  readonly clientAddress?: ((request: Request) => string | undefined) | undefined
}

/**
 * A handler. Its promise rejects when there is no one left to answer: with `request.signal.reason` when that signal
 * aborts, which also interrupts the request's fiber, and with the stream's error when the body breaks off.
 */
export const make = Effect.fnUntraced(function* (
  options: FetchHandlerOptions = {}
): Effect.fn.Return<FetchHandler, never, Service> {
  const service = yield* Service
  const clock = yield* Clock.Clock
  const run = Effect.runPromiseWith(yield* Effect.context())
  return async (request) => {
    const { signal } = request
    signal.throwIfAborted()
    const incoming = new FetchRequest(request, options)
    try {
      const answering = Immediate.start(service.handle(incoming, clock))
      const isAnswered = Immediate.isDone(answering) && Exit.isSuccess(answering)
      return toResponse(request, isAnswered ? answering.value : await run(answering, { signal }))
    } catch (error) {
      signal.throwIfAborted()
      throw incoming.brokenOff === undefined ? error : incoming.brokenOff.reason
    }
  }
})

class FetchRequest implements ServiceRequest {
  /** Why the body ended too early, if it did. */
  brokenOff: { readonly reason: unknown } | undefined
  readonly #request: Request
  readonly #options: FetchHandlerOptions

  constructor(request: Request, options: FetchHandlerOptions) {
    this.#request = request
    this.#options = options
  }

  get method(): string {
    return this.#request.method
  }

  // A `Request` keeps the fragment, which is never sent over a connection.
  get target(): string {
    const { url } = this.#request
    const hash = url.indexOf("#")
    return hash < 0 ? url : url.slice(0, hash)
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
    if (body === null) return Effect.succeed(new Uint8Array())
    return Effect.matchEffect(readAtMost(body, maxBytes), {
      onSuccess: (bytes) => (bytes === undefined ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)),
      onFailure: ({ reason }) =>
        Effect.withFiber((fiber) => {
          this.brokenOff = { reason }
          fiber.interruptUnsafe()
          return Effect.never
        })
    })
  }
}

/** The bytes of `body`, or `undefined` when there are more than `maxBytes`: no more than that is read. */
const readAtMost = (
  body: ReadableStream<Uint8Array>,
  maxBytes: number
): Effect.Effect<Uint8Array | undefined, { readonly reason: unknown }> =>
  Effect.tryPromise({
    try: async (signal) => {
      const reader = body.getReader()
      // The source may never acknowledge that it is not wanted any more; nothing waits for it.
      const cancel = (): void => void reader.cancel().catch(() => undefined)
      signal.addEventListener("abort", cancel)
      const chunks: Array<Uint8Array> = []
      let size = 0
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        size += read.value.length
        if (size > maxBytes) {
          cancel()
          return undefined
        }
        chunks.push(read.value)
      }
      const bytes = new Uint8Array(size)
      let offset = 0
      for (const chunk of chunks) {
        bytes.set(chunk, offset)
        offset += chunk.length
      }
      return bytes
    },
    catch: (reason) => ({ reason })
  })

const toResponse = (request: Request, { body, bodyBytes, headers, status }: ServiceResponse): Response => {
  const fields = new Headers()
  for (const [name, value] of headers) fields.append(name, value)
  if (request.method === "HEAD")
    fields.set("Content-Length", String(bodyBytes ?? new TextEncoder().encode(body).length))
  return new Response(request.method === "HEAD" || body === "" ? null : body, { status, headers: fields })
}
