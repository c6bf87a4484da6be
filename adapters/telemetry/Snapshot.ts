/** Defines snapshots of metrics: plain values, which processes exchange as JSON, add up and format. */
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { type Instrument, instruments } from "./Instruments.ts"

/** One series of a metric, with its value at the time of the snapshot. */
export interface SeriesValue {
  /** The `id` of its instrument. */
  readonly id: string
  readonly description: string | undefined
  readonly type: "Counter" | "Gauge" | "Histogram"
  readonly attributes: { readonly [name: string]: string }
  /** The count of a counter or a histogram, or the value of a gauge. */
  readonly value: number
  /** The sum of the values in a histogram, and 0 otherwise. */
  readonly sum: number
  /** The boundaries of a histogram, each with the count of the values that are not larger. */
  readonly buckets: ReadonlyArray<readonly [boundary: number, count: number]>
}

/** All series of a process, or of several ones. */
export type Snapshot = ReadonlyArray<SeriesValue>

/** Reads the metrics in the registry whose id `isWanted` selects; the others are not read. */
export const read = (context: Context.Context<never>, isWanted: (id: string) => boolean): Snapshot => {
  const wanted = [...Context.get(context, Metric.MetricRegistry)].filter(([, { id }]) => isWanted(id))
  return Metric.snapshotUnsafe(Context.make(Metric.MetricRegistry, new Map(wanted))).flatMap(seriesOf)
}

const seriesOf = (metric: Metric.Metric.Snapshot): Snapshot => {
  const { attributes = {}, description, id } = metric
  const series = { id, description, attributes, sum: 0, buckets: [] }
  switch (metric.type) {
    case "Counter":
      return [{ ...series, type: metric.type, value: Number(metric.state.count) }]
    case "Gauge":
      return [{ ...series, type: metric.type, value: Number(metric.state.value) }]
    case "Histogram": {
      const { buckets, count, sum } = metric.state
      return [{ ...series, type: metric.type, value: count, sum, buckets }]
    }
    default:
      return []
  }
}

/** Adds two snapshots: sums the values of each series. A series in only one of them keeps its value. */
export const add = (first: Snapshot, second: Snapshot): Snapshot => combine(first, second, 1)

/** Subtracts the values of an earlier snapshot from those of a later one. */
export const subtract = (later: Snapshot, earlier: Snapshot): Snapshot => combine(later, earlier, -1)

const combine = (first: Snapshot, second: Snapshot, sign: 1 | -1): Snapshot => {
  const combined = new Map(first.map((series) => [keyOf(series), series]))
  for (const series of second) {
    const { buckets = [], sum = 0, value = 0 } = combined.get(keyOf(series)) ?? {}
    combined.set(keyOf(series), {
      ...series,
      value: value + sign * series.value,
      sum: sum + sign * series.sum,
      buckets: series.buckets.map(([boundary, count], index) => [
        boundary,
        (buckets[index]?.[1] ?? 0) + sign * count
      ])
    })
  }
  return [...combined.values()]
}

const keyOf = ({ attributes, id }: SeriesValue): string => JSON.stringify([id, attributes])

/** Formats a snapshot in the Prometheus text format. */
export const format = (snapshot: Snapshot): string => {
  const registry = snapshot.map(({ buckets, sum, value, ...series }, index) => {
    // Each type of metric reads the fields that it has.
    const state = { count: value, incremental: true, value, buckets, sum, min: 0, max: 0 }
    return [String(index), { ...series, hooks: { ...unused, get: () => state } }] as const
  })
  return PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, new Map(registry)), {
    metricNameMapper: (id) => prometheusNames.get(id) ?? id
  })
}

const unused = { update: () => undefined, modify: () => undefined }

const prometheusNames: ReadonlyMap<string, string> = new Map(
  Object.values(instruments).map(({ id, prometheus }: Instrument) => [id, prometheus])
)
