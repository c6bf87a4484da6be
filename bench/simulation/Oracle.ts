/**
 * Judges a run from the outside, by when each request arrived, when the store counted it, and its outcome. Its limiter
 * shares neither code nor formulas with `core/limits`.
 */
import type { Plan } from "../../core/limits/Plan.ts"
import type { Outcome } from "../../core/limits/RateLimit.ts"

/** A request, and what is observed of it. */
export interface Request {
  readonly key: number
  readonly plan: Plan
  /** Milliseconds since the start. */
  readonly arrivedMs: number
  endedMs: number
  /** Epoch milliseconds at which the store counted it. */
  steppedMs: number
  /** Its outcome, "unavailable" for 503; `undefined` until it ends. */
  outcome: Outcome | "unavailable" | undefined
}

/** Judges all requests of a run that began at `startMs` (epoch milliseconds). */
export const judge = (requests: ReadonlyArray<Request>, startMs: number) => {
  const byKey = new Map<number, Array<Request>>()
  const outcomes = { admitted: 0, limited: 0, banned: 0, unavailable: 0 }
  const latencies: Array<number> = []
  for (const request of requests) {
    const { arrivedMs, endedMs, key, outcome } = request
    const ofKey = byKey.get(key)
    if (ofKey === undefined) byKey.set(key, [request])
    else ofKey.push(request)
    if (outcome === undefined) continue
    outcomes[outcome]++
    if (outcome !== "unavailable") latencies.push(endedMs - arrivedMs)
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
    requests: requests.length,
    ...outcomes,
    overAdmissions,
    /**
     * Admissions as a share of those of an ideal limiter, which decides each request when it arrives; slightly above 1
     * if requests are decided later. Requests that were denied by a ban are not included.
     */
    shareOfIdeal: ideal === 0 ? 1 : outcomes.admitted / ideal,
    /** Milliseconds from the arrival of each request with a verdict to that verdict, in ascending order. */
    latencies: latencies.sort((first, second) => first - second)
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
