/** Adapts a request of `node:http` to the service's `ServiceRequest`. */
import { Buffer } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import * as Effect from "effect/Effect"
import {
  BodyConsumed,
  BodyTooLarge,
  HostBusy,
  type Scheme,
  type ServiceRequest
} from "../../core/service/ServiceRequest.ts"
import type { ByteBudget, Kind } from "./ByteBudget.ts"
import { OutgoingResponse } from "./OutgoingResponse.ts"

/** Milliseconds after which a body that has not arrived is rejected if other requests of its caller wait. */
const YIELD_MS = 1_000

export class NodeRequest implements ServiceRequest {
  readonly #request: IncomingMessage & { readonly originalUrl?: unknown; readonly baseUrl?: unknown }
  readonly #response: ServerResponse
  readonly #budget: ByteBudget
  #sendContinue: (() => void) | undefined
  /** The bytes that the budget has reserved for the body or the response, and their kind and caller. */
  #kind: Kind | "added" = "added"
  #caller = ""
  #reserved = 0
  /** The bytes of the body that have arrived, and wait until the service reads them. */
  #arrived = 0
  /** Whether the service has started to read the body. */
  isBodyRequested = false
  /** Whether the whole body had already arrived and was read in one call. */
  isBodyRead = false

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    budget: ByteBudget,
    sendContinue: (() => void) | undefined
  ) {
    this.#request = request
    this.#response = response
    this.#budget = budget
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

  // Express sets `baseUrl`. Connect does not, and puts a slash before the rest of the target if it has none.
  get mountPath(): string | undefined {
    const { baseUrl, originalUrl, url = "" } = this.#request
    if (typeof baseUrl === "string") return baseUrl
    if (typeof originalUrl !== "string" || originalUrl === url) return undefined
    const rest = originalUrl.endsWith(url) ? url : url.slice(1)
    return originalUrl.endsWith(rest) ? originalUrl.slice(0, originalUrl.length - rest.length) : undefined
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

  body(maxBytes: number, caller: string): Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed | HostBusy> {
    return Effect.suspend((): Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed | HostBusy> => {
      this.isBodyRequested = true
      this.#dropArrived()
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
      const hasArrived = complete || readableLength === declaredLength
      if (!hasArrived) {
        const waiting = this.#reserve("body", declaredLength || maxBytes, caller)
        const collect = this.#collectBody(maxBytes)
        return waiting === undefined ? collect : Effect.flatMap(waiting, () => collect)
      }
      this.#continue()
      if (readableLength > maxBytes) return Effect.fail(new BodyTooLarge())
      // Since Node 26, `read` returns one chunk, not all of them.
      const chunks: Array<Buffer> = []
      for (let chunk = request.read(); chunk !== null; chunk = request.read()) chunks.push(chunk)
      this.isBodyRead = true
      const [first = new Uint8Array()] = chunks
      return Effect.succeed(chunks.length > 1 ? Buffer.concat(chunks) : first)
    })
  }

  room(bytes: number, caller: string): Effect.Effect<void, HostBusy> | undefined {
    return this.#reserve("response", bytes, caller)
  }

  /** Replaces the reservation of a response, whose body has `bytes` bytes, by those that are not flushed yet. */
  settle(bytes: number): void {
    const response = this.#response
    const pending = response.destroyed ? 0 : response.writableLength
    if (this.#reserved > 0) this.#budget.spend(bytes)
    this.release()
    if (pending === 0) return
    this.#kind = "added"
    this.#reserved = pending
    this.#budget.add(this.#caller, pending)
    response.once("close", () => this.release())
  }

  /** Counts the bytes of the body that have arrived; returns false if too many bodies wait. */
  tryHold(): boolean {
    const { readableLength } = this.#request
    if (!this.#budget.tryHold(readableLength)) return false
    this.#arrived = readableLength
    return true
  }

  #dropArrived(): void {
    this.#budget.drop(this.#arrived)
    this.#arrived = 0
  }

  /** Releases what is reserved for the request. */
  release(): void {
    this.#dropArrived()
    if (this.#reserved > 0) this.#budget.release(this.#kind, this.#caller, this.#reserved)
    this.#reserved = 0
  }

  set #isWaiting(isWaiting: boolean) {
    if (this.#response instanceof OutgoingResponse) this.#response.isWaiting = isWaiting
  }

  /** Reserves bytes, or waits until they are reserved; `undefined` if they are reserved now. */
  #reserve(kind: Kind, bytes: number, caller: string): Effect.Effect<void, HostBusy> | undefined {
    const size = this.#budget.sizeOf(bytes)
    this.#kind = kind
    this.#caller = caller
    if (this.#budget.tryReserve(kind, caller, size)) {
      this.#reserved = size
      return undefined
    }
    return Effect.callback((resume) => {
      this.#isWaiting = true
      const cancel = this.#budget.wait(kind, caller, size, (isReserved) => {
        this.#isWaiting = false
        if (isReserved) this.#reserved = size
        resume(isReserved ? Effect.void : Effect.fail(new HostBusy()))
      })
      return Effect.sync(cancel)
    })
  }

  #continue(): void {
    this.#sendContinue?.()
    this.#sendContinue = undefined
  }

  /** Collects the body as its chunks arrive. */
  #collectBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge | HostBusy> {
    return Effect.callback((resume) => {
      this.#continue()
      const request = this.#request
      const chunks: Array<Buffer> = []
      let size = 0
      const onData = (chunk: Buffer): void => {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
        else settle(Effect.fail(new BodyTooLarge()))
      }
      const onEnd = (): void => settle(Effect.succeed(Buffer.concat(chunks, size)))
      const timer = setInterval(() => {
        if (this.#budget.shouldYield(this.#caller)) settle(Effect.fail(new HostBusy()))
      }, YIELD_MS)
      const stop = (): void => {
        clearInterval(timer)
        this.release()
        request.off("data", onData).off("end", onEnd)
      }
      const settle = (result: Effect.Effect<Uint8Array, BodyTooLarge | HostBusy>): void => {
        stop()
        resume(result)
      }
      request.on("data", onData).on("end", onEnd)
      return Effect.sync(stop)
    })
  }
}

/** Whether the headers declare a request body. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** Whether part of the request body has not arrived yet. Without a body, `end` may already have been emitted. */
export const hasPendingBody = (request: IncomingMessage): boolean =>
  !request.complete && !request.readableEnded && hasBody(request)
