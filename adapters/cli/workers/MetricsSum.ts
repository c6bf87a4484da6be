/**
 * Combines the metrics of all workers in one page. Counters and histograms are sums that never decrease: each place
 * keeps the counts of its earlier workers, and a worker that does not respond keeps the counts of its last response.
 * Otherwise Prometheus would treat the exit of a worker as a reset, and count everything twice.
 */
import * as Exposition from "./Exposition.ts"

/** The metrics of one place, in which a new worker replaces one that exited. */
interface Place {
  /** The counts of earlier workers. */
  readonly ended: Exposition.Exposition
  /** The latest page from the current worker. */
  readonly present: Exposition.Exposition
}

/** The metrics by place; places are numbered from 1. */
export type MetricsSum = ReadonlyMap<number, Place>

/** The state before the first response of a worker. */
export const empty: MetricsSum = new Map()

const nothing: Place = { ended: Exposition.empty, present: Exposition.empty }

/** Records a page from the current worker at a place. */
export const updated = (sum: MetricsSum, place: number, page: Exposition.Exposition): MetricsSum =>
  new Map(sum).set(place, { ...(sum.get(place) ?? nothing), present: page })

/** Records that the worker at a place exited. */
export const ended = (sum: MetricsSum, place: number): MetricsSum => {
  const { ended, present } = sum.get(place) ?? nothing
  return new Map(sum).set(place, {
    ended: Exposition.add(ended, Exposition.filter(present, isAdded)),
    present: Exposition.empty
  })
}

/** Returns the page: sums over all workers, and the metrics of each process with the label `worker`. */
export const page = (sum: MetricsSum): Exposition.Exposition => {
  let total = Exposition.empty
  // The order is always the same, because a sum of floating-point numbers in another order may be lower.
  for (const [place, { ended, present }] of [...sum].sort(([a], [b]) => a - b)) {
    const own = Exposition.filter(present, isProcessMetric)
    const shared = Exposition.filter(present, (name) => !isProcessMetric(name))
    total = Exposition.add(total, Exposition.add(ended, shared))
    total = Exposition.add(total, Exposition.addLabel(own, "worker", String(place)))
  }
  return total
}

const isAdded = (name: string, { type }: Exposition.Family): boolean =>
  (type === "counter" || type === "histogram") && !isProcessMetric(name)

/** Whether a metric describes a single process; a sum or a mean of two event loops would be meaningless. */
const isProcessMetric = (name: string): boolean => /^(?:process|nodejs|v8js)_/.test(name)
