/**
 * Combines the metrics of all workers in one page. Counters and histograms are sums that never decrease: each place
 * keeps the counts of its earlier workers, and a worker that does not respond keeps the counts of its last response.
 * Otherwise Prometheus would treat the exit of a worker as a reset, and count everything twice.
 */
import * as Snapshot from "../../telemetry/Snapshot.ts"

/** The metrics of one place, in which a new worker replaces one that exited. */
interface Place {
  /** The counts of earlier workers. */
  readonly exited: Snapshot.Snapshot
  /** The latest page from the current worker. */
  readonly current: Snapshot.Snapshot
}

/** The metrics by place; places are numbered from 1. */
export type MetricsSum = ReadonlyMap<number, Place>

/** The state before the first response of a worker. */
export const empty: MetricsSum = new Map()

const emptyPlace: Place = { exited: [], current: [] }

/** Records a page from the current worker at a place. */
export const recordPage = (sum: MetricsSum, place: number, page: Snapshot.Snapshot): MetricsSum =>
  new Map(sum).set(place, { ...(sum.get(place) ?? emptyPlace), current: page })

/** Records that the worker at a place exited. */
export const recordExit = (sum: MetricsSum, place: number): MetricsSum => {
  const { exited, current } = sum.get(place) ?? emptyPlace
  return new Map(sum).set(place, {
    exited: Snapshot.add(exited, current.filter(isCumulative)),
    current: []
  })
}

/** Returns the page: sums over all workers, and the metrics of each process with the label `worker`. */
export const page = (sum: MetricsSum): Snapshot.Snapshot => {
  let total: Snapshot.Snapshot = []
  // The order is always the same, because a sum of floating-point numbers in another order may be lower.
  for (const [place, { exited, current }] of inOrder(sum)) {
    const labelled = current.map((series) => (isProcessMetric(series) ? ofWorker(series, place) : series))
    total = Snapshot.add(total, Snapshot.add(exited, labelled))
  }
  return total
}

const inOrder = (sum: MetricsSum) => [...sum].sort(([a], [b]) => a - b)

/** Returns the counts of each place since the start of the server, and the other metrics of its current worker. */
export const byPlace = (sum: MetricsSum): ReadonlyMap<number, Snapshot.Snapshot> =>
  new Map(inOrder(sum).map(([place, { current, exited }]) => [place, Snapshot.add(exited, current)]))

const ofWorker = (series: Snapshot.SeriesValue, place: number): Snapshot.SeriesValue => ({
  ...series,
  attributes: { worker: String(place), ...series.attributes }
})

const isCumulative = (series: Snapshot.SeriesValue): boolean =>
  series.type !== "Gauge" && !isProcessMetric(series)

/** Whether a metric describes a single process; a sum or a mean of two event loops would be meaningless. */
const isProcessMetric = ({ id }: Snapshot.SeriesValue): boolean => /^(?:process|nodejs|v8js)\./.test(id)
