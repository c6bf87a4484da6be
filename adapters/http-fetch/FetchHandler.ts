/** Wraps the service in a web `Request → Response` function for Hono, Bun, Deno, workers and route handlers. */
import * as Effect from "effect/Effect"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as Options from "../../core/options/Options.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import { InFlight } from "../../core/service/InFlight.ts"
import { Service } from "../../core/service/Service.ts"
import {
  BodyConsumed,
  BodyTooLarge,
  type Scheme,
  type ServiceRequest
} from "../../core/service/ServiceRequest.ts"
import { pairs, type ServiceResponse } from "../../core/service/ServiceResponse.ts"

/** The handler that a web-standard host calls. */
export type FetchHandler = (request: Request) => Promise<Response>

/** Options of the handler. */
export interface FetchHandlerOptions {
  /** Returns the client's IP address for `fetch`; without it, all clients without a key share one rate limit. */
  readonly clientAddress?: ((request: Request) => string | undefined) | undefined
  /**
   * Whether the host of `fetch` ends each body at its `Content-Length`, as `Bun.serve` and `Deno.serve` do. Such a body
   * is read in one call, without a stream. By default only requests whose `arrayBuffer` the host has replaced are read
   * this way, because a `Request` that other code creates can carry more bytes than it declares.
   */
  readonly trustContentLength?: boolean | undefined
}

const NO_FETCH = "`serve` does not use `fetch`"

/**
 * The rule and the default of each option.
 *
 * @internal
 */
export const table = {
  clientAddress: OptionTable.programOnly(
    Rule.callback<NonNullable<FetchHandlerOptions["clientAddress"]>>(),
    undefined,
    NO_FETCH
  ),
  trustContentLength: OptionTable.programOnly(Rule.boolean, false, NO_FETCH)
} satisfies OptionTable.OptionTable<FetchHandlerOptions>

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

class FetchRequest implements ServiceRequest {
  /** The error of the body stream, if it failed. */
  bodyFailure: { readonly reason: unknown } | undefined
  readonly #request: Request
  readonly #options: FetchHandlerOptions

  constructor(request: Request, options: FetchHandlerOptions) {
    this.#request = request
    this.#options = options
  }

  get method(): string {
    return this.#request.method
  }

  // A `Request` URL may have a fragment, which HTTP clients never send.
  get target(): string {
    const { url } = this.#request
    const fragmentStart = url.indexOf("#")
    return fragmentStart < 0 ? url : url.slice(0, fragmentStart)
  }

  get scheme(): Scheme {
    return this.#request.url.startsWith("https:") ? "https" : "http"
  }

  get clientAddress(): string | undefined {
    return this.#options.clientAddress?.(this.#request)
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  body(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed> {
    if (this.#request.bodyUsed) return Effect.fail(new BodyConsumed())
    if (this.#isFramed(maxBytes)) {
      return this.#read(readWhole(this.#request, maxBytes), (reason) =>
        // Checked only now, because the access to `body` makes a host create the stream.
        isHeldByAnother(this.#request) ? Effect.fail(new BodyConsumed()) : this.#broken(reason)
      )
    }
    const { body } = this.#request
    if (body === null) return Effect.succeed(new Uint8Array())
    if (body.locked) return Effect.fail(new BodyConsumed())
    return this.#read(readAtMost(body, maxBytes), this.#broken)
  }

  /**
   * Whether the host limits the body to its declared length, and that length is at most `maxBytes`. A standard
   * `Request` can wrap a stream that is longer than declared, so only requests whose `arrayBuffer` was replaced by the
   * host are trusted by default. Requests of another class, such as undici's, are not instances of the global class.
   */
  #isFramed(maxBytes: number): boolean {
    const { arrayBuffer, headers } = this.#request
    const isReplaced = this.#request instanceof Request && arrayBuffer !== Request.prototype.arrayBuffer
    if (!isReplaced && this.#options.trustContentLength !== true) return false
    // The length of compressed bytes does not bound the bytes that a host decompresses.
    if (headers.has("content-encoding") || headers.has("transfer-encoding")) return false
    const length = headers.get("content-length") ?? ""
    return /^[0-9]+$/.test(length) && Number(length) <= maxBytes
  }

  #read(
    reading: Reading,
    onFailure: (reason: unknown) => Effect.Effect<never, BodyConsumed>
  ): Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed> {
    return Effect.matchEffect(reading, {
      onSuccess: (bytes) => (bytes === undefined ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)),
      onFailure: ({ reason }) => onFailure(reason)
    })
  }

  /** Interrupts the request, whose body failed because the client has disconnected. */
  readonly #broken = (reason: unknown): Effect.Effect<never> =>
    Effect.withFiber((fiber) => {
      this.bodyFailure = { reason }
      fiber.interruptUnsafe()
      return Effect.never
    })
}

/**
 * Whether other code has locked the body with a reader, but has not read from it. Reads `body` only if `bodyUsed` is
 * false, because some hosts create the stream on the first access.
 */
const isHeldByAnother = (request: Request): boolean => !request.bodyUsed && request.body?.locked === true

type Reading = Effect.Effect<Uint8Array | undefined, { readonly reason: unknown }>

/**
 * Reads a body that the host has limited; returns `undefined` if it exceeds `maxBytes`. Uses no stream, because
 * creating a stream takes longer than handling a request.
 */
const readWhole = (request: Request, maxBytes: number): Reading =>
  Effect.tryPromise({
    try: async () => {
      const bytes = new Uint8Array(await request.arrayBuffer())
      return bytes.length <= maxBytes ? bytes : undefined
    },
    catch: (reason) => ({ reason })
  })

/** Reads `body`, or returns `undefined` as soon as it exceeds `maxBytes`. */
const readAtMost = (body: ReadableStream<Uint8Array>, maxBytes: number): Reading =>
  Effect.tryPromise({
    try: async (signal) => {
      const reader = body.getReader()
      // Not awaited, because the source may never acknowledge the cancellation.
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

const toResponse = (request: Request, { body, bytes, headers, status }: ServiceResponse): Response => {
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
