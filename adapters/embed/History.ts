/** The last hour of a server, from its metrics: what happened between two readings of them. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Instrument, instruments } from "../telemetry/Instruments.ts"
import * as Snapshot from "../telemetry/Snapshot.ts"

/** Milliseconds between two readings. */
const INTERVAL_MS = 10_000

const SPAN_MS = 60 * 60 * 1_000

/** What happened in a time, in the units of the admin API, whose schema describes the fields. */
export type Row = ReturnType<typeof rowOf>

/** The last hour. Times are in epoch milliseconds. */
export interface History {
  /** Oldest first. */
  readonly rows: ReadonlyArray<Row & { readonly from: number; readonly to: number }>
  /** The latest reading, with which the next row begins. */
  readonly latest?: { readonly at: number; readonly metrics: Snapshot.Snapshot }
}

export const empty: History = { rows: [] }

/** Adds the row that ends with a reading, and discards rows that are older than an hour. */
export const record = ({ latest, rows }: History, at: number, metrics: Snapshot.Snapshot): History => {
  const kept = rows.filter(({ to }) => to > at - SPAN_MS && to < at)
  // After the clock was set back, no row can end now.
  if (latest === undefined || latest.at >= at) return { latest: { at, metrics }, rows: kept }
  const row = { from: latest.at, to: at, ...rowOf(metrics, latest.metrics) }
  return { latest: { at, metrics }, rows: [...kept, row] }
}

/** Returns a sample of the metrics of each process, by its number from 1. */
export type ReadMetrics = () => Promise<ReadonlyMap<number, Snapshot.Snapshot>>

const sumOf = (samples: ReadonlyMap<number, Snapshot.Snapshot>): Snapshot.Snapshot =>
  [...samples.values()].reduce(Snapshot.add, [])

/**
 * Reads the metrics every ten seconds until the scope closes. Returns a function that returns the rows of the last hour,
 * and the counts of each process since its start with their sum.
 */
export const make = Effect.fnUntraced(function* (readMetrics: ReadMetrics) {
  let history = empty
  const read = Effect.gen(function* () {
    const samples = yield* Effect.promise(readMetrics)
    history = record(history, yield* Clock.currentTimeMillis, sumOf(samples))
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning("the metrics of the last hour were not read", cause))
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(read, Effect.sleep(INTERVAL_MS))))
  return async () => {
    const samples = await readMetrics()
    const workers = [...samples].map(([worker, sample]) => ({ worker, ...rowOf(sample) }))
    return { rows: history.rows, workers, total: rowOf(sumOf(samples)) }
  }
})

const { admissions, bans, callDuration, requestDuration, residentMemory } = instruments

/** Returns what happened from the reading `earlier`, or from the start of the process, to the reading `metrics`. */
export const rowOf = (metrics: Snapshot.Snapshot, earlier: Snapshot.Snapshot = []) => {
  const since = Snapshot.subtract(metrics, earlier)
  const durations = totalOf(since, requestDuration)
  const calls = totalOf(since, callDuration)
  const denied = since.filter(({ attributes }) => attributes.outcome !== "admitted")
  return {
    requests: countBy(since, requestDuration, "http.response.status_code"),
    p50Ms: quantile(durations, 0.5),
    p99Ms: quantile(durations, 0.99),
    limited: countBy(denied, admissions, "plan"),
    bans: countBy(since, bans, "plan"),
    databaseMs: calls.value === 0 ? null : (calls.sum * 1000) / calls.value,
    memoryBytes: totalOf(metrics, residentMemory).value
  }
}

type Total = Pick<Snapshot.SeriesValue, "value" | "sum" | "buckets">

/** Adds the series of a metric. */
const totalOf = (metrics: Snapshot.Snapshot, { id }: Instrument): Total =>
  metrics
    .filter((series) => series.id === id)
    .map((series) => [{ ...series, attributes: {} }])
    .reduce(Snapshot.add, [])[0] ?? { value: 0, sum: 0, buckets: [] }

/** Counts by the value of an attribute. */
const countBy = (metrics: Snapshot.Snapshot, { id }: Instrument, attribute: string) => {
  // Not an object: the name of a plan can be that of a property of every object, such as "constructor".
  const counts = new Map<string, number>()
  for (const { attributes, id: counted, value } of metrics) {
    const key = attributes[attribute] ?? "none"
    if (counted === id) counts.set(key, (counts.get(key) ?? 0) + value)
  }
  return Object.fromEntries(counts)
}

/** Interpolates within the bucket, as `histogram_quantile` of Prometheus does; milliseconds. */
const quantile = ({ buckets, value }: Total, fraction: number): number | null => {
  if (value === 0) return null
  const rank = value * fraction
  let lower = 0
  let below = 0
  for (const [boundary, count] of buckets) {
    if (count >= rank) return 1000 * (lower + ((boundary - lower) * (rank - below)) / (count - below))
    lower = boundary
    below = count
  }
  return 1000 * lower
}
