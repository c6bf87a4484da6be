/** The last hour of a server, from its metrics: what happened between two readings of them. */
import { type Instrument, instruments, requestBoundaries } from "../telemetry/Instruments.ts"
import * as Exposition from "./Exposition.ts"

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
  readonly latest: { readonly at: number; readonly metrics: Exposition.Exposition } | undefined
}

export const empty: History = { rows: [], latest: undefined }

/** Adds the row that ends with a reading, and discards rows that are older than an hour. */
export const record = ({ latest, rows }: History, at: number, metrics: Exposition.Exposition): History => {
  const kept = rows.filter(({ to }) => to > at - SPAN_MS && to < at)
  const isLater = latest !== undefined && latest.at < at
  return {
    latest: { at, metrics },
    rows: isLater ? [...kept, { from: latest.at, to: at, ...rowOf(metrics, latest.metrics) }] : kept
  }
}

const { admissions, bans, callDuration, requestDuration, residentMemory } = instruments

/** Returns what happened from the reading `earlier`, or from the start of the process, to the reading `metrics`. */
export const rowOf = (metrics: Exposition.Exposition, earlier = Exposition.empty): Row => {
  const since = Exposition.subtract(metrics, earlier)
  const buckets = countBy("le", samplesOf(since, requestDuration, "_bucket"))
  const denied = samplesOf(since, admissions).filter(([series]) => !series.includes('outcome="admitted"'))
  const databaseCalls = sum(samplesOf(since, callDuration, "_count"))
  const seconds = sum(samplesOf(since, callDuration, "_sum"))
  return {
    requests: countBy("http_response_status_code", samplesOf(since, requestDuration, "_count")),
    p50Ms: quantile(buckets, 0.5),
    p99Ms: quantile(buckets, 0.99),
    limited: countBy("plan", denied),
    bans: countBy("plan", samplesOf(since, bans)),
    databaseCalls,
    databaseMs: databaseCalls === 0 ? null : (seconds * 1000) / databaseCalls,
    memoryBytes: sum(samplesOf(metrics, residentMemory))
  }
}

type Samples = ReadonlyArray<readonly [series: string, value: number]>

/** Returns the samples of a metric; those of a histogram differ by their suffix. */
const samplesOf = (metrics: Exposition.Exposition, { prometheus }: Instrument, suffix = ""): Samples =>
  [...(metrics.get(prometheus)?.samples ?? [])].filter(
    ([series]) => series.replace(/\{.*/s, "") === prometheus + suffix
  )

const sum = (samples: Samples): number => samples.reduce((total, [, value]) => total + value, 0)

const countBy = (label: string, samples: Samples): Counts => {
  const pattern = new RegExp(`[{,]${label}="([^"]*)"`)
  // Not an object: the name of a plan can be that of a property of every object, such as "constructor".
  const counts = new Map<string, number>()
  for (const [series, value] of samples) {
    const key = pattern.exec(series)?.[1] ?? "none"
    counts.set(key, (counts.get(key) ?? 0) + value)
  }
  return Object.fromEntries(counts)
}

/** Interpolates within the bucket, as `histogram_quantile` of Prometheus does; milliseconds. */
const quantile = (buckets: Counts, fraction: number): number | null => {
  const all = buckets["+Inf"] ?? 0
  if (all === 0) return null
  const rank = all * fraction
  let lower = 0
  let below = 0
  for (const boundary of requestBoundaries) {
    const count = buckets[String(boundary)] ?? 0
    if (count >= rank) return 1000 * (lower + ((boundary - lower) * (rank - below)) / (count - below))
    lower = boundary
    below = count
  }
  return 1000 * lower
}
