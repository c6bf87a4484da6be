/** Puts routes of a web-standard host behind the keys and limits of the service. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as Options from "../../core/options/Options.ts"
import * as HostRoute from "../../core/service/HostRoute.ts"
import { InFlight } from "../../core/service/InFlight.ts"
import { Service } from "../../core/service/Service.ts"
import { type FlatHeaders, pairs } from "../../core/service/ServiceResponse.ts"
import { toResponse } from "./FetchHandler.ts"
import { type FetchHandlerOptions, table } from "./FetchHandlerOptions.ts"
import { FetchRequest } from "./FetchRequest.ts"

/** The decision on a request to a route of the host. */
export type Admission =
  | {
      readonly admitted: true
      /** The API key of the request. */
      readonly caller: HostRoute.Caller
      /** The headers of the service, for the response of the host. */
      readonly headers: Headers
      /** Returns the response with these headers, and passes it to the access log, metrics and traces. */
      readonly respond: (response: Response) => Response
    }
  | {
      readonly admitted: false
      /** The response of the service, for the host to return. */
      readonly response: Response
    }

/** Decides on a request; rejects with `InvalidOption`, or with `request.signal.reason` if that signal aborts. */
export type Admit = (request: Request, options?: HostRoute.GuardOptions<Request>) => Promise<Admission>

/** Creates the function. */
export const make = Effect.fnUntraced(function* (
  given?: FetchHandlerOptions
): Effect.fn.Return<Admit, InvalidOption, Service> {
  const options = yield* Effect.fromResult(Options.check<FetchHandlerOptions>(table, given))
  const service = yield* Service
  const inFlight = yield* InFlight
  const run = Effect.runCallbackWith(yield* Effect.context())
  return (request, givenRoute) =>
    new Promise((resolve, reject) => {
      const { signal } = request
      signal.throwIfAborted()
      const { costOf, route } = HostRoute.resolve(givenRoute)
      let isAdmitted = false
      const admission = service.admit(new FetchRequest(request, options), {
        cost: () => costOf(request),
        template: () => route,
        respond: (caller, flat) =>
          Effect.callback((resume) => {
            isAdmitted = true
            inFlight?.end()
            const headers = toHeaders(flat)
            const respond = (response: Response): Response => {
              const sent = withHeaders(response, headers)
              const bodyBytes = Number(sent.headers.get("Content-Length") ?? 0)
              resume(Effect.succeed({ status: sent.status, bodyBytes }))
              return sent
            }
            resolve({ admitted: true, caller, headers, respond })
          })
      })
      inFlight?.begin()
      run(admission, {
        signal,
        onExit: (exit) => {
          if (isAdmitted) return
          inFlight?.end()
          if (Exit.isSuccess(exit)) {
            resolve({ admitted: false, response: toResponse(request, exit.value) })
          } else reject(signal.aborted ? signal.reason : Cause.squash(exit.cause))
        }
      })
    })
})

const toHeaders = (flat: FlatHeaders): Headers => {
  const headers = new Headers()
  for (const [name, value] of pairs(flat)) headers.append(name, value)
  return headers
}

/** Returns a response with more headers; its own have precedence. A copy, because some responses cannot be changed. */
const withHeaders = (response: Response, headers: Headers): Response => {
  const merged = new Headers(headers)
  for (const [name, value] of response.headers) {
    if (name === "vary" || name === "set-cookie") merged.append(name, value)
    else merged.set(name, value)
  }
  const { status, statusText } = response
  return new Response(response.body, { status, statusText, headers: merged })
}
