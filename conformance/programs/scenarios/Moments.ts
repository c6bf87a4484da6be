/** Lists moments at which windows of limits begin, and at which software often fails. */

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

/** Returns the first boundary after a time (epoch ms). */
export type Next = (now: number) => number

const nextOf =
  (unit: number): Next =>
  (now) =>
    (Math.floor(now / unit) + 1) * unit

const nextMonth: Next = (now) => {
  const day = new Date(now)
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1)
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
  month: nextMonth
} satisfies { readonly [name: string]: Next }

/** Times before a boundary in milliseconds. */
export const margins = [1, 30, 300, 500, 900, SECOND, 30 * SECOND] as const
