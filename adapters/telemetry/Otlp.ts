/**
 * Pushes metrics and traces to a collector with OTLP over HTTP. If the collector is down or does not respond, pending
 * exports use bounded memory, and delay only the closing of the store: by at most `SHUTDOWN_MS` for metrics and again
 * for traces.
 */

import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as OtlpExporter from "effect/observability/OtlpExporter"
import * as OtlpMetrics from "effect/observability/OtlpMetrics"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import type { Meter } from "./Meter.ts"
import * as OtlpEncoding from "./OtlpEncoding.ts"

export interface OtlpOptions {
  /** The collector's URL, such as `http://127.0.0.1:4318`, with or without the path of one signal. */
  readonly url: string
  /** Headers of each export, such as `Authorization`. */
  readonly headers: { readonly [name: string]: string }
  /** Milliseconds between two exports. */
  readonly intervalMs: number
  /** The name of the service (`service.name`). */
  readonly serviceName: string
  /** Distinguishes this process from others of the same service. */
  readonly instanceId: string
}

/** Maximum number of spans in one export. */
const MAX_BATCH = 1_000

/** Maximum number of concurrent exports per client; the data of further exports is dropped. */
const MAX_EXPORTS = 8

/** Timeout of an export. */
const EXPORT_TIMEOUT = "5 seconds"

/** Maximum number of bytes that are read of a response; the connection of a longer one is closed. */
const MAX_RESPONSE_BYTES = 16_384

/** Timeout in milliseconds for the last export when the scope closes. */
const SHUTDOWN_MS = 1_000

/** Starts to export the metrics of `meter`, and returns a tracer that exports its spans. */
export const make = (
  meter: Meter,
  { headers, instanceId, intervalMs, serviceName, url }: OtlpOptions
): Effect.Effect<Tracer.Tracer, never, Scope.Scope> => {
  const base = url.replace(/(?:\/v1\/(?:traces|metrics))?\/*$/, "")
  const common = {
    headers,
    exportInterval: intervalMs,
    shutdownTimeout: SHUTDOWN_MS,
    resource: { serviceName, attributes: { "service.instance.id": instanceId } }
  }
  return Effect.gen(function* () {
    // Separate clients, so that metrics and traces do not share the limit on exports.
    yield* Effect.provide(OtlpMetrics.make({ ...common, url: `${base}/v1/metrics` }), Layer.fresh(client))
    return yield* Effect.provide(
      OtlpTracer.make({ ...common, url: `${base}/v1/traces`, maxBatchSize: MAX_BATCH }),
      Layer.fresh(client)
    )
  }).pipe(
    Effect.provideService(Metric.MetricRegistry, Context.get(meter.context, Metric.MetricRegistry)),
    Effect.provide(Layer.mergeAll(OtlpEncoding.layer, OtlpExporter.layerFlusher))
  )
}

/** A redirect would send headers that contain secrets to another server; `fetch` removes only `Authorization`. */
const NO_REDIRECTS: RequestInit = { redirect: "manual" }

/** Bounds the number and the duration of requests, which Effect's exporters do not. */
const client: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (unbounded) => {
    let running = 0
    return HttpClient.transform(unbounded, (response, request) => {
      // An `EncodeError`, because the exporter would retry after a transport error.
      const exportError = (description: string) =>
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.EncodeError({ request, description })
        })
      const bounded = Effect.suspend(() => {
        // Drops this export only: after a failure the exporter would pause for a minute.
        if (running >= MAX_EXPORTS) {
          return Effect.as(
            notExported(`${MAX_EXPORTS} exports are still in progress`),
            emptyResponse(request)
          )
        }
        running++
        return response.pipe(
          Effect.provideService(FetchHttpClient.RequestInit, NO_REDIRECTS),
          Effect.tap(discardBody),
          Effect.tap(({ status }) =>
            status >= 200 && status < 300
              ? Effect.void
              : notExported(`the collector responded with ${status}`)
          ),
          Effect.timeoutOrElse({
            duration: EXPORT_TIMEOUT,
            orElse: () => Effect.fail(exportError(`the collector did not respond within ${EXPORT_TIMEOUT}`))
          }),
          Effect.ensuring(Effect.sync(() => running--))
        )
      })
      return Effect.tapError(bounded, ({ reason }) =>
        notExported(`${reason._tag}: ${reason.description ?? messageOf(reason.cause)}`)
      )
    })
  })
).pipe(Layer.provide(FetchHttpClient.layer))

/** Reads a short body, so that the connection can be reused; cancels a long one, which would fill the memory. */
const discardBody = ({ stream }: HttpClientResponse.HttpClientResponse): Effect.Effect<void> => {
  let bytes = 0
  return Stream.runForEachWhile(stream, (chunk) => {
    bytes += chunk.length
    return Effect.succeed(bytes <= MAX_RESPONSE_BYTES)
  }).pipe(Effect.ignore)
}

const notExported = (error: string): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning("telemetry was not exported"), "error", error)

const emptyResponse = (request: HttpClientRequest.HttpClientRequest): HttpClientResponse.HttpClientResponse =>
  HttpClientResponse.fromWeb(request, new Response(null, { status: 204 }))

/** Returns the innermost message, because `fetch` reports only "fetch failed". */
const messageOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return "no response"
  return cause.cause instanceof Error ? messageOf(cause.cause) : cause.message
}
