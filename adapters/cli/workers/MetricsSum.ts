/**
 * Combines the metrics of all workers in one page. Counters and histograms are sums that never decrease: each place
 * keeps the counts of its earlier workers, and a worker that does not respond keeps the counts of its last response.
 * Otherwise Prometheus would treat the exit of a worker as a reset, and count everything twice.
 */
import * as Exposition from "../../embed/Exposition.ts"

/** The metrics of one place, in which a new worker replaces one that exited. */
interface Place {
  /** The counts of earlier workers. */
  readonly exited: Exposition.Exposition
  /** The latest page from the current worker. */
  readonly current: Exposition.Exposition
}

/** The metrics by place; places are numbered from 1. */
export type MetricsSum = ReadonlyMap<number, Place>

/** The state before the first response of a worker. */
export const empty: MetricsSum = new Map()

const emptyPlace: Place = { exited: Exposition.empty, current: Exposition.empty }

/** Records a page from the current worker at a place. */
export const recordPage = (sum: MetricsSum, place: number, page: Exposition.Exposition): MetricsSum =>
  new Map(sum).set(place, { ...(sum.get(place) ?? emptyPlace), current: page })

/** Records that the worker at a place exited. */
export const recordExit = (sum: MetricsSum, place: number): MetricsSum => {
  const { exited, current } = sum.get(place) ?? emptyPlace
  return new Map(sum).set(place, {
    exited: Exposition.add(exited, Exposition.filter(current, isCumulative)),
    current: Exposition.empty
  })
}

/** Returns the page: sums over all workers, and the metrics of each process with the label `worker`. */
export const page = (sum: MetricsSum): Exposition.Exposition => {
  let total = Exposition.empty
  // The order is always the same, because a sum of floating-point numbers in another order may be lower.
  for (const [place, { exited, current }] of inOrder(sum)) {
    const processMetrics = Exposition.filter(current, isProcessMetric)
    const serviceMetrics = Exposition.filter(current, (name) => !isProcessMetric(name))
    total = Exposition.add(total, Exposition.add(exited, serviceMetrics))
    total = Exposition.add(total, Exposition.addLabel(processMetrics, "worker", String(place)))
  }
  return total
}

const inOrder = (sum: MetricsSum) => [...sum].sort(([a], [b]) => a - b)

/** Returns the counts of each place since the start of the server, and the other metrics of its current worker. */
export const byPlace = (sum: MetricsSum): ReadonlyMap<number, Exposition.Exposition> =>
  new Map(inOrder(sum).map(([place, { current, exited }]) => [place, Exposition.add(exited, current)]))

const isCumulative = (name: string, { type }: Exposition.Family): boolean =>
  (type === "counter" || type === "histogram") && !isProcessMetric(name)

/** Whether a metric describes a single process; a sum or a mean of two event loops would be meaningless. */
const isProcessMetric = (name: string): boolean => /^(?:process|nodejs|v8js)_/.test(name)
