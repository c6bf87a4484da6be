/** The last hour of a server, from its metrics: what happened between two samples, in each process and in all. */
import { type Instrument, instruments, requestBoundaries } from "../telemetry/Instruments.ts"
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

const { admissions, bans, callDuration, requestDuration, residentMemory } = instruments

type Source = readonly [
  metric: Instrument,
  suffix: string,
  keyOf: (labelOf: (label: string) => string | undefined) => string | undefined
]

/** The series that a sample sums, each by the key of its labels; those without a key are omitted. */
const sources = {
  /** By status; `none` for clients that disconnected. */
  requests: [requestDuration, "_count", (labelOf) => labelOf("http_response_status_code") ?? "none"],
  /** By the upper boundary of the duration in seconds, each with those below it. */
  buckets: [requestDuration, "_bucket", (labelOf) => labelOf("le")],
  limited: [admissions, "", (labelOf) => (labelOf("outcome") === "admitted" ? undefined : labelOf("plan"))],
  bans: [bans, "", (labelOf) => labelOf("plan")],
  databaseCalls: [callDuration, "_count", () => "all"],
  databaseSeconds: [callDuration, "_sum", () => "all"],
  memoryBytes: [residentMemory, "", () => "all"]
} satisfies { readonly [field: string]: Source }

type Field = keyof typeof sources

/** Counts since the start of a process, and its memory now; those of several processes can be added. */
export type Sample = { readonly [field in Field]: Counts }

const sampleWith = (countsOf: (field: Field) => Counts): Sample =>
  // The cast is safe: the fields are exactly those of `sources`.
  Object.fromEntries(
    (Object.keys(sources) as ReadonlyArray<Field>).map((field) => [field, countsOf(field)])
  ) as Sample

/** What happened between two samples, in the units of the admin API. */
export interface Row {
  readonly requests: Counts
  /** Requests with status 429, by plan. */
  readonly limited: Counts
  /** Bans that began, by plan. */
  readonly bans: Counts
  readonly databaseCalls: number
  readonly memoryBytes: number
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
export const sampleOf = (metrics: Exposition): Sample =>
  sampleWith((field) => {
    const [{ prometheus }, suffix, keyOf]: Source = sources[field]
    const counts: { [key: string]: number } = {}
    for (const [series, value] of metrics.get(prometheus)?.samples ?? []) {
      if (series.replace(/\{.*/s, "") !== prometheus + suffix) continue
      const key = keyOf((label) => new RegExp(`[{,]${label}="([^"]*)"`).exec(series)?.[1])
      if (key !== undefined) counts[key] = countOf(counts, key) + value
    }
    return counts
  })

const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

const combine = (first: Sample, second: Sample, sign: 1 | -1): Sample =>
  sampleWith((field) => {
    const [counts, others] = [first[field], second[field]]
    const keys = Object.keys({ ...counts, ...others })
    return Object.fromEntries(keys.map((key) => [key, countOf(counts, key) + sign * countOf(others, key)]))
  })

const nothing = sampleWith(() => ({}))

/** Adds the samples of all processes. */
export const sumOf = (samples: Reading["samples"]): Sample =>
  [...samples.values()].reduce((sum, sample) => combine(sum, sample, 1), nothing)

/** Returns what happened from `earlier`, or from the start of the process, to `sample`. */
export const rowOf = (sample: Sample, earlier: Sample = nothing): Row => {
  const { bans, buckets, databaseCalls, databaseSeconds, limited, requests } = combine(sample, earlier, -1)
  const calls = total(databaseCalls)
  return {
    requests,
    p50Ms: quantile(buckets, 0.5),
    p99Ms: quantile(buckets, 0.99),
    limited,
    bans,
    databaseCalls: calls,
    databaseMs: calls === 0 ? null : (total(databaseSeconds) * 1000) / calls,
    memoryBytes: total(sample.memoryBytes)
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
