/** Moments at which software that counts time goes wrong: around the edges of seconds, minutes, days, months and years (UTC). */

const SECOND = 1_000
const MINUTE = 60_000
const DAY = 86_400_000

/** How long before an edge a request is sent, in ms: a request over a network takes time. */
const BEFORE = 1_500

const next = (unit: number) => (now: number) => (Math.floor(now / unit) + 1) * unit

const nextMonth = (now: number): number => {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

const nextYear = (now: number): number => Date.UTC(new Date(now).getUTCFullYear() + 1, 0)

const nextLeapDay = (now: number): number => {
  const year = new Date(now).getUTCFullYear()
  const days = Array.from({ length: 9 }, (_, after) => Date.UTC(year + after, 1, 29))
  return days.find((day) => day > now && new Date(day).getUTCDate() === 29) ?? Number.POSITIVE_INFINITY
}

/** Ms before an edge; an edge that is nearer than that is the one meant. */
const before = (edge: (now: number) => number) => (now: number) => Math.max(now, edge(now) - BEFORE)

/** A moment of interest. */
interface Time {
  /** The next such moment from a given time on, in epoch ms. */
  readonly next: (now: number) => number
  /** Whether it is the edge shortly before which the previous moment was, so that no time may be lost between. */
  readonly follows: boolean
}

/** In an order in which time moves little. */
export const times = {
  "any time": { next: (now) => now, follows: false },
  "the last ms of a second": { next: (now) => next(SECOND)(now) - 1, follows: false },
  "before the end of a minute": { next: before(next(MINUTE)), follows: false },
  "at the start of a minute": { next: next(MINUTE), follows: true },
  "before midnight": { next: before(next(DAY)), follows: false },
  "at midnight": { next: next(DAY), follows: true },
  "before the end of a month": { next: before(nextMonth), follows: false },
  "at the start of a month": { next: nextMonth, follows: true },
  "before the end of a year": { next: before(nextYear), follows: false },
  "at the start of a year": { next: nextYear, follows: true },
  "on 29 February": { next: nextLeapDay, follows: false }
} as const satisfies { readonly [name: string]: Time }

export type TimeName = keyof typeof times
