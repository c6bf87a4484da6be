/** Runs the auxiliary HTTP servers of the command line: the admin port and the test clock. */
import * as Http from "node:http"
import { type AddressInfo, isIP, type Socket } from "node:net"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Setting from "./Setting.ts"

const MAX_CONNECTIONS = 100
const TIMEOUT_MS = 10_000

/** Milliseconds between two checks of the timeouts; Node's default is 30 seconds. */
const TIMEOUT_CHECK_MS = 1_000

/** The server could not bind its address. `flag` is the flag of the port, `cause` is Node's error. */
export class AuxiliaryServerUnbound extends Data.TaggedError("AuxiliaryServerUnbound")<{
  readonly flag: string
  readonly host: string
  readonly port: number
  readonly cause: Error
}> {
  override get message(): string {
    return `${Setting.title(this.flag)}: cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

/** The address on which a server listens, and the flag that its errors name. Port 0 chooses a free port. */
export interface ListenAddress {
  readonly flag: string
  readonly host: string
  readonly port: number
  /** Names by which clients may address the server, besides `host`, `localhost` and IP addresses. */
  readonly allowedHosts?: ReadonlyArray<string>
}

/**
 * Serves until the scope closes; closing it also closes all connections. `respond` ends the response before its promise
 * completes. A connection with a pipelined request is closed.
 */
export const serve = (
  address: ListenAddress,
  respond: (request: Http.IncomingMessage, response: Http.ServerResponse) => Promise<void>
): Effect.Effect<AddressInfo, AuxiliaryServerUnbound, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Http.Server, AuxiliaryServerUnbound>((resume) => {
        const server = Http.createServer({
          headersTimeout: TIMEOUT_MS,
          requestTimeout: TIMEOUT_MS,
          connectionsCheckingInterval: TIMEOUT_CHECK_MS
        })
        // Also closes the connection of a client that does not read its response.
        server.setTimeout(TIMEOUT_MS)
        boundConnections(server)
        /** The connections whose latest request has no response yet. */
        const responding = new WeakSet<Socket>()
        server.on("request", (request, response) => {
          const { socket } = request
          // Node emits all pipelined requests at once: their responses would fill the memory of the whole process.
          if (responding.has(socket)) return void socket.destroy()
          responding.add(socket)
          if (isAllowed(address, request.headers.host)) {
            return void respond(request, response).finally(() => responding.delete(socket))
          }
          response.writeHead(421, { "Content-Type": "text/plain", Connection: "close" }).end(MISDIRECTED)
        })
        // Not removed after startup: a later `accept` error must not crash the process.
        server.on("error", (cause) => resume(Effect.fail(new AuxiliaryServerUnbound({ ...address, cause }))))
        server.listen(address.port, address.host, () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    ),
    (server) => server.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
  )

const MISDIRECTED =
  "Misdirected request: this host name is not allowed. Use an IP address or localhost; for the admin port, " +
  "--admin-allowed-host NAME allows a name.\n"

/**
 * Whether a server may respond to requests with this `Host` header. A name that an attacker controls may resolve to this
 * server in a victim's browser (DNS rebinding); an IP address in the header is the one to which the client connected.
 */
const isAllowed = ({ allowedHosts = [], host }: ListenAddress, header: string | undefined): boolean => {
  // Only HTTP/1.0 permits requests without `Host`, which no browser sends.
  if (header === undefined) return true
  const name = header
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase()
  return isIP(name) !== 0 || ["localhost", host, ...allowedHosts].some((own) => own.toLowerCase() === name)
}

/**
 * Bounds the connections: a further one replaces the connection that has waited longest for a request, or one whose
 * client holds back the rest of a rejected body or does not read its response. It is closed if all wait for responses. A
 * client that sends its request at once is safe, because Node reads from a connection before it accepts many others.
 */
const boundConnections = (server: Http.Server): void => {
  const open = new Set<Socket>()
  const waiting = new Set<Socket>()
  const responding = new Map<Socket, Http.ServerResponse>()
  const leave = (socket: Socket): void => {
    open.delete(socket)
    waiting.delete(socket)
    responding.delete(socket)
  }
  server.on("connection", (socket) => {
    if (open.size >= MAX_CONNECTIONS) {
      const [longest = [...responding].find(([, { headersSent }]) => headersSent)?.[0]] = waiting
      if (longest === undefined) return void socket.destroy()
      leave(longest)
      longest.destroy()
    }
    open.add(socket)
    waiting.add(socket)
    socket.once("close", () => leave(socket))
  })
  server.on("request", ({ socket }, response) => {
    waiting.delete(socket)
    responding.set(socket, response)
    response.once("close", () => {
      responding.delete(socket)
      if (open.has(socket)) waiting.add(socket)
    })
  })
}
