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

/** The functions that produce the pages. */
export interface Pages {
  /** Returns the text for Prometheus. */
  readonly metrics: () => Promise<string>
  /** Returns the response to a health check. */
  readonly probe: (path: Probe) => Promise<{ readonly status: number; readonly body: string }>
  /** Responds to requests for the console and the admin API; `undefined` without them. */
  readonly console: NodeListener | undefined
}

/** A health check. */
export type Probe = "/livez" | "/readyz"

/** Returns the functions that produce the pages of a store. */
export const pagesOf = (
  { fetch, metrics }: Pick<AnimalStore, "fetch" | "metrics">,
  console: Pages["console"]
): Pages => ({
  console,
  metrics: async () => metrics(),
  probe: async (path) => {
    const response = await fetch(new Request(`http://localhost${path}`))
    return { status: response.status, body: await response.text() }
  }
})

/** Creates the console of a store, unless the flags turn it off. `readMetrics` is that of `store.console`. */
export const consoleOf = (
  store: AnimalStore,
  { adminPort, console }: Pick<ServeFlags.Values, "adminPort" | "console">,
  readMetrics?: Parameters<AnimalStore["console"]>[0]
): Effect.Effect<Pages["console"], CliError.UserError> =>
  adminPort === undefined || !console
    ? Effect.succeed(undefined)
    : Failure.attempt(() => store.console(readMetrics))

/**
 * Serves the pages until the scope closes, if there is an admin port, and prints the URL of the metrics. Returns the
 * origin of the console, if there is one.
 */
export const serve = Effect.fnUntraced(function* (
  pages: Pages,
  { adminAllowedHosts, adminHost, adminPort, store }: ServeFlags.Values
): Effect.fn.Return<string | undefined, CliError.UserError, Scope.Scope> {
  if (adminPort === undefined) return undefined
  const { port } = yield* Effect.mapError(
    AuxiliaryServer.serve(
      { flag: "admin-port", host: adminHost, port: adminPort, allowedHosts: adminAllowedHosts },
      (request, response) => respond(pages, request, response)
    ),
    Failure.userError
  )
  const origin = `http://${LocalHost.of(adminHost)}:${port}`
  yield* Notice.print(store, `metrics on ${origin}/metrics`)
  return pages.console === undefined ? undefined : origin
})

const respond = async (
  { console, metrics, probe }: Pages,
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
    if (path === "/metrics") return send(200, METRICS_TYPE, await metrics())
    const { body, status } = await probe(path)
    send(status, "application/json; charset=utf-8", body)
  } catch {
    response.destroy()
  }
}
