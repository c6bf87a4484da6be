/**
 * The admin port: `/metrics`, `/livez` and `/readyz` for operators. It needs no key and counts nothing, so it is bound
 * to the loopback address unless the operator says otherwise.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AnimalStore } from "../embed/index.ts"
import * as Setting from "./Setting.ts"

const MAX_CONNECTIONS = 100
const TIMEOUT_MS = 10_000

/** The version of Prometheus' text format. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** The server could not bind its address; `cause` is Node's error. */
export class AdminPortUnbound extends Data.TaggedError("AdminPortUnbound")<{
  readonly host: string
  readonly port: number
  readonly cause: Error
}> {
  override get message(): string {
    return `${Setting.title("admin-port")}: cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

/** Serves the pages until the scope closes; port 0 chooses a free port. */
export const serve = (
  store: Pick<AnimalStore, "fetch" | "metrics">,
  host: string,
  port: number
): Effect.Effect<AddressInfo, AdminPortUnbound, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Http.Server, AdminPortUnbound>((resume) => {
        const server = Http.createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS })
        server.maxConnections = MAX_CONNECTIONS
        server.on("request", (request, response) => void respond(store, request, response))
        // Not removed after the start: an error of a later `accept` must not end the process.
        server.on("error", (cause) => resume(Effect.fail(new AdminPortUnbound({ host, port, cause }))))
        server.listen(port, host, () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    ),
    (server) => server.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
  )

const respond = async (
  { fetch, metrics }: Pick<AnimalStore, "fetch" | "metrics">,
  { method = "", url = "" }: Http.IncomingMessage,
  response: Http.ServerResponse
): Promise<void> => {
  const send = (status: number, type: string, body: string): void => {
    response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body)
  }
  const path = url.replace(/\?.*$/s, "")
  if (!pages.has(path)) return send(404, "text/plain", "The pages are /metrics, /livez and /readyz.\n")
  if (method !== "GET" && method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD")
    return send(405, "text/plain", "The methods are GET and HEAD.\n")
  }
  try {
    if (path === "/metrics") return send(200, METRICS_TYPE, metrics())
    const probed = await fetch(new Request(`http://localhost${path}`))
    send(probed.status, "application/json; charset=utf-8", await probed.text())
  } catch {
    response.destroy()
  }
}

const pages = new Set(["/metrics", "/livez", "/readyz"])
