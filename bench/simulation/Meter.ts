/**
 * An exact limiter in its plainest form, for judging: it knows how far the requests admitted so far reach into the
 * future, and how many there were today. It shares neither code nor formulas with `core/limits`.
 *
 * A law of the contract: no interval of d ms contains more admissions than perMinute + d × perMinute / 60 000, and no UTC
 * day more than perDay.
 */
import type { Plan } from "../../core/limits/Plan.ts"

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Whether a request at `atMs` (epoch) is within the limits, after the earlier ones that were; times must not fall. */
export type Meter = (atMs: number) => boolean

/** Creates a meter of one key. */
export const make = ({ perDay, perMinute }: Plan): Meter => {
  let first: number | undefined
  // In units of 1 / perMinute ms after the first request, so that everything is an integer.
  let reach = 0
  let day = -1
  let today = 0
  return (atMs) => {
    first ??= atMs
    const at = (atMs - first) * perMinute
    const on = Math.floor(atMs / DAY_MS)
    if (on > day) {
      day = on
      today = 0
    }
    const next = Math.max(reach, at) + MINUTE_MS
    if (next - at > MINUTE_MS * perMinute || today >= perDay) return false
    reach = next
    today++
    return true
  }
}
