/** The service on a socket: `node:http` with bounded time and size, JSON answers for all errors, graceful shutdown. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Service } from "../../core/service/Service.ts"
import { AddressLimit } from "./AddressLimit.ts"
import { Connection, type Host, type Patience } from "./Connection.ts"
import * as IncomingRequest from "./IncomingRequest.ts"
import * as NodeListener from "./NodeListener.ts"
import { PreparedResponse } from "./PreparedResponse.ts"
import { MAX_HEADER_BYTES } from "./TransportFault.ts"
import { Turns } from "./Turns.ts"

export interface NodeServerOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Milliseconds for the header section of a request; then 408. */
  readonly headersTimeoutMs: number
  /** Milliseconds for a whole request; then 408. */
  readonly requestTimeoutMs: number
  /**
   * Milliseconds that an idle connection is kept, as clients are told; it lasts up to two seconds longer. 0 tells them
   * nothing, and keeps it for `requestTimeoutMs`, as long as it likes where that is 0.
   */
  readonly keepAliveTimeoutMs: number
  /** Open connections; more are closed at once. */
  readonly maxConnections: number
  /** The same for one IPv4 address or one /64 of IPv6; without it there is no such limit. */
  readonly maxConnectionsPerAddress: number | undefined
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
  maxConnectionsPerAddress: undefined,
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

/** Bytes that a socket holds before it stops to read; the last read may exceed them by 64 KiB. */
const HELD_BYTES = 16_384

/** Milliseconds between two looks at all connections: at most, and at least, however short timeouts are. */
const INSPECTION_MS = 1_000
const MIN_INSPECTION_MS = 20

/** Turns of the event loop without a new connection after which none is waiting, and most turns that are waited. */
const QUIET_TURNS = 3
const MAX_TURNS = 1_000

/** Listens until the scope closes; then requests in flight finish before the scope's earlier resources go. */
export const make = Effect.fnUntraced(function* (
  given: Partial<NodeServerOptions> = {}
): Effect.fn.Return<AddressInfo, ListenFailed, Service | Scope.Scope> {
  // Absent, not undefined: `host: undefined` would listen on every interface.
  const present = Object.entries(given).filter(([, value]) => value !== undefined)
  const options: NodeServerOptions = { ...defaults, ...Object.fromEntries(present) }
  const headersTimeout = Math.min(options.headersTimeoutMs, options.requestTimeoutMs)
  const service = yield* Service
  const run = Effect.runCallbackWith(yield* Effect.context())
  const handle = yield* NodeListener.makeHandler
  const connections = new Map<Duplex, Connection>()
  const patience: Patience = {
    keepAliveTimeoutMs: options.keepAliveTimeoutMs,
    idleTimeoutMs: options.keepAliveTimeoutMs || options.requestTimeoutMs || Number.POSITIVE_INFINITY,
    readTimeoutMs: options.requestTimeoutMs
  }

  const server = Http.createServer({
    IncomingMessage: IncomingRequest.makeClass((socket) => connections.get(socket)?.isBusy === true),
    ServerResponse: PreparedResponse,
    // Most requests have no body, and a stream for none is a tenth of their CPU; Node knows it since 24.12.
    optimizeEmptyRequests: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    highWaterMark: HELD_BYTES,
    headersTimeout,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(INSPECTION_MS, headersTimeout),
    // Node would answer by itself, without a body and without our headers.
    requireHostHeader: false
  })
  // Checked by Node, but looked after here: connections are inspected.
  server.keepAliveTimeout = 0
  server.maxConnections = options.maxConnections
  const host: Host = {
    answers: {
      handle,
      refuse: (error, address, write) => run(Effect.map(service.transportError(error, address), write)),
      isDraining: service.isDraining
    },
    patience,
    turns: new Turns(),
    parse: (socket) => server.emit("connection", socket)
  }
  const addresses = new AddressLimit(options.maxConnectionsPerAddress)
  let accepted = 0
  server.on("connection", (socket) => {
    if (connections.has(socket)) return
    accepted++
    if (!addresses.admit(socket)) return void socket.destroy()
    connections.set(socket, new Connection(socket, host))
    socket.once("close", () => connections.delete(socket))
  })
  server.on("request", (request, response) => connections.get(request.socket)?.receive(request, response))
  server.on("checkExpectation", (request, response) =>
    connections.get(request.socket)?.receive(request, response)
  )
  server.on("checkContinue", (request, response) =>
    connections.get(request.socket)?.receive(request, response, () => response.writeContinue())
  )
  server.on("clientError", (error, socket) => connections.get(socket)?.fail(error))
  server.on("upgrade", (request, socket, rest) => connections.get(socket)?.hold(request, rest))
  // Each connection listens for it; without a listener here Node would cut those that are read slowly.
  server.on("timeout", () => {})
  // `server.close` calls it; Node's own would cut answers that are not yet flushed.
  server.closeIdleConnections = () => {
    for (const connection of connections.values()) connection.dismiss()
  }

  const inspectionMs = Math.max(
    MIN_INSPECTION_MS,
    Math.min(INSPECTION_MS, patience.idleTimeoutMs, headersTimeout)
  )
  server.once("listening", () => {
    const inspection = setInterval(() => {
      for (const connection of connections.values()) connection.inspect(inspectionMs)
    }, inspectionMs)
    server.once("close", () => clearInterval(inspection))
  })

  const listen = Effect.callback<AddressInfo, ListenFailed>((resume) => {
    // Stays, since an accept that fails later must not end the process.
    server.on("error", (cause) => resume(Effect.fail(new ListenFailed({ ...options, cause }))))
    server.listen(options.port, options.host, () => {
      const address = server.address()
      if (typeof address === "object" && address !== null) resume(Effect.succeed(address))
    })
  })

  // What the system holds for us was sent before we stopped: connections to accept, a few each turn, and their requests.
  const catchUp = Effect.gen(function* () {
    for (let turn = 0, quiet = 0; quiet < QUIET_TURNS && turn < MAX_TURNS; turn++) {
      const before = accepted
      yield* nextTurn
      quiet = accepted === before ? quiet + 1 : 0
    }
  })

  const close = Effect.callback<void>((resume) => {
    // Not `closeAllConnections`: Node does not know those whose requests are held.
    const late = setTimeout(() => {
      for (const socket of connections.keys()) socket.destroy()
    }, options.shutdownTimeoutMs)
    server.close(() => {
      clearTimeout(late)
      resume(Effect.void)
    })
  })

  const stop = Effect.all([service.drain, catchUp, close], { discard: true })
  return yield* Effect.acquireRelease(listen, () => stop)
})

/** One turn of the event loop. */
const nextTurn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})
