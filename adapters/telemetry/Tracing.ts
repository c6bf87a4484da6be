/**
 * Creates spans for requests and database calls, according to the OpenTelemetry semantic conventions. Spans contain no
 * secret, no query and no body.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Headers from "effect/http/Headers"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Tracer from "effect/Tracer"
import type { ResponseObserver } from "../../core/service/Exchange.ts"
import type { Service } from "../../core/service/Service.ts"
import type { ServiceRequest } from "../../core/service/ServiceRequest.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"
import type { DatabaseOperation, DatabaseSystem } from "../storage/CallObserver.ts"
import { errorTypeOf } from "./Meter.ts"

export interface Tracing {
  /** Wraps a service so that each sampled request gets a span. */
  readonly service: (service: Service["Service"]) => Service["Service"]
  /** Sets the name and the attributes of a request's span. */
  readonly observer: ResponseObserver
  /** Starts the span of a database call as a child of `parent`. */
  readonly call: (system: DatabaseSystem, operation: DatabaseOperation, parent: Tracer.AnySpan) => Tracer.Span
}

/**
 * Creates spans with `tracer`. A request with a valid `traceparent` header is sampled if the sampled flag of the header
 * is set; any other request is sampled with the probability `ratio`.
 */
export const make = Effect.fnUntraced(function* (
  tracer: Tracer.Tracer,
  ratio: number
): Effect.fn.Return<Tracing> {
  const clock = yield* Clock.Clock
  const random = yield* Random.Random

  const start = (name: string, kind: Tracer.SpanKind, parent: Option.Option<Tracer.AnySpan>): Tracer.Span =>
    tracer.span({
      name,
      kind,
      parent,
      annotations: Context.empty(),
      links: [],
      startTime: clock.currentTimeNanosUnsafe(),
      root: Option.isNone(parent),
      sampled: true
    })

  const startIfSampled = (request: ServiceRequest): Tracer.Span | undefined => {
    const parent = parentOf(request)
    const isSampled = Option.match(parent, {
      onNone: () => random.nextDoubleUnsafe() < ratio,
      onSome: ({ sampled }) => sampled
    })
    return isSampled ? start("HTTP", "server", parent) : undefined
  }

  const traced = (
    request: ServiceRequest,
    response: Effect.Effect<ServiceResponse>
  ): Effect.Effect<ServiceResponse> =>
    Effect.suspend(() => {
      const span = startIfSampled(request)
      if (span === undefined) return response
      return Effect.onExit(Effect.withParentSpan(response, span), () => {
        span.end(clock.currentTimeNanosUnsafe(), Exit.void)
        return Effect.void
      })
    })

  return {
    service: (service) => ({
      ...service,
      handle: (request) => traced(request, service.handle(request)),
      admit: (request, route) => traced(request, service.admit(request, route))
    }),
    observer: ({ errorCode, method, outcome, requestId, route, scheme, status }, span) => {
      if (span?._tag !== "Span") return
      // The path is matched only after the span has started, and a tracer has no method to rename a span.
      Object.assign(span, { name: [method === "_OTHER" ? "HTTP" : method, route].filter(Boolean).join(" ") })
      span.attribute("http.request.method", method)
      span.attribute("url.scheme", scheme)
      if (route !== undefined) span.attribute("http.route", route)
      if (status !== undefined) span.attribute("http.response.status_code", status)
      span.attribute("http.response.header.x-request-id", requestId)
      if (outcome !== undefined) span.attribute("animal_store.outcome", outcome)
      const errorType = errorTypeOf(status, errorCode)
      if (errorType !== undefined) span.attribute("error.type", errorType)
    },
    call: (system, operation, parent) => {
      const span = start(operation, "client", Option.some(parent))
      span.attribute("db.system.name", system)
      span.attribute("db.operation.name", operation)
      return span
    }
  }
})

/** Returns the client's span (W3C Trace Context); an invalid header is treated as absent. */
const parentOf = (request: ServiceRequest): Option.Option<Tracer.ExternalSpan> => {
  const traceparent = request.header("traceparent")
  return traceparent === undefined
    ? Option.none()
    : HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent }))
}
