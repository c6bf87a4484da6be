/** Adapts a request of `node:http` to the service's `ServiceRequest`. */
import { Buffer } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import * as Effect from "effect/Effect"
import {
  BodyConsumed,
  BodyTooLarge,
  type Scheme,
  type ServiceRequest
} from "../../core/service/ServiceRequest.ts"

export class NodeRequest implements ServiceRequest {
  readonly #request: IncomingMessage & { readonly originalUrl?: unknown }
  #sendContinue: (() => void) | undefined
  /** Whether the service has started to read the body. */
  isBodyRequested = false
  /** Whether the whole body had already arrived and was read in one call. */
  isBodyRead = false

  constructor(request: IncomingMessage, sendContinue: (() => void) | undefined) {
    this.#request = request
    this.#sendContinue = sendContinue
  }

  /** Whether the client still waits for "100 Continue" and sends no body; Node then closes the connection. */
  get isAwaitingContinue(): boolean {
    return this.#sendContinue !== undefined
  }

  get method(): string {
    return this.#request.method ?? ""
  }

  // Express and Connect remove the mount path from `url`; `originalUrl` has the full target.
  get target(): string {
    const { originalUrl, url } = this.#request
    return typeof originalUrl === "string" ? originalUrl : (url ?? "")
  }

  // A `TLSSocket` has the property; its class is not imported, because few hosts need it.
  get scheme(): Scheme {
    return "encrypted" in this.#request.socket ? "https" : "http"
  }

  get clientAddress(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  // `request.headers` drops repeated fields such as a second Authorization; `rawHeaders` has them all.
  header(name: string): string | undefined {
    const { rawHeaders } = this.#request
    let values: string | undefined
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const candidate = rawHeaders[index]
      if (candidate?.length === name.length && candidate.toLowerCase() === name) {
        const value = rawHeaders[index + 1] ?? ""
        values = values === undefined ? value : `${values}, ${value}`
      }
    }
    return values
  }

  body(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed> {
    return Effect.suspend((): Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed> => {
      this.isBodyRequested = true
      const request = this.#request
      // If the host has set an encoding, the stream returns text instead of bytes.
      if (Readable.isDisturbed(request) || request.readableEncoding !== null) {
        return Effect.fail(new BodyConsumed())
      }
      // Without a body, `end` may already have been emitted.
      if (request.readableEnded) return Effect.succeed(new Uint8Array())
      const { complete, headers, readableLength } = request
      const declaredLength = Number(headers["content-length"] ?? Number.NaN)
      // Checked before "100 Continue", so that the client does not send a body that is too large.
      if (declaredLength > maxBytes) return Effect.fail(new BodyTooLarge())
      this.#sendContinue?.()
      this.#sendContinue = undefined
      const hasArrived = complete || readableLength === declaredLength
      if (!hasArrived) return this.#collectBody(maxBytes)
      if (readableLength > maxBytes) return Effect.fail(new BodyTooLarge())
      // Since Node 26, `read` returns one chunk, not all of them.
      const chunks: Array<Buffer> = []
      for (let chunk = request.read(); chunk !== null; chunk = request.read()) chunks.push(chunk)
      this.isBodyRead = true
      const [first = new Uint8Array()] = chunks
      return Effect.succeed(chunks.length > 1 ? Buffer.concat(chunks) : first)
    })
  }

  /** Collects the body as its chunks arrive. */
  #collectBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge> {
    return Effect.callback((resume) => {
      const request = this.#request
      const chunks: Array<Buffer> = []
      let size = 0
      const onData = (chunk: Buffer): void => {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
        else settle(Effect.fail(new BodyTooLarge()))
      }
      const onEnd = (): void => settle(Effect.succeed(Buffer.concat(chunks, size)))
      const stop = (): void => {
        request.off("data", onData).off("end", onEnd)
      }
      const settle = (result: Effect.Effect<Uint8Array, BodyTooLarge>): void => {
        stop()
        resume(result)
      }
      request.on("data", onData).on("end", onEnd)
      return Effect.sync(stop)
    })
  }
}

/** Whether the headers declare a request body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** Whether part of the request body has not arrived yet. Without a body, `end` may already have been emitted. */
export const hasPendingBody = (request: IncomingMessage): boolean =>
  !request.complete && !request.readableEnded && hasBody(request)
