/**
 * Serves `/metrics`, `/livez` and `/readyz` for operators on the admin port, and the console with its API. The pages
 * require no key, so the server listens on the loopback address unless the operator chooses another one.
 */
import { once } from "node:events"
import type * as Http from "node:http"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AnimalStore, NodeListener } from "../embed/index.ts"
import * as AuxiliaryServer from "./AuxiliaryServer.ts"
import * as Failure from "./Failure.ts"
import * as LocalHost from "./LocalHost.ts"
import * as Notice from "./Notice.ts"
import type * as ServeFlags from "./ServeFlags.ts"

/** The content type of the Prometheus text format, with its version. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** The path of a page. */
export type Path = "/metrics" | Probe

/** A health check. */
export type Probe = "/livez" | "/readyz"

/** A page, which is text for Prometheus or the response to a health check. */
export interface Page {
  readonly status: number
  readonly body: string
}

/** Where the pages and the metrics of the console come from. */
export interface Source {
  readonly page: (path: Path) => Promise<Page>
  /** Returns the samples of several processes; by default, the console shows those of this process. */
  readonly readMetrics?: Parameters<AnimalStore["console"]>[0]
}

/** Returns the response of a store to a health check. */
export const probe = async ({ fetch }: Pick<AnimalStore, "fetch">, path: Probe): Promise<Page> => {
  const response = await fetch(new Request(`http://localhost${path}`))
  return { status: response.status, body: await response.text() }
}

/**
 * Serves the pages until the scope closes, if there is an admin port, and prints the URL of the metrics. Returns the
 * origin of the console of the store, unless the flags turn it off.
 */
export const serve = Effect.fnUntraced(function* (
  store: AnimalStore,
  { adminAllowedHosts, adminHost, adminPort, console: hasConsole, store: log }: ServeFlags.Values,
  { page, readMetrics }: Source
): Effect.fn.Return<string | undefined, CliError.UserError, Scope.Scope> {
  if (adminPort === undefined) return undefined
  const console = hasConsole ? yield* Failure.attempt(() => store.console(readMetrics)) : undefined
  const { port } = yield* Effect.mapError(
    AuxiliaryServer.serve(
      { flag: "admin-port", host: adminHost, port: adminPort, allowedHosts: adminAllowedHosts },
      (request, response) => respond(page, console, request, response)
    ),
    Failure.userError
  )
  const origin = `http://${LocalHost.of(adminHost)}:${port}`
  yield* Notice.print(log, `metrics on ${origin}/metrics`)
  return hasConsole ? origin : undefined
})

const respond = async (
  readPage: Source["page"],
  console: NodeListener | undefined,
  request: Http.IncomingMessage,
  response: Http.ServerResponse
): Promise<void> => {
  const { method = "", url = "" } = request
  const send = (status: number, type: string, body: string): void => {
    response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body)
  }
  const path = url.replace(/\?.*$/s, "")
  if (console !== undefined && (path === "/" || path.startsWith("/admin/"))) {
    const closed = once(response, "close")
    console(request, response)
    return void (await closed)
  }
  if (path !== "/metrics" && path !== "/livez" && path !== "/readyz")
    return send(404, "text/plain", "Not found. Available: /metrics, /livez, /readyz.\n")
  if (method !== "GET" && method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD")
    return send(405, "text/plain", "Method not allowed. Use GET or HEAD.\n")
  }
  try {
    const { body, status } = await readPage(path)
    send(status, path === "/metrics" ? METRICS_TYPE : "application/json; charset=utf-8", body)
  } catch {
    response.destroy()
  }
}
