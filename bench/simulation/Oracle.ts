/**
 * Judges a run from the outside, by the time of each request, how often and when the store counted it, and its
 * outcome. The oracle is simpler than the code that it judges: it has no batches, and computes limits with `Meter`.
 */
import type { Plan } from "../../core/limits/Plan.ts"
import type { Outcome, Verdict } from "../../core/limits/RateLimit.ts"
import { Column } from "./Column.ts"
import * as Meter from "./Meter.ts"
import type { Count } from "./StoreModel.ts"

/** The outcome of a request; "unavailable" stands for 503. */
export type RequestOutcome = Outcome | "unavailable"

/** The number of batching mistakes of each kind; all are 0 if batching is correct. */
export interface Mistakes {
  /** Requests that were counted more than once. */
  readonly repeated: number
  /** Requests that received another result than the store returned for them. */
  readonly misdelivered: number
  /**
   * Requests that returned from the store without a result, or that were sent after later requests of the same batch.
   */
  readonly dropped: number
  /** Requests that were sent to the store after they had ended. */
  readonly late: number
  /** Requests that never ended. */
  readonly unanswered: number
}

/** The judgment of a run. */
export interface Judgment {
  readonly requests: number
  /** Number of requests with each outcome. */
  readonly outcomes: Readonly<Record<RequestOutcome, number>>
  /** Number of admissions over the limits of their key, and number of keys with such admissions. */
  readonly over: { readonly admissions: number; readonly keys: number }
  /**
   * Number of requests that an ideal limiter would have admitted, which decides each request when it arrives. Requests
   * that were denied by a ban are not included.
   */
  readonly allowed: number
  readonly keys: number
  /** Milliseconds from the arrival of each request with a verdict to that verdict, in ascending order. */
  readonly latencies: Float64Array
  readonly mistakes: Mistakes
}

/** Observes a run, then judges it. */
export interface Oracle {
  /** Records that a request arrives at a node, and returns its number. */
  readonly onArrived: (key: number, nowMs: number) => number
  /** Records that a batch (one per node and store) sends requests. */
  readonly onSent: (batch: number, counts: ReadonlyArray<Count>) => void
  /** Records that the results of a statement return to the node. */
  readonly onReceived: (counts: ReadonlyArray<Count>) => void
  /** Records that a store counts a request. */
  readonly onStepped: (count: Count, verdict: Verdict, atMs: number) => void
  /** Records that a request ends. */
  readonly onEnded: (request: number, verdict: Verdict | undefined, nowMs: number) => void
  readonly judge: () => Judgment
}

const OPEN = 0
const outcomes: ReadonlyArray<RequestOutcome> = ["admitted", "limited", "banned", "unavailable"]
const codeOf = (outcome: RequestOutcome): number => outcomes.indexOf(outcome) + 1

/** The observations of each request, by its number. */
interface Requests {
  readonly key: Column
  /** Milliseconds since the start. */
  readonly arrivedMs: Column
  readonly endedMs: Column
  /** Epoch milliseconds of the step. */
  readonly steppedMs: Column
  readonly steps: Column
  /** `SENT` after it was sent, `RECEIVED` after its results returned, otherwise 0. */
  readonly progress: Column
  /** The code of its outcome, or `OPEN`. */
  readonly outcomeCode: Column
}

const SENT = 1
const RECEIVED = 2

