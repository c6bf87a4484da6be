/** Formats times and durations of a subject, for messages. */

/** Formats epoch ms in ISO 8601 (UTC), or as a number outside the range of `Date` (8.64e15 ms around 1970). */
export const iso = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString()
}

/**
 * Formats a duration exactly to the millisecond.
 *
 * @example
 * ```ts
 * duration(600) // "0.6 s"
 * duration(43_200_000) // "12 h"
 * ```
 */
export const duration = (exactMs: number): string => {
  const ms = Math.round(exactMs)
  if (ms < 60_000) return `${ms / 1_000} s`
  const units = [
    ["days", Math.floor(ms / 86_400_000)],
    ["h", Math.floor(ms / 3_600_000) % 24],
    ["min", Math.floor(ms / 60_000) % 60],
    ["s", (ms % 60_000) / 1_000]
  ] as const
  return units
    .flatMap(([unit, count]) =>
      count === 0 ? [] : [`${count} ${count === 1 && unit === "days" ? "day" : unit}`]
    )
    .join(" ")
}
