/**
 * Serves `/metrics`, `/livez` and `/readyz` for operators on the admin port. The admin server requires no key and
 * applies no rate limits, so it listens on the loopback address unless the operator chooses another one.
 */
import type * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AnimalStore } from "../embed/index.ts"
import * as AuxiliaryServer from "./AuxiliaryServer.ts"
import * as LocalHost from "./LocalHost.ts"

/** The content type of the Prometheus text format, with its version. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** The functions that produce the pages. */
export interface Pages {
  /** Returns the text for Prometheus. */
  readonly metrics: () => Promise<string>
  /** Returns the response to a health check. */
  readonly probe: (path: Probe) => Promise<{ readonly status: number; readonly body: string }>
}

/** A health check. */
export type Probe = "/livez" | "/readyz"

/** Returns the functions that produce the pages of a store. */
export const pagesOf = ({ fetch, metrics }: Pick<AnimalStore, "fetch" | "metrics">): Pages => ({
  metrics: async () => metrics(),
  probe: async (path) => {
    const response = await fetch(new Request(`http://localhost${path}`))
    return { status: response.status, body: await response.text() }
  }
})

/** Returns the notice with the metrics URL, which is printed at startup. */
export const notice = (host: string, port: number): string =>
  `metrics on http://${LocalHost.of(host)}:${port}/metrics`

/** Serves the pages until the scope closes; port 0 chooses a free port. */
export const serve = (
  pages: Pages,
  host: string,
  port: number
): Effect.Effect<AddressInfo, AuxiliaryServer.AuxiliaryServerUnbound, Scope.Scope> =>
  AuxiliaryServer.serve({ flag: "admin-port", host, port }, (request, response) =>
    respond(pages, request, response)
  )

const respond = async (
  { metrics, probe }: Pages,
  { method = "", url = "" }: Http.IncomingMessage,
  response: Http.ServerResponse
): Promise<void> => {
  const send = (status: number, type: string, body: string): void => {
    response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body)
  }
  const path = url.replace(/\?.*$/s, "")
  if (path !== "/metrics" && path !== "/livez" && path !== "/readyz")
    return send(404, "text/plain", "Not found. Available: /metrics, /livez, /readyz.\n")
  if (method !== "GET" && method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD")
    return send(405, "text/plain", "Method not allowed. Use GET or HEAD.\n")
  }
  try {
    if (path === "/metrics") return send(200, METRICS_TYPE, await metrics())
    const { body, status } = await probe(path)
    send(status, "application/json; charset=utf-8", body)
  } catch {
    response.destroy()
  }
}
