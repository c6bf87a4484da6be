/** Formats times and durations of a subject, for messages. */

/** Formats epoch ms in ISO 8601 (UTC), or as a number outside the range of `Date` (8.64e15 ms around 1970). */
export const iso = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString()
}

/** Formats a duration in the unit that people read it in; milliseconds show wherever rounding would hide them. */
export const duration = (ms: number): string => {
  const [amount, unit] =
    ms < 120_000 ? [ms / 1_000, "s"] : ms < 7_200_000 ? [ms / 60_000, "minutes"] : [ms / 3_600_000, "hours"]
  return `${Number(amount.toFixed(unit === "s" ? 3 : 1))} ${unit}`
}
