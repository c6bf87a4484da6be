/** The service on a socket: `node:http` with bounded time and size, JSON answers for all errors, graceful shutdown. */
import { Buffer } from "node:buffer"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Service, type TransportError } from "../../core/service/Service.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"
import * as NodeListener from "./NodeListener.ts"

export interface NodeServerOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Milliseconds for the header section of a request; then 408. */
  readonly headersTimeoutMs: number
  /** Milliseconds for a whole request; then 408. */
  readonly requestTimeoutMs: number
  /** Milliseconds that an idle connection is kept. */
  readonly keepAliveTimeoutMs: number
  /** Open connections; more are closed at once. */
  readonly maxConnections: number
  /** Milliseconds that requests in flight may take to finish when the server closes. */
  readonly shutdownTimeoutMs: number
}

export const defaults: NodeServerOptions = {
  host: "127.0.0.1",
  port: 3000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 5_000,
  maxConnections: 10_000,
  shutdownTimeoutMs: 10_000
}

/** The address could not be bound; `cause` is Node's error (`EADDRINUSE`, `EACCES`, …). */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly host: string
  readonly port: number
  readonly cause: Error
}> {
  override get message(): string {
    return `cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

const MAX_HEADER_BYTES = 16_384
const MAX_HEADERS = 100
const MAX_TARGET_LENGTH = 8_192

/** Milliseconds that a broken connection may stay silent before it is cut, so that its client reads the answer. */
const LINGER_MS = 1_000

/** Listens until the scope closes; then requests in flight finish before the scope's earlier resources go. */
export const make = Effect.fnUntraced(function* (
  given: Partial<NodeServerOptions> = {}
): Effect.fn.Return<AddressInfo, ListenFailed, Service | Scope.Scope> {
  const options = { ...defaults, ...given }
  const service = yield* Service
  const listener = yield* NodeListener.make
  const run = Effect.runCallbackWith(yield* Effect.context())
  /** What a connection is busy with, where that lasts longer than the call of the listener. */
  const open = new WeakMap<Duplex, { request: Http.IncomingMessage; response: Http.ServerResponse }>()
  let closing = false

  const refuse = (
    error: TransportError,
    address: string | undefined,
    answer: (response: ServiceResponse) => void
  ) => run(Effect.map(service.transportError(error, address), answer))

  const onRequest: NodeListener.NodeListener = (request, response) => {
    if (closing) response.setHeader("Connection", "close")
    const fault = faultOf(request)
    if (fault === undefined) {
      listener(request, response)
    } else {
      response.setHeader("Connection", "close")
      refuse(fault, request.socket.remoteAddress, (answer) => NodeListener.send(request, response, answer))
    }
    if (!response.writableEnded || NodeListener.hasPendingBody(request)) {
      open.set(request.socket, { request, response })
    }
  }

  const onClientError = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const exchange = open.get(socket)
    const answer = (): void => {
      if (!socket.writable) return void socket.destroy()
      const address = "remoteAddress" in socket ? String(socket.remoteAddress) : undefined
      refuse(transportErrorOf(error), address, (response) => writeLast(socket, response))
    }
    if (exchange === undefined || (exchange.response.writableFinished && exchange.request.complete)) answer()
    else if (exchange.response.headersSent) socket.destroy()
    else if (exchange.request.complete) exchange.response.once("finish", answer)
    else answer()
  }

  const server = Http.createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: options.headersTimeoutMs,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, options.headersTimeoutMs),
    // Node would answer by itself, without a body and without our headers.
    requireHostHeader: false
  })
  server.maxConnections = options.maxConnections
  server.maxHeadersCount = 0
  server.on("request", onRequest)
  // The body's reader sends "100 Continue", so that a refused client does not upload for nothing.
  server.on("checkContinue", onRequest)
  server.on("checkExpectation", onRequest)
  server.on("clientError", onClientError)

  const listen = Effect.callback<AddressInfo, ListenFailed>((resume) => {
    const onError = (cause: Error): void => resume(Effect.fail(new ListenFailed({ ...options, cause })))
    server.once("error", onError)
    server.listen(options.port, options.host, () => {
      server.off("error", onError)
      const address = server.address()
      if (typeof address === "object" && address !== null) resume(Effect.succeed(address))
    })
  })

  const close = Effect.callback<void>((resume) => {
    closing = true
    server.close(() => resume(Effect.void))
    const idle = setInterval(() => server.closeIdleConnections(), 50)
    const late = setTimeout(() => server.closeAllConnections(), options.shutdownTimeoutMs)
    server.once("close", () => {
      clearInterval(idle)
      clearTimeout(late)
    })
  })

  return yield* Effect.acquireRelease(listen, () => Effect.andThen(service.drain, close))
})

/** What HTTP forbids and Node's parser lets through. */
const faultOf = ({ httpVersion, rawHeaders, url }: Http.IncomingMessage): TransportError | undefined => {
  if (rawHeaders.length > MAX_HEADERS * 2 || (url?.length ?? 0) > MAX_TARGET_LENGTH)
    return "headers_too_large"
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === "host") hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0") ? undefined : "malformed_request"
}

const transportErrorOf = ({ code }: NodeJS.ErrnoException): TransportError => {
  if (code === "HPE_HEADER_OVERFLOW") return "headers_too_large"
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "request_timeout" : "malformed_request"
}

/** Answers on a connection that carries no request, and ends it. */
const writeLast = (socket: Duplex, { body, headers, status }: ServiceResponse): void => {
  const lines = [
    `HTTP/1.1 ${status} ${Http.STATUS_CODES[status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close"
  ]
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`)
  if ("setTimeout" in socket && typeof socket.setTimeout === "function") {
    socket.setTimeout(LINGER_MS, () => socket.destroy())
  }
}
