/** Lists moments at which software often fails: near the ends of seconds, minutes, days, months and years (UTC). */

const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000]

/** Time from a request to a boundary in ms: in the same second, but enough for some requests. */
const MARGIN_MS = 900

type Next = (now: number) => number

const nextOf =
  (unit: number): Next =>
  (now) =>
    (Math.floor(now / unit) + 1) * unit

const nextMonth: Next = (now) => {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

const nextYear: Next = (now) => Date.UTC(new Date(now).getUTCFullYear() + 1, 0)

const nextLeapDay: Next = (now) => {
  const year = new Date(now).getUTCFullYear()
  const days = Array.from({ length: 9 }, (_, years) => Date.UTC(year + years, 1, 29))
  return days.find((day) => day > now && new Date(day).getUTCDate() === 29) ?? now
}

const before =
  (boundary: Next): Next =>
  (now) =>
    Math.max(now, boundary(now) - MARGIN_MS)

/** The moments, in an order in which little time passes from each to the next; each returns the first one from `now`. */
export const moments: Readonly<Record<string, Next>> = {
  "in the second half of a second": (now) => nextOf(SECOND)(now) + 700,
  "in the last ms of a second": (now) => nextOf(SECOND)(now) - 1,
  "before the end of a minute": before(nextOf(MINUTE)),
  "at the start of a minute": nextOf(MINUTE),
  "before midnight": before(nextOf(DAY)),
  "at midnight": nextOf(DAY),
  "before the end of a month": before(nextMonth),
  "at the start of a month": nextMonth,
  "before the end of a year": before(nextYear),
  "at the start of a year": nextYear,
  "on 29 February": nextLeapDay
}
