/** Creates the log, the observers and the exporters of a store from its options. */
import { Buffer } from "node:buffer"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as OptionTable from "../../core/options/OptionTable.ts"
import * as Exchange from "../../core/service/Exchange.ts"
import { Service } from "../../core/service/Service.ts"
import * as Log from "../log/Log.ts"
import * as LogFormat from "../log/LogFormat.ts"
import * as LogSink from "../log/LogSink.ts"
import * as Style from "../log/Style.ts"
import { CallObserver } from "../storage/CallObserver.ts"
import type { Meter } from "../telemetry/Meter.ts"
import type { Tracing } from "../telemetry/Tracing.ts"
import * as ObservationOptions from "./ObservationOptions.ts"

export interface Observation {
  /** The loggers, and the observers of requests and database calls. */
  readonly layer: Layer.Layer<never>
  /** Wraps a service to trace its requests; returns it unchanged if tracing is off. */
  readonly withTracing: <E, R>(service: Layer.Layer<Service, E, R>) => Layer.Layer<Service, E, R>
  /** The metrics; `undefined` if they are off. */
  readonly meter: Meter | undefined
}

/** Opens the log and the exporters, which close with the scope. Features that are off are neither loaded nor called. */
export const make = Effect.fnUntraced(function* (
  options: OptionTable.Complete<typeof ObservationOptions.table>
): Effect.fn.Return<Observation, never, Scope.Scope | SecureRandom.SecureRandom> {
  const { logLevel: threshold } = options
  const otlp = options.otlp && ObservationOptions.resolveOtlp(options.otlp)
  const format = LogFormat.named(options.logFormat, Style.hasColor(process.env))
  const log = yield* Log.make(
    options.log === undefined
      ? LogSink.toStream(process.stderr, format)
      : LogSink.toFunction(options.log, format),
    threshold
  )
  const { meter, tracing } =
    options.metrics || otlp !== undefined
      ? yield* Effect.provide(loadTelemetry(otlp), log.layer)
      : { meter: undefined, tracing: undefined }
  const observer = Exchange.combine([
    options.accessLog && threshold !== "none" ? log.accessLog : undefined,
    options.onResponse && ignoreRejections(options.onResponse),
    meter?.exchange,
    tracing?.observer
  ])
  const calls = meter && (yield* makeCallObserver(meter, tracing))
  return {
    layer: Layer.mergeAll(
      log.layer,
      Layer.succeed(Exchange.ResponseObserver, observer),
      Layer.succeed(CallObserver, calls)
    ),
    withTracing: (service) =>
      tracing === undefined
        ? service
        : Layer.effect(Service, Effect.map(Service, tracing.service)).pipe(Layer.provide(service)),
    meter
  }
})

// Imported on demand, because most programs start without telemetry.
const loadTelemetry = Effect.fnUntraced(function* (
  otlp: ObservationOptions.ResolvedOtlp | undefined
): Effect.fn.Return<
  { readonly meter: Meter; readonly tracing: Tracing | undefined },
  never,
  Scope.Scope | SecureRandom.SecureRandom
> {
  const meter = yield* (yield* Effect.promise(() => import("../telemetry/Meter.ts"))).make
  if (otlp === undefined) return { meter, tracing: undefined }
  const Otlp = yield* Effect.promise(() => import("../telemetry/Otlp.ts"))
  const Tracing = yield* Effect.promise(() => import("../telemetry/Tracing.ts"))
  const id = yield* SecureRandom.SecureRandom.use((random) => random.randomBytes(16))
  const tracer = yield* Otlp.make(meter, { ...otlp, instanceId: Buffer.from(id).toString("hex") })
  return { meter, tracing: yield* Tracing.make(tracer, otlp.traceSample) }
})

const makeCallObserver = Effect.fnUntraced(function* (meter: Meter, tracing: Tracing | undefined) {
  const ObservedCalls = yield* Effect.promise(() => import("../telemetry/ObservedCalls.ts"))
  return yield* ObservedCalls.make(meter, tracing)
})

/** Wraps `onResponse`, and ignores the rejection of a promise that it returns, which would crash the process. */
const ignoreRejections =
  (onResponse: (exchange: Exchange.Exchange) => unknown): Exchange.ResponseObserver =>
  (exchange) => {
    const returned = onResponse(exchange)
    if (returned instanceof Promise) returned.catch(() => undefined)
  }
