/**
 * Models the bucket and the day independently of the service; a number that is not known exactly is a range. From each
 * reading the model uses only the time of the decision and whether the request was admitted.
 */
import * as Effect from "effect/Effect"
import type { Plan } from "../../../core/limits/Plan.ts"
import type { Reading } from "../../evaluation/Meter.ts"
import { type Failure, undecided } from "../../evaluation/Outcome.ts"
import * as Bursts from "./Bursts.ts"

const { DAY, MINUTE, SECOND } = Bursts

/** Cost of a request in units. A bucket of n requests per minute gains n units per ms, so its levels are integers. */
const COST = MINUTE

/** A range of whole numbers, both ends included. */
type Range = readonly [min: number, max: number]

export const includes = ([min, max]: Range, value: number): boolean => min <= value && value <= max

export const rangeText = ([min, max]: Range): string => (min === max ? String(min) : `${min} to ${max}`)

/** One possible description of a window in a response. */
interface View {
  readonly limit: number
  readonly remaining: Range
  readonly resetAt: Range
  readonly retryAfter: Range
}

/** The expected response to a request; it has several views if the exact time of the request is not known. */
export interface Expected {
  readonly mayAdmit: boolean
  readonly mayDeny: boolean
  readonly views: ReadonlyArray<View>
}

const ZERO: Range = [0, 0]

const inSeconds = ([min, max]: Range): Range => [Math.ceil(min / SECOND), Math.ceil(max / SECOND)]

/** Interval in ms at which a slot is released while the daily limit is used up. */
const SLOT_INTERVAL_MS = 2_000

/** Minimum number of slots while the daily limit is used up. */
const MIN_SLOTS_OF_DAY = 8

const released = ([min, max]: Range, elapsed: Range): Range => [
  Math.max(0, min - Math.floor(elapsed[1] / SLOT_INTERVAL_MS)),
  Math.max(0, max - Math.floor(elapsed[0] / SLOT_INTERVAL_MS))
]

/** Creates the model of a caller that sent nothing for a day; call the result with each reading in sequence. */
export const make = ({ perDay, perMinute }: Plan) => {
  const capacity = perMinute * COST
  let level: Range = [capacity, capacity]
  let at: Range | undefined
  let day = -1
  let used = 0
  /** Slots of denied requests that no admitted request has used yet. */
  let slots: Range = [0, 0]

  return (reading: Reading): Effect.Effect<Expected, Failure> => {
    const [earliest, latest] = reading.decidedBetween
    const before = at ?? [earliest, latest]
    const now: Range = [Math.max(Math.floor(earliest), before[0]), Math.max(Math.ceil(latest), before[0])]
    const today = Math.floor(now[0] / DAY)
    if (today !== Math.floor(now[1] / DAY))
      return undecided("midnight passed during a request; try again later")
    if (today !== day) used = 0
    day = today
    at = now
    const midnight = (today + 1) * DAY
    const elapsed: Range = [Math.max(0, now[0] - before[1]), now[1] - before[0]]
    level = [
      Math.min(capacity, level[0] + elapsed[0] * perMinute),
      Math.min(capacity, level[1] + elapsed[1] * perMinute)
    ]
    const isDayFree = used < perDay
    if (!isDayFree) slots = released(slots, elapsed)
    else if (level[1] === capacity) slots = [0, level[0] === capacity ? 0 : slots[1]]
    const mayAdmit = isDayFree && level[1] >= COST
    const mayDeny = !isDayFree || level[0] < COST

    const waitFor = (units: number): Range => [
      Math.max(0, Math.ceil((units - level[1]) / perMinute)),
      Math.max(0, Math.ceil((units - level[0]) / perMinute))
    ]
    const views: Array<View> = []
    const reset = { day: inSeconds([midnight, midnight]), minute: ZERO }
    if (reading.admitted) {
      level = [Math.max(level[0], COST) - COST, Math.max(level[1], COST) - COST]
      slots = [Math.max(0, slots[0] - 1), Math.max(0, slots[1] - 1)]
      used++
      const full = waitFor(capacity)
      const fullAt: Range = [now[0] + full[0], now[1] + full[1]]
      reset.minute = inSeconds(fullAt)
      const left: Range = [Math.floor(level[0] / COST), Math.floor(level[1] / COST)]
      const leftToday = perDay - used
      const minute = { limit: perMinute, resetAt: reset.minute, retryAfter: ZERO }
      const isLaterPossible = fullAt[1] > midnight
      const max = Math.min(left[1], isLaterPossible ? leftToday : leftToday - 1)
      if (left[0] <= max) views.push({ ...minute, remaining: [left[0], max] })
      if (left[1] > leftToday || (left[1] === leftToday && fullAt[0] <= midnight)) {
        const remaining: Range = [leftToday, leftToday]
        views.push({ limit: perDay, remaining, resetAt: reset.day, retryAfter: ZERO })
      }
    } else {
      if (isDayFree) level = [Math.min(level[0], COST - 1), Math.min(level[1], COST - 1)]
      const min = isDayFree ? perMinute : Math.max(perMinute, MIN_SLOTS_OF_DAY)
      slots = [
        Math.min(slots[0] + 1, min + Math.floor(level[0] / COST)),
        Math.min(slots[1] + 1, min + Math.floor(level[1] / COST))
      ]
      const wait = waitFor(COST)
      const slot: Range = [waitFor(slots[0] * COST)[0], waitFor(slots[1] * COST)[1]]
      const full = waitFor(capacity)
      const untilMidnight: Range = isDayFree ? ZERO : [midnight - now[1], midnight - now[0]]
      const atLeastOne = (range: Range): Range => {
        const [min, max] = inSeconds(range)
        return [Math.max(1, min), Math.max(1, max)]
      }
      if (untilMidnight[1] > wait[0]) {
        const later: Range = [Math.max(slot[0], untilMidnight[0]), Math.max(slot[1], untilMidnight[1])]
        views.push({ limit: perDay, remaining: ZERO, resetAt: reset.day, retryAfter: atLeastOne(later) })
      }
      if (wait[1] >= untilMidnight[0]) {
        const resetAt = inSeconds([now[0] + full[0], now[1] + full[1]])
        views.push({ limit: perMinute, remaining: ZERO, resetAt, retryAfter: atLeastOne(slot) })
      }
    }
    return Effect.succeed({ mayAdmit, mayDeny, views })
  }
}