/** Creates an observer of a run that begins at `startMs` (epoch milliseconds). */
export const make = (startMs: number, planOf: (key: number) => Plan): Oracle => {
  const requests: Requests = {
    key: new Column(),
    arrivedMs: new Column(),
    endedMs: new Column(),
    steppedMs: new Column(),
    steps: new Column(),
    progress: new Column(),
    outcomeCode: new Column()
  }
  const { arrivedMs, endedMs, key, outcomeCode, progress, steppedMs, steps } = requests
  const counts = { misdelivered: 0, dropped: 0, late: 0 }
  /** Verdicts of the store, for requests that have not ended. */
  const verdicts = new Map<number, Verdict>()
  /** The latest request that each batch has sent. */
  const newest = new Map<number, number>()

  return {
    onArrived: (ofKey, nowMs) => {
      key.push(ofKey)
      arrivedMs.push(nowMs)
      for (const column of [endedMs, steppedMs, steps, progress, outcomeCode]) column.push(0)
      return key.length - 1
    },
    onSent: (batch, members) => {
      for (const { request } of members) {
        const latest = newest.get(batch) ?? -1
        if (outcomeCode.at(request) !== OPEN) counts.late++
        // A batch sends requests in the order of arrival, so a request that is sent after a later one had been dropped.
        if (progress.at(request) < SENT && request < latest) counts.dropped++
        progress.set(request, SENT)
        newest.set(batch, Math.max(latest, request))
      }
    },
    onReceived: (members) => {
      for (const { request } of members) progress.set(request, RECEIVED)
    },
    onStepped: ({ request }, verdict, atMs) => {
      steps.set(request, steps.at(request) + 1)
      steppedMs.set(request, atMs)
      if (outcomeCode.at(request) === OPEN) verdicts.set(request, verdict)
    },
    onEnded: (request, verdict, nowMs) => {
      const storedVerdict = verdicts.get(request)
      verdicts.delete(request)
      outcomeCode.set(request, codeOf(verdict?.outcome ?? "unavailable"))
      endedMs.set(request, nowMs)
      if (verdict !== undefined && verdict !== storedVerdict) counts.misdelivered++
      // A statement that a failover interrupted also returns, but the store has counted nothing.
      if (verdict === undefined && storedVerdict !== undefined && progress.at(request) === RECEIVED)
        counts.dropped++
    },
    judge: () => judge(requests, startMs, planOf, counts)
  }
}

const judge = (
  { arrivedMs, endedMs, key, outcomeCode, steppedMs, steps }: Requests,
  startMs: number,
  planOf: (key: number) => Plan,
  counts: Pick<Mistakes, "misdelivered" | "dropped" | "late">
): Judgment => {
  const outcomeOf = (request: number): RequestOutcome | undefined => outcomes[outcomeCode.at(request) - 1]
  const byKey = new Map<number, Array<number>>()
  const total: Record<RequestOutcome, number> = { admitted: 0, limited: 0, banned: 0, unavailable: 0 }
  const latencies = new Column()
  let [repeated, unanswered] = [0, 0]
  for (let request = 0; request < key.length; request++) {
    const ofKey = byKey.get(key.at(request))
    if (ofKey === undefined) byKey.set(key.at(request), [request])
    else ofKey.push(request)
    if (steps.at(request) > 1) repeated++
    const outcome = outcomeOf(request)
    if (outcome === undefined) unanswered++
    else total[outcome]++
    if (outcome !== undefined && outcome !== "unavailable")
      latencies.push(endedMs.at(request) - arrivedMs.at(request))
  }
  const over = { admissions: 0, keys: 0 }
  let allowed = 0
  for (const [ofKey, numbers] of byKey) {
    const plan = planOf(ofKey)
    const admitted = numbers.filter((request) => outcomeOf(request) === "admitted")
    const excess = excessOf(
      admitted.map((request) => steppedMs.at(request)),
      plan
    )
    over.admissions += excess
    if (excess > 0) over.keys++
    const ideal = Meter.make(plan)
    for (const request of numbers) {
      if (outcomeOf(request) !== "banned" && ideal(startMs + Math.floor(arrivedMs.at(request)))) allowed++
    }
  }
  return {
    requests: key.length,
    outcomes: total,
    over,
    allowed,
    keys: byKey.size,
    latencies: Float64Array.from({ length: latencies.length }, (_, index) => latencies.at(index)).sort(),
    mistakes: { repeated, unanswered, ...counts }
  }
}

/** Returns the number of admissions over the limits of a plan; `times` are the epoch milliseconds of all admissions. */
export const excessOf = (times: ReadonlyArray<number>, plan: Plan): number => {
  const meter = Meter.make(plan)
  return times.toSorted((first, second) => first - second).filter((atMs) => !meter(atMs)).length
}
