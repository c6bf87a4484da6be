/** The last hour of a server, from its metrics: what happened between two samples, in each process and in all. */
import { instruments, requestBoundaries } from "../telemetry/Instruments.ts"
import type { Exposition } from "./Exposition.ts"

/** Milliseconds between two samples. */
export const INTERVAL_MS = 10_000

const SPAN_MS = 60 * 60 * 1_000

/** Counts by the value of a label. */
export interface Counts {
  readonly [value: string]: number
}

/** The name of a plan can be that of a property of every object, such as "constructor". */
const countOf = (counts: Counts, value: string): number =>
  (Object.hasOwn(counts, value) ? counts[value] : undefined) ?? 0

/** Counts since the start of a process, and its memory now; those of several processes can be added. */
export interface Sample {
  /** By status; `none` for clients that disconnected. */
  readonly requests: Counts
  /** Number of requests by the upper boundary of their duration in seconds, each with those below it. */
  readonly buckets: Counts
  /** Requests with status 429, by plan. */
  readonly limited: Counts
  /** Bans that began, by plan. */
  readonly bans: Counts
  readonly databaseCalls: number
  readonly databaseSeconds: number
  readonly memoryBytes: number
}

/** What happened between two samples, in the units of the admin API. */
export interface Row extends Pick<Sample, "requests" | "limited" | "bans" | "databaseCalls" | "memoryBytes"> {
  /** Quantiles of the durations, interpolated as Prometheus does; null without requests. */
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  /** The mean duration of a call; null without calls. */
  readonly databaseMs: number | null
}

/** The samples of each process, by its number, at a time in epoch milliseconds. */
export interface Reading {
  readonly at: number
  readonly samples: ReadonlyMap<number, Sample>
}

/** The readings of the last hour, oldest first. */
export type History = ReadonlyArray<Reading>

/** Adds a reading, and discards those that are older than an hour. */
export const record = (history: History, reading: Reading): History => [
  ...history.filter(({ at }) => at > reading.at - SPAN_MS && at < reading.at),
  reading
]

/** Returns the counts of a process from its metrics. */
export const sampleOf = (metrics: Exposition): Sample => {
  const { admissions, bans, callDuration, requestDuration, residentMemory } = instruments
  const limited = (series: string) =>
    labelOf(series, "outcome") === "admitted" ? undefined : labelOf(series, "plan")
  return {
    requests: countsOf(
      metrics,
      requestDuration,
      "_count",
      (series) => labelOf(series, "http_response_status_code") ?? "none"
    ),
    buckets: countsOf(metrics, requestDuration, "_bucket", (series) => labelOf(series, "le")),
    limited: countsOf(metrics, admissions, "", limited),
    bans: countsOf(metrics, bans, "", (series) => labelOf(series, "plan")),
    databaseCalls: total(countsOf(metrics, callDuration, "_count", () => "all")),
    databaseSeconds: total(countsOf(metrics, callDuration, "_sum", () => "all")),
    memoryBytes: total(countsOf(metrics, residentMemory, "", () => "all"))
  }
}

/** Sums the values of the series whose name is that of the metric with `suffix`, by the value of `keyOf`. */
const countsOf = (
  metrics: Exposition,
  { prometheus }: { readonly prometheus: string },
  suffix: string,
  keyOf: (series: string) => string | undefined
): Counts => {
  const counts: { [value: string]: number } = {}
  for (const [series, value] of metrics.get(prometheus)?.samples ?? []) {
    if (series.replace(/\{.*/s, "") !== prometheus + suffix) continue
    const key = keyOf(series)
    if (key !== undefined) counts[key] = countOf(counts, key) + value
  }
  return counts
}

const labelOf = (series: string, label: string): string | undefined =>
  new RegExp(`[{,]${label}="([^"]*)"`).exec(series)?.[1]

const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

const combine = (first: Counts, second: Counts, sign: 1 | -1): Counts =>
  Object.fromEntries(
    Object.keys({ ...first, ...second }).map((key) => [
      key,
      countOf(first, key) + sign * countOf(second, key)
    ])
  )

const combined = (first: Sample, second: Sample, sign: 1 | -1): Sample => ({
  requests: combine(first.requests, second.requests, sign),
  buckets: combine(first.buckets, second.buckets, sign),
  limited: combine(first.limited, second.limited, sign),
  bans: combine(first.bans, second.bans, sign),
  databaseCalls: first.databaseCalls + sign * second.databaseCalls,
  databaseSeconds: first.databaseSeconds + sign * second.databaseSeconds,
  memoryBytes: sign === 1 ? first.memoryBytes + second.memoryBytes : first.memoryBytes
})

const nothing: Sample = {
  requests: {},
  buckets: {},
  limited: {},
  bans: {},
  databaseCalls: 0,
  databaseSeconds: 0,
  memoryBytes: 0
}

/** Adds the samples of all processes. */
export const sumOf = (samples: Reading["samples"]): Sample =>
  [...samples.values()].reduce((sum, sample) => combined(sum, sample, 1), nothing)

/** Returns what happened from `earlier`, or from the start of the process, to `sample`. */
export const rowOf = (sample: Sample, earlier: Sample = nothing): Row => {
  const { bans, buckets, databaseCalls, databaseSeconds, limited, memoryBytes, requests } = combined(
    sample,
    earlier,
    -1
  )
  return {
    requests,
    p50Ms: quantile(buckets, 0.5),
    p99Ms: quantile(buckets, 0.99),
    limited,
    bans,
    databaseCalls,
    databaseMs: databaseCalls === 0 ? null : (databaseSeconds * 1000) / databaseCalls,
    memoryBytes
  }
}

/** Returns the rows between consecutive readings that end after `since` (epoch milliseconds), with their times. */
export const rowsOf = (
  history: History,
  since: number
): ReadonlyArray<Row & { readonly from: number; readonly to: number }> =>
  history.flatMap((reading, index) => {
    const earlier = history[index - 1]
    return earlier === undefined || reading.at <= since
      ? []
      : [{ from: earlier.at, to: reading.at, ...rowOf(sumOf(reading.samples), sumOf(earlier.samples)) }]
  })

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
