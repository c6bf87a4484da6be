/**
 * An exact limiter in its simplest form, which the oracle uses to judge runs. It stores how far the admitted requests
 * reach into the future, and how many were admitted today. It shares neither code nor formulas with `core/limits`.
 *
 * The law of the contract: no interval of d ms contains more admissions than perMinute + d × perMinute / 60,000, and no
 * UTC day contains more than perDay.
 */
import type { Plan } from "../../core/limits/Plan.ts"

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Decides whether to admit a request at `atMs` (epoch milliseconds), and counts it if so; times must not decrease. */
export type Meter = (atMs: number) => boolean

/** Creates a meter for one key. */
export const make = ({ perDay, perMinute }: Plan): Meter => {
  let first: number | undefined
  // In units of 1 / perMinute ms after the first request, so that all numbers are integers.
  let reach = 0
  let day = -1
  let today = 0
  return (atMs) => {
    first ??= atMs
    const at = (atMs - first) * perMinute
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
