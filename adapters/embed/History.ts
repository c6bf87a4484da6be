/** The last hour of a server, from its metrics: what happened between two readings of them. */
import { type Instrument, instruments } from "../telemetry/Instruments.ts"
import * as Snapshot from "../telemetry/Snapshot.ts"

/** Milliseconds between two readings. */
export const INTERVAL_MS = 10_000

const SPAN_MS = 60 * 60 * 1_000

/** Counts by the value of a label. */
export interface Counts {
  readonly [value: string]: number
}

/** What happened in a time, in the units of the admin API. */
export interface Row {
  /** By status; `none` for clients that disconnected. */
  readonly requests: Counts
  /** Quantiles of the durations, interpolated as Prometheus does; null without requests. */
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  /** Requests with status 429, by plan. */
  readonly limited: Counts
  /** Bans that began, by plan. */
  readonly bans: Counts
  readonly databaseCalls: number
  /** The mean duration of a call; null without calls. */
  readonly databaseMs: number | null
  readonly memoryBytes: number
}

/** The last hour. Times are in epoch milliseconds. */
export interface History {
  /** Oldest first. */
  readonly rows: ReadonlyArray<Row & { readonly from: number; readonly to: number }>
  /** The latest reading, with which the next row begins. */
  readonly latest: { readonly at: number; readonly metrics: Snapshot.Snapshot } | undefined
}

export const empty: History = { rows: [], latest: undefined }

/** Adds the row that ends with a reading, and discards rows that are older than an hour. */
export const record = ({ latest, rows }: History, at: number, metrics: Snapshot.Snapshot): History => {
  const kept = rows.filter(({ to }) => to > at - SPAN_MS && to < at)
  const isLater = latest !== undefined && latest.at < at
  return {
    latest: { at, metrics },
    rows: isLater ? [...kept, { from: latest.at, to: at, ...rowOf(metrics, latest.metrics) }] : kept
  }
}

const { admissions, bans, callDuration, requestDuration, residentMemory } = instruments

/** Returns what happened from the reading `earlier`, or from the start of the process, to the reading `metrics`. */
export const rowOf = (metrics: Snapshot.Snapshot, earlier: Snapshot.Snapshot = []): Row => {
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
    databaseCalls: calls.value,
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

const countBy = (metrics: Snapshot.Snapshot, { id }: Instrument, attribute: string): Counts => {
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
