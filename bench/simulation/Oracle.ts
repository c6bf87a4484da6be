/**
 * Judges a run by what an observer outside sees: when each request was sent, how often and when the store counted it, and
 * how it ended. It is simpler than the code: it knows nothing of batches, and limits by `Meter`.
 */
import type { Plan } from "../../core/limits/Plan.ts"
import type { Outcome, Verdict } from "../../core/limits/RateLimit.ts"
import { Column } from "./Column.ts"
import * as Meter from "./Meter.ts"
import type { Count } from "./StoreModel.ts"

/** How a request ended; "unavailable" stands for 503. */
export type End = Outcome | "unavailable"

/** Mistakes of the batching; all are 0 if it is correct. */
export interface Mistakes {
  /** Requests that were counted more than once. */
  readonly repeated: number
  /** Requests whose result was another one than the store's. */
  readonly misdelivered: number
  /** Requests that came back from the store without a result, or that later ones of the same batch overtook. */
  readonly dropped: number
  /** Requests that were sent to the store after they had ended. */
  readonly late: number
  /** Requests that never ended. */
  readonly unanswered: number
}

/** What a run comes to. */
export interface Judgement {
  readonly requests: number
  readonly ends: Readonly<Record<End, number>>
  /** Admissions beyond the limits of their key, and the keys concerned. */
  readonly over: { readonly admissions: number; readonly keys: number }
  /**
   * Requests that an ideal limiter would have admitted: one that decides everything at once, at the moment of arrival.
   * Requests that were denied by a ban are left out.
   */
  readonly allowed: number
  readonly keys: number
  /** Milliseconds from the arrival of each request with a verdict to that verdict, in ascending order. */
  readonly latencies: Float64Array
  readonly mistakes: Mistakes
}

/** Observes a run. */
export interface Oracle {
  /** A request arrives at a node; returns its number. */
  readonly arrived: (key: number, nowMs: number) => number
  /** A batch, one of a node and a store, sends requests. */
  readonly sent: (batch: number, counts: ReadonlyArray<Count>) => void
  /** The results of a statement come back to the node. */
  readonly received: (counts: ReadonlyArray<Count>) => void
  /** A store counts a request. */
  readonly stepped: (count: Count, verdict: Verdict, atMs: number) => void
  /** A request ends. */
  readonly ended: (request: number, verdict: Verdict | undefined, nowMs: number) => void
  readonly judge: () => Judgement
}

const OPEN = 0
const ends: ReadonlyArray<End> = ["admitted", "limited", "banned", "unavailable"]
const codeOf = (end: End): number => ends.indexOf(end) + 1

/** What is known of each request, by its number. */
interface Requests {
  readonly key: Column
  /** Milliseconds since the start. */
  readonly arrivedMs: Column
  readonly endedMs: Column
  /** Epoch milliseconds of the step. */
  readonly steppedMs: Column
  readonly steps: Column
  /** 1 if it was sent, 2 if its results have come back. */
  readonly progress: Column
  /** How it ended, by `codeOf`. */
  readonly end: Column
}

const SENT = 1
const RECEIVED = 2

/** Creates an observer of a run that begins at `startMs`. */
export const make = (startMs: number, planOf: (key: number) => Plan): Oracle => {
  const requests: Requests = {
    key: new Column(),
    arrivedMs: new Column(),
    endedMs: new Column(),
    steppedMs: new Column(),
    steps: new Column(),
    progress: new Column(),
    end: new Column()
  }
  const { arrivedMs, end, endedMs, key, progress, steppedMs, steps } = requests
  const counts = { misdelivered: 0, dropped: 0, late: 0 }
  /** Results on their way. */
  const verdicts = new Map<number, Verdict>()
  /** The latest request that each batch has sent. */
  const newest = new Map<number, number>()

  return {
    arrived: (ofKey, nowMs) => {
      key.push(ofKey)
      arrivedMs.push(nowMs)
      for (const column of [endedMs, steppedMs, steps, progress, end]) column.push(0)
      return key.length - 1
    },
    sent: (batch, members) => {
      for (const { request } of members) {
        const latest = newest.get(batch) ?? -1
        if (end.at(request) !== OPEN) counts.late++
        // A batch sends in the order of arrival: what comes after a later request was left behind.
        if (progress.at(request) < SENT && request < latest) counts.dropped++
        progress.set(request, SENT)
        newest.set(batch, Math.max(latest, request))
      }
    },
    received: (members) => {
      for (const { request } of members) progress.set(request, RECEIVED)
    },
    stepped: ({ request }, verdict, atMs) => {
      steps.set(request, steps.at(request) + 1)
      steppedMs.set(request, atMs)
      if (end.at(request) === OPEN) verdicts.set(request, verdict)
    },
    ended: (request, verdict, nowMs) => {
      const own = verdicts.get(request)
      verdicts.delete(request)
      end.set(request, codeOf(verdict?.outcome ?? "unavailable"))
      endedMs.set(request, nowMs)
      if (verdict !== undefined && verdict !== own) counts.misdelivered++
      // A statement that a failover interrupted comes back, too, but nothing was counted.
      if (verdict === undefined && own !== undefined && progress.at(request) === RECEIVED) counts.dropped++
    },
    judge: () => judge(requests, startMs, planOf, counts)
  }
}

const judge = (
  { arrivedMs, end, endedMs, key, steppedMs, steps }: Requests,
  startMs: number,
  planOf: (key: number) => Plan,
  counts: Pick<Mistakes, "misdelivered" | "dropped" | "late">
): Judgement => {
  const ended = (request: number): End | undefined => ends[end.at(request) - 1]
  const byKey = new Map<number, Array<number>>()
  const total: Record<End, number> = { admitted: 0, limited: 0, banned: 0, unavailable: 0 }
  const latencies = new Column()
  let [repeated, unanswered] = [0, 0]
  for (let request = 0; request < key.length; request++) {
    const ofKey = byKey.get(key.at(request))
    if (ofKey === undefined) byKey.set(key.at(request), [request])
    else ofKey.push(request)
    if (steps.at(request) > 1) repeated++
    const how = ended(request)
    if (how === undefined) unanswered++
    else total[how]++
    if (how !== undefined && how !== "unavailable")
      latencies.push(endedMs.at(request) - arrivedMs.at(request))
  }
  const over = { admissions: 0, keys: 0 }
  let allowed = 0
  for (const [ofKey, numbers] of byKey) {
    const plan = planOf(ofKey)
    const admitted = numbers.filter((request) => ended(request) === "admitted")
    const excess = excessOf(
      admitted.map((request) => steppedMs.at(request)),
      plan
    )
    over.admissions += excess
    if (excess > 0) over.keys++
    const ideal = Meter.make(plan)
    for (const request of numbers) {
      if (ended(request) !== "banned" && ideal(startMs + Math.floor(arrivedMs.at(request)))) allowed++
    }
  }
  return {
    requests: key.length,
    ends: total,
    over,
    allowed,
    keys: byKey.size,
    latencies: Float64Array.from({ length: latencies.length }, (_, index) => latencies.at(index)).sort(),
    mistakes: { repeated, unanswered, ...counts }
  }
}

/** The number of admissions, by their times, that are beyond the limits of a plan. */
export const excessOf = (times: ReadonlyArray<number>, plan: Plan): number => {
  const meter = Meter.make(plan)
  return times.toSorted((one, other) => one - other).filter((atMs) => !meter(atMs)).length
}
