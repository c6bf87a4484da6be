/** Runs the service on a `node:http` server with timeouts, size limits, JSON error bodies and graceful shutdown. */
import cluster from "node:cluster"
import * as Http from "node:http"
import * as Net from "node:net"
import type { Duplex } from "node:stream"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import { Service } from "../../core/service/Service.ts"
import { AddressLimit } from "./AddressLimit.ts"
import { Connection, type ConnectionContext, type Timeouts } from "./Connection.ts"
import * as NodeListener from "./NodeListener.ts"
import { type NodeServerOptions, table } from "./NodeServerOptions.ts"
import { OutgoingResponse } from "./OutgoingResponse.ts"
import { ResumeQueue } from "./ResumeQueue.ts"
import * as TransportErrors from "./TransportErrors.ts"
import { WriteBatch } from "./WriteBatch.ts"

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

/**
 * Default idle timeouts. Load balancers send requests on connections that were idle for up to 60 seconds; if the server
 * closes such a connection first, the request is lost.
 */
const KEEP_ALIVE_MS = { client: 5_000, proxy: 72_000 }

/** Consecutive turns of the event loop without a new connection before the accept backlog counts as drained. */
const IDLE_TURNS = 3
/** Maximum number of turns to drain the accept backlog; a turn of a worker process takes 20 ms. */
const MAX_BACKLOG_TURNS = cluster.isWorker ? 25 : 1_000

/** Starts a server and returns its address. When the scope closes, the server stops after its requests in flight. */
export const make = Effect.fnUntraced(function* (
  given?: Partial<NodeServerOptions>
): Effect.fn.Return<Net.AddressInfo, InvalidOption | ListenFailed, Service | Scope.Scope> {
  const options = yield* Effect.fromResult(OptionTable.resolve<NodeServerOptions>(table, given))
  const service = yield* Service
  const run = Effect.runCallbackWith(yield* Effect.context())
  const handle = yield* NodeListener.makeHandler(options.maxBytesInFlight)
  const connections: Connections = new Map()
  const keepAliveTimeoutMs =
    options.keepAliveTimeoutMs ?? KEEP_ALIVE_MS[service.isBehindProxy ? "proxy" : "client"]
  const timeouts: Timeouts = {
    keepAliveTimeoutMs,
    // With 0, no connection becomes idle.
    idleTimeoutMs: keepAliveTimeoutMs || Number.POSITIVE_INFINITY,
    headersTimeoutMs: Math.min(
      options.headersTimeoutMs || Number.POSITIVE_INFINITY,
      options.requestTimeoutMs || Number.POSITIVE_INFINITY
    ),
    requestTimeoutMs: options.requestTimeoutMs
  }

  // Does not listen: `listener` below accepts connections. `Connection` enforces all timeouts.
  const server = Http.createServer({
    ServerResponse: OutgoingResponse,
    // Creating a body stream for a request without a body takes a tenth of the request's CPU time. Node supports this
    // option since 24.12.
    optimizeEmptyRequests: true,
    maxHeaderSize: TransportErrors.MAX_HEADER_BYTES,
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: 0,
    // Node's own response lacks a body and our headers; `TransportErrors` checks `Host` instead.
    requireHostHeader: false
  })
  const context: ConnectionContext = {
    responder: {
      handle,
      reject: (error, { address, origin }, write) =>
        run(Effect.map(service.transportError(error, address, origin), write)),
      isClosing: () => keepAliveTimeoutMs === 0 || service.isDraining()
    },
    timeouts,
    resumeQueue: new ResumeQueue(),
    writes: new WriteBatch(),
    holding: new Set()
  }
  const addresses = new AddressLimit(options.maxConnectionsPerAddress)
  let accepted = 0
  // The options are those that `node:http` sets for its own sockets, except for the size of the buffer.
  const socketOptions = { allowHalfOpen: true, noDelay: true, highWaterMark: SOCKET_BUFFER_BYTES }
  const listener = Net.createServer(socketOptions, (socket) => {
    accepted++
    if (!addresses.admit(socket)) return void socket.destroy()
    if (connections.size >= options.maxConnections && !closeLongestIdle(connections)) {
      return void socket.destroy()
    }
    const connection = new Connection(socket, context)
    const { stream } = connection
    connections.set(stream, connection)
    socket.once("close", () => {
      connections.delete(stream)
      context.holding.delete(connection)
    })
    server.emit("connection", stream)
  })
  server.on("request", (request, response) => use(connections, request.socket)?.receive(request, response))
  server.on("checkExpectation", (request, response) =>
    use(connections, request.socket)?.receive(request, response)
  )
  server.on("checkContinue", (request, response) =>
    use(connections, request.socket)?.receive(request, response, () => response.writeContinue())
  )
  server.on("clientError", (error, stream) => connections.get(stream)?.fail(TransportErrors.ofError(error)))

  const checkIntervalMs = Math.max(
    MIN_CHECK_INTERVAL_MS,
    Math.min(MAX_CHECK_INTERVAL_MS, timeouts.idleTimeoutMs, timeouts.headersTimeoutMs)
  )
  listener.once("listening", () => {
    const timer = setInterval(() => {
      for (const connection of connections.values()) connection.checkTimeouts(checkIntervalMs)
    }, checkIntervalMs)
    listener.once("close", () => clearInterval(timer))
  })

  const listen = Effect.callback<Net.AddressInfo, ListenFailed>((resume) => {
    // Stays registered after startup: a later `accept` error must not crash the process.
    listener.on("error", (cause) => resume(Effect.fail(new ListenFailed({ ...options, cause }))))
    listener.listen(options.port, options.host, () => {
      const address = listener.address()
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
    const timer = setTimeout(() => {
      for (const stream of connections.keys()) stream.destroy()
    }, options.shutdownTimeoutMs)
    listener.close(() => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    for (const connection of connections.values()) connection.closeWhenIdle()
  })

  const stop = Effect.all([service.drain, drainBacklog, close], { discard: true })
  return yield* Effect.acquireRelease(listen, () => stop)
})

/** The open connections in the order of their last use: that of the latest request, or the opening. */
type Connections = Map<Duplex, Connection>

/** Returns the connection of a socket, and moves it to the end. */
const use = (connections: Connections, socket: Duplex): Connection | undefined => {
  const connection = connections.get(socket)
  if (connection === undefined) return undefined
  connections.delete(socket)
  connections.set(socket, connection)
  return connection
}

/** Maximum number of connections in use that are skipped to find an idle one. */
const MAX_SKIPPED = 100

/** Closes the connection that has been idle for the longest time; returns false if it finds none. */
const closeLongestIdle = (connections: Connections): boolean => {
  let skipped = 0
  for (const [socket, connection] of connections) {
    if (connection.isIdle) {
      connections.delete(socket)
      socket.destroy()
      return true
    }
    if (skipped++ === MAX_SKIPPED) return false
    use(connections, socket)
  }
  return false
}

/** Milliseconds that the primary process of `node:cluster` may take to pass a connection to a worker. */
const HAND_OFF_MS = 20

/** Waits for one turn of the event loop that accepts connections: this process's, or the primary process's. */
const nextTurn = cluster.isWorker
  ? Effect.callback<void>((resume) => void setTimeout(() => resume(Effect.void), HAND_OFF_MS))
  : Effect.callback<void>((resume) => {
      setImmediate(() => resume(Effect.void))
    })
