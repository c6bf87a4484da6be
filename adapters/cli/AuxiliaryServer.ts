/** Runs the auxiliary HTTP servers of the command line: the admin port and the test clock. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Setting from "./Setting.ts"

const MAX_CONNECTIONS = 100
const TIMEOUT_MS = 10_000

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
}

/** Serves until the scope closes; closing it also closes all connections. */
export const serve = (
  address: ListenAddress,
  respond: (request: Http.IncomingMessage, response: Http.ServerResponse) => Promise<void>
): Effect.Effect<AddressInfo, AuxiliaryServerUnbound, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Http.Server, AuxiliaryServerUnbound>((resume) => {
        const server = Http.createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS })
        server.maxConnections = MAX_CONNECTIONS
        server.on("request", (request, response) => void respond(request, response))
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
