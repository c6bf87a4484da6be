/** The metrics of one store, in a registry of their own. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import type * as Scope from "effect/Scope"
import type { Exchange } from "../../core/service/Exchange.ts"
import type { DatabaseOperation, DatabaseSystem } from "../storage/CallObserver.ts"
import { describe, durationBoundaries, groupBoundaries, type Instrument, instruments } from "./Instruments.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"

export interface Meter {
  /** The registry, for exporters. */
  readonly context: Context.Context<never>
  /** Records a request. */
  readonly exchange: (exchange: Exchange) => void
  /** Records the start of a database call. */
  readonly callStarted: (system: DatabaseSystem) => void
  /** Records the end of a database call; `errorType` is absent if it succeeded. */
  readonly callEnded: (
    system: DatabaseSystem,
    operation: DatabaseOperation,
    seconds: number,
    errorType: string | undefined
  ) => void
  /** Records a group commit. */
  readonly committed: (writes: number) => void
  /** Returns all metrics in the text format of Prometheus. */
  readonly prometheus: () => string
}

/** Creates the metrics; those of the process are measured until the scope closes. */
export const make: Effect.Effect<Meter, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const context = Context.make(Metric.MetricRegistry, new Map()).pipe(Context.add(Clock.Clock, clock))
  yield* ProcessMetrics.register(context, clock)

  const requests = cached((series) => histogram(instruments.requestDuration, durationBoundaries, series))
  const calls = cached((series) => histogram(instruments.callDuration, durationBoundaries, series))
  const active = cached((series) =>
    Metric.gauge(instruments.activeCalls.id, describe(instruments.activeCalls, series))
  )
  const admissions = cached((series) => counter(instruments.admissions, series))
  const bans = cached((series) => counter(instruments.bans, series))
  const groups = histogram(instruments.groupSize, groupBoundaries)

  return {
    context,
    exchange: ({ bannedUntil, durationMs, errorCode, method, outcome, plan = ANONYMOUS, route, status }) => {
      const errorType = errorTypeOf(status, errorCode)
      requests(`${method} ${route} ${status} ${errorType}`, () =>
        present({
          "http.request.method": method,
          "http.route": route,
          "http.response.status_code": status === undefined ? undefined : String(status),
          "error.type": errorType
        })
      ).updateUnsafe(durationMs / 1000, context)
      if (outcome !== undefined) {
        admissions(`${outcome} ${plan}`, () => ({ outcome, plan })).updateUnsafe(1, context)
      }
      if (bannedUntil !== undefined) bans(plan, () => ({ plan })).updateUnsafe(1, context)
    },
    callStarted: (system) => active(system, () => ({ "db.system.name": system })).modifyUnsafe(1, context),
    callEnded: (system, operation, seconds, errorType) => {
      active(system, () => ({ "db.system.name": system })).modifyUnsafe(-1, context)
      calls(`${system} ${operation} ${errorType}`, () =>
        present({ "db.system.name": system, "db.operation.name": operation, "error.type": errorType })
      ).updateUnsafe(seconds, context)
    },
    committed: (writes) => groups.updateUnsafe(writes, context),
    prometheus: () =>
      PrometheusMetrics.formatUnsafe(context, { metricNameMapper: (id) => prometheusNames.get(id) ?? id })
  }
})

/** The plan of requests without a valid key, which count against their network. */
const ANONYMOUS = "anonymous"

/** The `error.type` of a response: errors of the server, and requests whose client disconnected. */
export const errorTypeOf = (
  status: Exchange["status"],
  errorCode: Exchange["errorCode"]
): string | undefined => {
  if (status === undefined) return "client_disconnected"
  return status >= 500 ? (errorCode ?? String(status)) : undefined
}

type Attributes = { readonly [name: string]: string }

/** Returns the metric of a series, which is created once: a metric with new attributes costs more than an update. */
const cached = <Input, State>(create: (attributes: Attributes) => Metric.Metric<Input, State>) => {
  const byKey = new Map<string, Metric.Metric<Input, State>>()
  return (key: string, attributes: () => Attributes): Metric.Metric<Input, State> => {
    const known = byKey.get(key)
    if (known !== undefined) return known
    const created = create(attributes())
    byKey.set(key, created)
    return created
  }
}

const histogram = (instrument: Instrument, boundaries: ReadonlyArray<number>, attributes?: Attributes) =>
  Metric.histogram(instrument.id, { ...describe(instrument, attributes), boundaries })

const counter = (instrument: Instrument, attributes: Attributes) =>
  Metric.counter(instrument.id, { ...describe(instrument, attributes), incremental: true })

const present = (attributes: { readonly [name: string]: string | undefined }): Attributes => {
  const given: { [name: string]: string } = {}
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) given[name] = value
  return given
}

const prometheusNames: ReadonlyMap<string, string> = new Map(
  Object.values(instruments).map(({ id, prometheus }) => [id, prometheus])
)
