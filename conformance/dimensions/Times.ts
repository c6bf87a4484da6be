/** Lists moments at which software often fails: near the ends of seconds, minutes, days, months and years (UTC). */

const SECOND = 1_000
const MINUTE = 60_000
const DAY = 86_400_000

/** Time in ms from a request to a boundary: less than a second, but enough for the request to end in time. */
const MARGIN = 900

const next = (unit: number) => (now: number) => (Math.floor(now / unit) + 1) * unit

const nextMonth = (now: number): number => {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

const nextYear = (now: number): number => Date.UTC(new Date(now).getUTCFullYear() + 1, 0)

const nextLeapDay = (now: number): number => {
  const year = new Date(now).getUTCFullYear()
  const days = Array.from({ length: 9 }, (_, years) => Date.UTC(year + years, 1, 29))
  return days.find((day) => day > now && new Date(day).getUTCDate() === 29) ?? Number.POSITIVE_INFINITY
}

/** Returns the time `MARGIN` ms before the next boundary, or the current time if the boundary is nearer. */
const shortlyBefore = (boundary: (now: number) => number) => (now: number) =>
  Math.max(now, boundary(now) - MARGIN)

/** A kind of moment, such as midnight. */
interface Time {
  /** Returns the first such moment at or after `now`; both are in epoch ms. */
  readonly next: (now: number) => number
  /** Whether the moment is the boundary just after the previous moment in the list; no time may pass in between. */
  readonly follows: boolean
}

/** The moments by name, in an order in which little time passes from each to the next. */
export const times = {
  "any time": { next: (now) => now, follows: false },
  "the last ms of a second": { next: (now) => next(SECOND)(now) - 1, follows: false },
  "before the end of a minute": { next: shortlyBefore(next(MINUTE)), follows: false },
  "at the start of a minute": { next: next(MINUTE), follows: true },
  "before midnight": { next: shortlyBefore(next(DAY)), follows: false },
  "at midnight": { next: next(DAY), follows: true },
  "before the end of a month": { next: shortlyBefore(nextMonth), follows: false },
  "at the start of a month": { next: nextMonth, follows: true },
  "before the end of a year": { next: shortlyBefore(nextYear), follows: false },
  "at the start of a year": { next: nextYear, follows: true },
  "on 29 February": { next: nextLeapDay, follows: false }
} as const satisfies { readonly [name: string]: Time }

export type TimeName = keyof typeof times
