/** Adapts a web-standard `Request` to the service's `ServiceRequest`. */
import * as Effect from "effect/Effect"
import {
  BodyConsumed,
  BodyTooLarge,
  type Scheme,
  type ServiceRequest
} from "../../core/service/ServiceRequest.ts"
import type { FetchHandlerOptions } from "./FetchHandlerOptions.ts"

export class FetchRequest implements ServiceRequest {
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
