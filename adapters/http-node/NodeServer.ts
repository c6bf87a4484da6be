/** Runs the service on a `node:http` server with timeouts, size limits, JSON error bodies and graceful shutdown. */
import cluster from "node:cluster"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import { Service } from "../../core/service/Service.ts"
import { AddressLimit } from "./AddressLimit.ts"
import { Connection, type ConnectionContext, type Timeouts } from "./Connection.ts"
import * as IncomingRequest from "./IncomingRequest.ts"
import * as NodeListener from "./NodeListener.ts"
import { type NodeServerOptions, table } from "./NodeServerOptions.ts"
import { OutgoingResponse } from "./OutgoingResponse.ts"
import { ResumeQueue } from "./ResumeQueue.ts"
import { MAX_HEADER_BYTES } from "./TransportErrors.ts"

export type { NodeServerOptions } from "./NodeServerOptions.ts"

/** The default options. */
export const defaults: NodeServerOptions = OptionTable.defaults<NodeServerOptions>(table)

/** The server could not bind its address; `cause` is Node's error (`EADDRINUSE`, `EACCES`, …). */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly host: string
  readonly port: number
  readonly cause: Error
}> {
  override get message(): string {
    return `cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

/** Bytes that a socket buffers before it stops reading; the last read may exceed this by 64 KiB. */
const SOCKET_BUFFER_BYTES = 16_384

/** Bounds of the interval, in milliseconds, at which the timeouts of all connections are checked. */
const MAX_CHECK_INTERVAL_MS = 1_000
const MIN_CHECK_INTERVAL_MS = 20

/** Consecutive turns of the event loop without a new connection before the accept backlog counts as drained. */
const IDLE_TURNS = 3
/** Maximum number of turns to drain the accept backlog; a turn of a worker process takes 20 ms. */
const MAX_BACKLOG_TURNS = cluster.isWorker ? 25 : 1_000

/** Starts a server and returns its address. When the scope closes, the server stops after its requests in flight. */
export const make = Effect.fnUntraced(function* (
  given?: Partial<NodeServerOptions>
): Effect.fn.Return<AddressInfo, InvalidOption | ListenFailed, Service | Scope.Scope> {
  const options = yield* Effect.fromResult(OptionTable.resolve<NodeServerOptions>(table, given))
  const headersTimeout = Math.min(options.headersTimeoutMs, options.requestTimeoutMs)
  const service = yield* Service
  const run = Effect.runCallbackWith(yield* Effect.context())
  const handle = yield* NodeListener.makeHandler(options.maxBytesInFlight)
  const connections = new Map<Duplex, Connection>()
  const timeouts: Timeouts = {
    keepAliveTimeoutMs: options.keepAliveTimeoutMs,
    idleTimeoutMs: options.keepAliveTimeoutMs || options.requestTimeoutMs || Number.POSITIVE_INFINITY,
    readTimeoutMs: options.requestTimeoutMs
  }

  const server = Http.createServer({
    IncomingMessage: IncomingRequest.makeClass((socket) => connections.get(socket)?.isBusy === true),
    ServerResponse: OutgoingResponse,
    // Creating a body stream for a request without a body takes a tenth of the request's CPU time. Node supports this
    // option since 24.12.
    optimizeEmptyRequests: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    highWaterMark: SOCKET_BUFFER_BYTES,
    headersTimeout,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, headersTimeout),
    // Node's own response lacks a body and our headers; `TransportErrors` checks `Host` instead.
    requireHostHeader: false
  })
  // Node validates the option above; `Connection` enforces the timeout.
  server.keepAliveTimeout = 0
  server.maxConnections = options.maxConnections
  const context: ConnectionContext = {
    responder: {
      handle,
      reject: (error, { address, origin }, write) =>
        run(Effect.map(service.transportError(error, address, origin), write)),
      isDraining: service.isDraining
    },
    timeouts,
    resumeQueue: new ResumeQueue(),
    holding: new Set(),
    attachParser: (socket) => server.emit("connection", socket)
  }
  const addresses = new AddressLimit(options.maxConnectionsPerAddress)
  let accepted = 0
  server.on("connection", (socket) => {
    if (connections.has(socket)) return
    accepted++
    if (!addresses.admit(socket)) return void socket.destroy()
    const connection = new Connection(socket, context)
    connections.set(socket, connection)
    socket.once("close", () => {
      connections.delete(socket)
      context.holding.delete(connection)
    })
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
  // `Connection` handles socket timeouts. Without a listener here, Node destroys sockets that are read slowly.
  server.on("timeout", () => {})
  // `server.close` calls this method; Node's version destroys connections with unflushed responses.
  server.closeIdleConnections = () => {
    for (const connection of connections.values()) connection.closeWhenIdle()
  }

  const checkIntervalMs = Math.max(
    MIN_CHECK_INTERVAL_MS,
    Math.min(MAX_CHECK_INTERVAL_MS, timeouts.idleTimeoutMs, headersTimeout)
  )
  server.once("listening", () => {
    const timer = setInterval(() => {
      for (const connection of connections.values()) connection.checkTimeouts(checkIntervalMs)
    }, checkIntervalMs)
    server.once("close", () => clearInterval(timer))
  })

  const listen = Effect.callback<AddressInfo, ListenFailed>((resume) => {
    // Stays registered after startup: a later `accept` error must not crash the process.
    server.on("error", (cause) => resume(Effect.fail(new ListenFailed({ ...options, cause }))))
    server.listen(options.port, options.host, () => {
      const address = server.address()
      if (typeof address === "object" && address !== null) resume(Effect.succeed(address))
    })
  })

  // Accepts the connections that were made before the server stops; Node accepts a few in each turn.
  const drainBacklog = Effect.gen(function* () {
    for (let turn = 0, idleTurns = 0; idleTurns < IDLE_TURNS && turn < MAX_BACKLOG_TURNS; turn++) {
      const before = accepted
      yield* nextTurn
      idleTurns = accepted === before ? idleTurns + 1 : 0
    }
  })

  const close = Effect.callback<void>((resume) => {
    // Not `closeAllConnections`: it misses connections whose requests are held.
    const timer = setTimeout(() => {
      for (const socket of connections.keys()) socket.destroy()
    }, options.shutdownTimeoutMs)
    server.close(() => {
      clearTimeout(timer)
      resume(Effect.void)
    })
  })

  const stop = Effect.all([service.drain, drainBacklog, close], { discard: true })
  return yield* Effect.acquireRelease(listen, () => stop)
})

/** Milliseconds that the primary process of `node:cluster` may take to pass a connection to a worker. */
const HAND_OFF_MS = 20

/** Waits for one turn of the event loop that accepts connections: this process's, or the primary process's. */
const nextTurn = cluster.isWorker
  ? Effect.callback<void>((resume) => void setTimeout(() => resume(Effect.void), HAND_OFF_MS))
  : Effect.callback<void>((resume) => {
      setImmediate(() => resume(Effect.void))
    })
