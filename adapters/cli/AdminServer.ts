/**
 * The admin port: `/metrics`, `/livez` and `/readyz` for operators. It needs no key and counts nothing, so it is bound
 * to the loopback address unless the operator says otherwise.
 */
import type * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AnimalStore } from "../embed/index.ts"
import * as LocalServer from "./LocalServer.ts"

/** The version of Prometheus' text format. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** Serves the pages until the scope closes; port 0 chooses a free port. */
export const serve = (
  store: Pick<AnimalStore, "fetch" | "metrics">,
  host: string,
  port: number
): Effect.Effect<AddressInfo, LocalServer.LocalServerUnbound, Scope.Scope> =>
  LocalServer.serve({ flag: "admin-port", host, port }, (request, response) =>
    respond(store, request, response)
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
