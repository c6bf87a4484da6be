/** Lists moments at which windows of limits begin, and at which software often fails. */

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

/** Returns the first boundary after a time (epoch ms). */
export type Next = (now: number) => number

const nextOf =
  (unit: number): Next =>
  (now) =>
    (Math.floor(now / unit) + 1) * unit

/** Returns the first of these times of a year, or of the years that follow, that is ahead. */
const inYear =
  (timesOf: (year: number) => ReadonlyArray<number>): Next =>
  (now) => {
    const year = new Date(now).getUTCFullYear()
    const times = Array.from({ length: 9 }, (_, later) => timesOf(year + later)).flat()
    return times.find((time) => time > now) ?? now
  }

/** The first midnight in a time zone, which is given as the minutes that it is ahead of UTC. */
export const midnight =
  (zone: number): Next =>
  (now) =>
    nextOf(DAY)(now + zone * MINUTE) - zone * MINUTE

/** Time zones other than UTC whose midnights may begin a day. */
export const zones = [14 * 60, -12 * 60, 330, -8 * 60, 60, 345] as const

/** The boundaries of UTC, in an order in which little time passes from each to the next. */
export const boundaries = {
  second: nextOf(SECOND),
  minute: nextOf(MINUTE),
  day: nextOf(DAY),
  month: inYear((year) => Array.from({ length: 12 }, (_, month) => Date.UTC(year, month))),
  // The last Sundays of March and October at 01:00 UTC, when clocks change in Europe.
  "change of clocks": inYear((year) =>
    [2, 9].map((month) => {
      const last = Date.UTC(year, month + 1, 0, 1)
      return last - new Date(last).getUTCDay() * DAY
    })
  ),
  "29 February": inYear((year) =>
    new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1 ? [Date.UTC(year, 1, 29)] : []
  )
} satisfies { readonly [name: string]: Next }

/** Times before a boundary in milliseconds. */
export const margins = [1, 300, 500, 900, SECOND, 30 * SECOND] as const
