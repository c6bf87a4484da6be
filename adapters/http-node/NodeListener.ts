/** The service as a `(request, response)` listener of `node:http`, for any server built on it. */
import { Buffer } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Service } from "../../core/service/Service.ts"
import { BodyConsumed, BodyTooLarge, type ServiceRequest } from "../../core/service/ServiceRequest.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void

/** Bytes of a refused body that are read and thrown away, so that its sender comes to read the answer. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024

/** A listener; the request's fiber is interrupted when its client goes away. */
export const make: Effect.Effect<NodeListener, never, Service> = Effect.gen(function* () {
  const service = yield* Service
  const run = Effect.runCallbackWith(yield* Effect.context())
  return (request, response) => {
    let answered = false
    const interrupt = run(service.handle(new NodeRequest(request, response)), {
      onExit: (exit) => {
        answered = true
        if (Exit.isSuccess(exit)) send(request, response, exit.value)
        else response.destroy()
      }
    })
    // Most requests are answered by now and need no listener.
    if (!answered) response.once("close", () => interrupt())
  }
})

class NodeRequest implements ServiceRequest {
  readonly #request: IncomingMessage & { readonly originalUrl?: unknown }
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
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
    return Effect.callback((resume) => {
      const request = this.#request
      if (Readable.isDisturbed(request)) return resume(Effect.fail(new BodyConsumed()))
      if (request.headers.expect !== undefined) this.#response.writeContinue()
      const chunks: Array<Buffer> = []
      let size = 0
      const onData = (chunk: Buffer): void => {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
        else settle(Effect.fail(new BodyTooLarge()))
      }
      const onEnd = (): void => settle(Effect.succeed(Buffer.concat(chunks)))
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

/** Whether more of the request's body is to come. */
export const hasPendingBody = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)

/** Writes an answer. */
export const send = (
  request: IncomingMessage,
  response: ServerResponse,
  { body, headers, status }: ServiceResponse
): void => {
  const fields: Array<string> = []
  for (const [name, value] of headers) fields.push(name, value)
  if (status !== 204) fields.push("Content-Length", String(Buffer.byteLength(body)))
  response.writeHead(status, fields)
  response.end(body)
  if (hasPendingBody(request)) drain(request)
}

/** Reads on, for a while, what a client sends after it was answered: a reset would take the answer from it. */
const drain = (request: IncomingMessage): void => {
  let allowance = MAX_DRAINED_BYTES
  request.on("data", (chunk: Buffer) => {
    allowance -= chunk.length
    if (allowance < 0) request.socket.destroy()
  })
}
