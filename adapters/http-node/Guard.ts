/** Puts routes of the host behind the keys and limits of the service, as middleware for Node's servers and frameworks. */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import * as HostRoute from "../../core/service/HostRoute.ts"
import { Service } from "../../core/service/Service.ts"
import type { FlatHeaders } from "../../core/service/ServiceResponse.ts"
import { announceClose, makeHandler, type NodeRoute } from "./NodeListener.ts"

declare module "http" {
  interface IncomingMessage {
    /** The API key of the request, behind `store.guard()`. */
    caller?: HostRoute.Caller | undefined
  }
}

/** A request of Fastify. */
type WrappedRequest = {
  readonly raw: IncomingMessage
  readonly routeOptions?: { readonly url?: string | undefined }
}

/** A reply of Fastify. */
type WrappedResponse = {
  readonly raw: ServerResponse
  readonly hijack: () => unknown
  readonly getHeaders: () => { readonly [name: string]: number | string | ReadonlyArray<string> | undefined }
}

/**
 * Middleware for `node:http`, Express and Connect, and hook for `onRequest` of Fastify: calls `next` if the request is
 * admitted, after setting `caller` on the request and the headers of the service on the response. Otherwise sends the
 * response of the service.
 */
export type Guard = (
  request: IncomingMessage | WrappedRequest,
  response: ServerResponse | WrappedResponse,
  next: () => void
) => void

/** Maximum number of templates that are read from Express, because a mount path with parameters is not a template. */
const MAX_TEMPLATES = 200

/** Creates a guard. Throws `InvalidOption`. */
export type MakeGuard = <Request extends IncomingMessage | WrappedRequest = IncomingMessage>(
  options?: HostRoute.GuardOptions<Request>
) => Guard

/** Creates the function that creates guards. */
export const make: Effect.Effect<MakeGuard, never, Service> = Effect.gen(function* () {
  const service = yield* Service
  const handle = yield* makeHandler()
  const templates = new Set<string>()
  return <Request extends IncomingMessage | WrappedRequest>(
    given?: HostRoute.GuardOptions<Request>
  ): Guard => {
    const { costOf, route } = HostRoute.resolve(given)
    return (request, response, next) => {
      // The cast is safe: the host calls the guard with its own requests.
      const cost = () => costOf(request as Request)
      const guarded = new GuardedRoute(request, response, next, cost, route, templates, service.isDraining())
      // Thrown to the host, which ends the response as it ends others that fail: no header can be set any more.
      if (guarded.response.headersSent)
        throw new Error("store.guard() was called after the response had begun")
      handle(guarded.request, guarded.response, undefined, guarded)
    }
  }
})

/** Express sets these properties on its requests. */
type Routed = IncomingMessage & { readonly baseUrl?: unknown; readonly route?: { readonly path?: unknown } }

class GuardedRoute implements NodeRoute {
  readonly request: Routed
  readonly response: ServerResponse
  readonly cost: () => number
  isPassedOn = false
  readonly #given: IncomingMessage | WrappedRequest
  readonly #reply: ServerResponse | WrappedResponse
  readonly #next: () => void
  readonly #route: string | undefined
  readonly #templates: Set<string>
  readonly #isClosing: boolean

  constructor(
    request: IncomingMessage | WrappedRequest,
    response: ServerResponse | WrappedResponse,
    next: () => void,
    cost: () => number,
    route: string | undefined,
    templates: Set<string>,
    isClosing: boolean
  ) {
    this.request = "raw" in request ? request.raw : request
    this.response = "raw" in response ? response.raw : response
    this.#given = request
    this.#reply = response
    this.#next = next
    this.cost = cost
    this.#route = route
    this.#templates = templates
    this.#isClosing = isClosing
  }

  template(): string | undefined {
    if (this.#route !== undefined) return this.#route
    if ("raw" in this.#given) return this.#given.routeOptions?.url
    const { baseUrl, route } = this.request
    if (typeof route?.path !== "string") return undefined
    const template = typeof baseUrl === "string" ? baseUrl + route.path : route.path
    if (this.#templates.size < MAX_TEMPLATES) this.#templates.add(template)
    return this.#templates.has(template) ? template : undefined
  }

  respond(caller: HostRoute.Caller, headers: FlatHeaders): Effect.Effect<HostRoute.HostResponse> {
    return Effect.callback((resume) => {
      const { response } = this
      for (let index = 0; index < headers.length; index += 2) {
        const name = headers[index] ?? ""
        const value = headers[index + 1] ?? ""
        // Middleware before the guard may have set it for another header.
        if (name === "Vary") response.appendHeader(name, value)
        else response.setHeader(name, value)
      }
      this.request.caller = caller
      if (this.#given !== this.request) Object.assign(this.#given, { caller })
      if (this.#isClosing) announceClose(response)
      response.once("finish", () => {
        const bodyBytes = Number(response.getHeader("Content-Length") ?? 0)
        resume(Effect.succeed({ status: response.statusCode, bodyBytes }))
      })
      this.isPassedOn = true
      try {
        this.#next()
      } catch (error) {
        // Thrown as in any listener, and not within the store that has just counted the request.
        process.nextTick(() => {
          throw error
        })
      }
    })
  }

  beforeRejection(): void {
    if (!("raw" in this.#reply)) return
    this.#reply.hijack()
    // The headers that plugins have set.
    for (const [name, value] of Object.entries(this.#reply.getHeaders())) {
      if (value !== undefined) this.response.setHeader(name, value)
    }
  }
}
