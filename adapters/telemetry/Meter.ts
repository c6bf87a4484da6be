/** Records the metrics of one store in its own registry. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as Plan from "../../core/limits/Plan.ts"
import type { Outcome } from "../../core/limits/RateLimit.ts"
import type { Exchange } from "../../core/service/Exchange.ts"
import type { DatabaseOperation, DatabaseSystem } from "../storage/CallObserver.ts"
import {
  callBoundaries,
  describe,
  groupBoundaries,
  type Instrument,
  instruments,
  requestBoundaries
} from "./Instruments.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import * as Series from "./Series.ts"
import * as Snapshot from "./Snapshot.ts"

export interface Meter {
  /** The registry, for exporters. */
  readonly context: Context.Context<never>
  /** Records a request. */
  readonly exchange: (exchange: Exchange) => void
  /** Returns the meter for calls of a database operation. */
  readonly calls: (system: DatabaseSystem, operation: DatabaseOperation) => CallMeter
  /** Records a group commit or a batch with this number of calls. */
  readonly committed: (writes: number) => void
  /**
   * Returns the values of all metrics. A `sample` lacks those of the event loop: they describe the time since the
   * previous reading, and a sample is no reading.
   */
  readonly snapshot: (isSample?: boolean) => Snapshot.Snapshot
  /** Returns all metrics in the Prometheus text format. */
  readonly prometheus: () => string
}

/** Records the calls of a database operation. */
export interface CallMeter {
  /** Records the start of a call. */
  readonly started: () => void
  /** Records the end of a call; `errorType` is `undefined` if the call succeeded. */
  readonly ended: (seconds: number, errorType: string | undefined) => void
}

/** Creates the metrics; the event loop is measured until the scope closes. */
export const make: Effect.Effect<Meter, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const context = Context.make(Metric.MetricRegistry, new Map()).pipe(Context.add(Clock.Clock, clock))
  yield* ProcessMetrics.register(context, clock)

  const requests = Series.make(
    ["http.request.method", "http.route", "http.response.status_code", "error.type", "url.scheme"],
    (attributes) => histogram(instruments.requestDuration, requestBoundaries, attributes)
  )
  const admissions = Series.make(["outcome", "plan"], (attributes) =>
    counter(instruments.admissions, attributes)
  )
  const bans = Series.make(["plan"], (attributes) => counter(instruments.bans, attributes))
  // A counter that appears with its first event has no increase, so alerts would not see that event.
  for (const plan of [...Plan.names, ANONYMOUS] as const) {
    for (const outcome of outcomes) {
      if (plan !== ANONYMOUS || outcome !== "banned") admissions(outcome, plan).updateUnsafe(0, context)
    }
    if (plan !== ANONYMOUS) bans(plan).updateUnsafe(0, context)
  }
  const active = Series.make(["db.system.name"], (attributes) => activeCalls(attributes, context))
  const callDurations = Series.make(["db.system.name", "db.operation.name", "error.type"], (attributes) =>
    histogram(instruments.callDuration, callBoundaries, attributes)
  )
  const groups = histogram(instruments.groupSize, groupBoundaries)

  const snapshot = (isSample = false) =>
    Snapshot.read(context, (id) => !(isSample && id.startsWith("nodejs.eventloop.")))
  return {
    context,
    exchange: ({
      bannedUntil,
      durationMs,
      errorCode,
      method,
      outcome,
      plan = ANONYMOUS,
      route,
      scheme,
      status
    }) => {
      const series = requests(method, route, status, errorTypeOf(status, errorCode), scheme)
      series.updateUnsafe(durationMs / 1000, context)
      if (outcome !== undefined) admissions(outcome, plan).updateUnsafe(1, context)
      if (bannedUntil !== undefined) bans(plan).updateUnsafe(1, context)
    },
    calls: (system, operation) => ({
      started: () => {
        active(system).count++
      },
      ended: (seconds, errorType) => {
        active(system).count--
        callDurations(system, operation, errorType).updateUnsafe(seconds, context)
      }
    }),
    committed: (writes) => groups.updateUnsafe(writes, context),
    snapshot,
    prometheus: () => Snapshot.format(snapshot())
  }
})

/** The plan label of requests without a valid key, which are counted per client network. */
const ANONYMOUS = "anonymous"

const outcomes = ["admitted", "limited", "banned"] as const satisfies ReadonlyArray<Outcome>

/** Returns the `error.type` of a server error or a disconnected client; `undefined` for other responses. */
export const errorTypeOf = (
  status: Exchange["status"],
  errorCode: Exchange["errorCode"]
): string | undefined => {
  if (status === undefined) return "client_disconnected"
  return status >= 500 ? (errorCode ?? String(status)) : undefined
}

/** Registers a gauge over a plain counter, because updating a metric costs more than incrementing a number. */
const activeCalls = (attributes: Series.Attributes, context: Context.Context<never>): { count: number } => {
  const calls = { count: 0 }
  const gauge = Metric.gauge(instruments.activeCalls.id, describe(instruments.activeCalls, attributes))
  Metric.registerUnsafe(gauge, context, {
    get: () => ({ value: calls.count }),
    update: () => undefined,
    modify: () => undefined
  })
  return calls
}

const histogram = (
  instrument: Instrument,
  boundaries: ReadonlyArray<number>,
  attributes?: Series.Attributes
) => Metric.histogram(instrument.id, { ...describe(instrument, attributes), boundaries })

const counter = (instrument: Instrument, attributes: Series.Attributes) =>
  Metric.counter(instrument.id, { ...describe(instrument, attributes), incremental: true })
