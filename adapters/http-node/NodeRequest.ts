/** A request of `node:http` as the service asks for it. */
import { Buffer } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import * as Effect from "effect/Effect"
import * as Immediate from "../../core/ports/Immediate.ts"
import { BodyConsumed, BodyTooLarge, type ServiceRequest } from "../../core/service/ServiceRequest.ts"

export class NodeRequest implements ServiceRequest {
  readonly #request: IncomingMessage & { readonly originalUrl?: unknown }
  #sendContinue: (() => void) | undefined
  /** Whether the service asked for the body, as it does for callers that may send one. */
  isBodyWanted = false
  /** Whether all of the body was there at once and was read. */
  isBodyRead = false

  constructor(request: IncomingMessage, sendContinue: (() => void) | undefined) {
    this.#request = request
    this.#sendContinue = sendContinue
  }

  /** Whether the client waits for "100 Continue": it sends no body without, and Node ends the connection. */
  get isAwaitingContinue(): boolean {
    return this.#sendContinue !== undefined
  }

  get method(): string {
    return this.#request.method ?? ""
  }

  // Express and Connect cut the path they mount at from `url` and keep the whole in `originalUrl`.
  get target(): string {
    const { originalUrl, url } = this.#request
    return typeof originalUrl === "string" ? originalUrl : (url ?? "")
  }

  get clientAddress(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  // `request.headers` drops repeated fields such as a second Authorization; the raw list keeps them.
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
    return new Immediate.Immediate<Uint8Array, BodyTooLarge | BodyConsumed>(() => {
      this.isBodyWanted = true
      const request = this.#request
      // A host that set an encoding gets text instead of bytes, and so would we.
      if (Readable.isDisturbed(request) || request.readableEncoding !== null) {
        return Effect.fail(new BodyConsumed())
      }
      // Where the server knows that there is no body, its end has come already and is not told.
      if (request.readableEnded) return Effect.succeed(new Uint8Array())
      const { complete, headers, readableLength } = request
      const declaredLength = Number(headers["content-length"] ?? Number.NaN)
      // Before "100 Continue": the client need not send what is too large anyway.
      if (declaredLength > maxBytes) return Effect.fail(new BodyTooLarge())
      this.#sendContinue?.()
      this.#sendContinue = undefined
      const isThere = complete || readableLength === declaredLength
      if (!isThere) return this.#arrivingBody(maxBytes)
      if (readableLength > maxBytes) return Effect.fail(new BodyTooLarge())
      const bytes: Buffer | null = request.read()
      this.isBodyRead = true
      return Effect.succeed(bytes ?? new Uint8Array())
    })
  }

  #arrivingBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge> {
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

/** Whether the request has a body, as its headers say. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** Whether more of the request's body is to come. Where the server knows that there is none, its end has come already. */
export const hasPendingBody = (request: IncomingMessage): boolean =>
  !request.complete && !request.readableEnded && hasBody(request)
