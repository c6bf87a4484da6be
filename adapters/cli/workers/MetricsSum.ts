/**
 * One page of metrics for all workers. Counters and histograms are sums that never fall: each place keeps what its
 * earlier workers counted, and a worker that does not respond counts as at its last response. Otherwise Prometheus would
 * take the end of a worker for a reset, and count everything twice.
 */
import * as Exposition from "./Exposition.ts"

/** The metrics of one place, whose workers follow each other. */
interface Place {
  /** What earlier workers counted. */
  readonly ended: Exposition.Exposition
  /** The latest page of the present worker. */
  readonly present: Exposition.Exposition
}

/** The metrics by place; places are numbered from 1. */
export type MetricsSum = ReadonlyMap<number, Place>

/** No worker has responded. */
export const empty: MetricsSum = new Map()

const nothing: Place = { ended: Exposition.empty, present: Exposition.empty }

/** Records a page of the present worker of a place. */
export const updated = (sum: MetricsSum, place: number, page: Exposition.Exposition): MetricsSum =>
  new Map(sum).set(place, { ...(sum.get(place) ?? nothing), present: page })

/** Records that the worker of a place ended. */
export const ended = (sum: MetricsSum, place: number): MetricsSum => {
  const { ended, present } = sum.get(place) ?? nothing
  return new Map(sum).set(place, {
    ended: Exposition.add(ended, Exposition.filter(present, isAdded)),
    present: Exposition.empty
  })
}

/** Returns the page: sums of what workers count together, and the metrics of each process with the label `worker`. */
export const page = (sum: MetricsSum): Exposition.Exposition => {
  let total = Exposition.empty
  // Always in the same order: a sum of floating-point numbers in another order may be lower.
  for (const [place, { ended, present }] of [...sum].sort(([a], [b]) => a - b)) {
    const own = Exposition.filter(present, isOfProcess)
    const shared = Exposition.filter(present, (name) => !isOfProcess(name))
    total = Exposition.add(total, Exposition.add(ended, shared))
    total = Exposition.add(total, Exposition.labelled(own, "worker", String(place)))
  }
  return total
}

const isAdded = (name: string, { type }: Exposition.Family): boolean =>
  (type === "counter" || type === "histogram") && !isOfProcess(name)

/** Whether a metric describes a process: neither a sum nor a mean of two event loops means anything. */
const isOfProcess = (name: string): boolean => /^(?:process|nodejs|v8js)_/.test(name)
