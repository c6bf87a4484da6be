/**
 * Judges a run from the outside, by the time of each request, how often and when the store counted it, and its
 * outcome. The oracle is simpler than the code that it judges: it has no batches, and its limiter shares neither code
 * nor formulas with `core/limits`.
 */
import type { Plan } from "../../core/limits/Plan.ts"
import type { Outcome, Verdict } from "../../core/limits/RateLimit.ts"

/** A request, and what is observed of it. */
export interface Request {
  /** The number of earlier requests. */
  readonly number: number
  readonly key: number
  readonly plan: Plan
  /** Milliseconds since the start. */
  readonly arrivedMs: number
  endedMs: number
  /** How often a store counted it, when it did so last (epoch milliseconds), and the verdict of the store. */
  steps: number
  steppedMs: number
  stored: Verdict | undefined
  progress: "waiting" | "sent" | "received"
  /** Its outcome, "unavailable" for 503; `undefined` until it ends. */
  outcome: Outcome | "unavailable" | undefined
}

/** Observes a run, then judges it. */
export class Oracle {
  readonly #requests: Array<Request> = []
  /** The number of batching mistakes of each kind; all are 0 if batching is correct. */
  readonly #mistakes = {
    /** Requests that were counted more than once. */
    repeated: 0,
    /** Requests that received another result than the store returned for them. */
    misdelivered: 0,
    /** Requests that returned from the store without a result, or were sent after later ones of the same batch. */
    dropped: 0,
    /** Requests that were sent to the store after they had ended. */
    late: 0,
    /** Requests that never ended. */
    unanswered: 0
  }

  /** Creates a request that arrives at a node. */
  arrive(key: number, plan: Plan, arrivedMs: number): Request {
    const number = this.#requests.length
    const unseen = { endedMs: 0, steps: 0, steppedMs: 0, stored: undefined, outcome: undefined } as const
    const request: Request = { number, key, plan, arrivedMs, ...unseen, progress: "waiting" }
    this.#requests.push(request)
    return request
  }

  /** Returns a function that records the requests that one batch (one per node and store) sends. */
  observeBatch(): (requests: ReadonlyArray<Request>) => void {
    let newest = -1
    return (requests) => {
      for (const request of requests) {
        if (request.outcome !== undefined) this.#mistakes.late++
        // A batch sends requests in the order of arrival, so a request that is sent after a later one had been dropped.
        if (request.progress === "waiting" && request.number < newest) this.#mistakes.dropped++
        request.progress = "sent"
        newest = Math.max(newest, request.number)
      }
    }
  }

  /** Records that a request ends; `undefined` stands for 503. */
  end(request: Request, verdict: Verdict | undefined, nowMs: number): void {
    request.outcome = verdict?.outcome ?? "unavailable"
    request.endedMs = nowMs
    if (verdict !== undefined && verdict !== request.stored) this.#mistakes.misdelivered++
    // A statement that a failover interrupted also returns, but the store has counted nothing.
    const isLost = verdict === undefined && request.stored !== undefined
    if (isLost && request.progress === "received") this.#mistakes.dropped++
  }

  judge(startMs: number) {
    const byKey = new Map<number, Array<Request>>()
    const outcomes = { admitted: 0, limited: 0, banned: 0, unavailable: 0 }
    const latencies: Array<number> = []
    for (const request of this.#requests) {
      const { arrivedMs, endedMs, key, outcome, steps } = request
      const ofKey = byKey.get(key)
      if (ofKey === undefined) byKey.set(key, [request])
      else ofKey.push(request)
      if (steps > 1) this.#mistakes.repeated++
      if (outcome === undefined) this.#mistakes.unanswered++
      else outcomes[outcome]++
      if (outcome !== undefined && outcome !== "unavailable") latencies.push(endedMs - arrivedMs)
    }
    let [overAdmissions, ideal] = [0, 0]
    for (const ofKey of byKey.values()) {
      const plan = ofKey[0]?.plan ?? { perMinute: 0, perDay: 0 }
      const admitted = ofKey.filter(({ outcome }) => outcome === "admitted")
      const times = admitted.map(({ steppedMs }) => steppedMs)
      overAdmissions += excessOf(times, plan)
      const admits = meter(plan)
      for (const { arrivedMs, outcome } of ofKey)
        if (outcome !== "banned" && admits(startMs + Math.floor(arrivedMs))) ideal++
    }
    return {
      requests: this.#requests.length,
      ...outcomes,
      overAdmissions,
      /**
       * Admissions as a share of those of an ideal limiter, which decides each request when it arrives; slightly above
       * 1 if requests are decided later. Requests that were denied by a ban are not included.
       */
      shareOfIdeal: ideal === 0 ? 1 : outcomes.admitted / ideal,
      /** Milliseconds from the arrival of each request with a verdict to that verdict, in ascending order. */
      latencies: latencies.sort((first, second) => first - second),
      mistakes: this.#mistakes
    }
  }
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/**
 * Creates an exact limiter in its simplest form, for one key: it stores how far the admitted requests reach into the
 * future, and how many were admitted today. The returned function decides a request at `atMs` (epoch milliseconds, not
 * decreasing), and counts it if it is admitted.
 *
 * The law of the contract: no interval of d ms contains more admissions than perMinute + d × perMinute / 60,000, and no
 * UTC day contains more than perDay.
 */
const meter = ({ perDay, perMinute }: Plan): ((atMs: number) => boolean) => {
  // In units of 1 / perMinute ms, so that all numbers are integers.
  let reach = 0
  let day = -1
  let today = 0
  return (atMs) => {
    const at = atMs * perMinute
    const currentDay = Math.floor(atMs / DAY_MS)
    if (currentDay > day) {
      day = currentDay
      today = 0
    }
    const next = Math.max(reach, at) + MINUTE_MS
    if (next - at > MINUTE_MS * perMinute || today >= perDay) return false
    reach = next
    today++
    return true
  }
}

/** Returns the smallest number of admissions to remove so that those at `times` (epoch ms) keep the limits of a plan. */
export const excessOf = (times: ReadonlyArray<number>, plan: Plan): number => {
  const admits = meter(plan)
  return times.toSorted((first, second) => first - second).filter((atMs) => !admits(atMs)).length
}
