/** Determines what a request is for: a target that needs no key, an operation, or a route of the host. */
import * as Effect from "effect/Effect"
import type { Operation } from "../operations/Operation.ts"
import type { Call } from "./Call.ts"
import * as Cors from "./Cors.ts"
import * as Mount from "./Mount.ts"
import * as Probes from "./Probes.ts"
import * as Router from "./Router.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import { HostBusy } from "./ServiceRequest.ts"
import * as ServiceResponse from "./ServiceResponse.ts"
import * as StaticFiles from "./StaticFiles.ts"
import * as Target from "./Target.ts"

/**
 * Creates the function that notes what is requested, and the permission of web pages. It returns the reply if the request
 * needs no key.
 */
export const make = Effect.fnUntraced(function* (
  { basePath, corsOrigins }: Pick<ServiceOptions, "basePath" | "corsOrigins">,
  operations: ReadonlyArray<Operation>,
  probes: Probes.Probes
) {
  const fileReply = StaticFiles.make(yield* StaticFiles.StaticFiles)
  const findRoute = Router.make(basePath, Router.resourcesOf(operations))
  const configuredCors = Cors.make(corsOrigins)
  const [firstOrigin, ...otherOrigins] = new Set(corsOrigins)

  /** Redirects from a mount path to the start page, whose links are relative: adds a slash. */
  const redirect = ({ request }: Call, sentPath: string, pathBeside: string) =>
    pathBeside === "" && sentPath !== "" && fileReply(request, "/") !== undefined
      ? Effect.succeed(ServiceResponse.make(308, "", ["Location", `./${sentPath.split("/").at(-1)}/`]))
      : undefined

  return (call: Call): Effect.Effect<ServiceResponse.Reply, HostBusy> | undefined => {
    const { hostRoute, request, transportError } = call
    if (transportError !== undefined) {
      // The only allowed origin stands for an unknown one: the browser compares it with the origin of the page.
      const origin = request.header("origin") ?? (otherOrigins.length === 0 ? firstOrigin : undefined)
      if (configuredCors !== undefined) call.corsHeaders = configuredCors(origin).headers
      return transportError === "service_unavailable" ? Effect.fail(new HostBusy()) : undefined
    }
    const { path: sentPath, query } = Target.parse(request.target)
    // The mount path of a guard is the path of a route, not of the service.
    const isOwn = hostRoute === undefined
    const prefix = isOwn ? Mount.prefixOf(basePath, sentPath, request.mountPath) : ""
    const path = sentPath.slice(prefix.length)
    const pathBeside = Mount.pathBeside(basePath, path)
    if (prefix !== "") call.prefix = Mount.encode(prefix)
    const unlimited =
      probes.respond(call, pathBeside) ??
      fileReply(request, pathBeside) ??
      redirect(call, sentPath, pathBeside)
    const route = unlimited === undefined && isOwn ? findRoute(request.method, path) : undefined
    call.isProbe = unlimited !== undefined
    call.template = call.isProbe ? pathBeside : route?.template
    const cors = pathBeside === Probes.OPENAPI ? Cors.everyone : configuredCors
    const permission = cors?.(request.header("origin"))
    if (permission !== undefined && Cors.isPreflight(request)) return Effect.succeed(permission.preflight)
    if (permission !== undefined) call.corsHeaders = permission.headers
    call.route = route
    call.query = query
    return unlimited
  }
})
