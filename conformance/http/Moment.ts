/** Formats times from a subject, for messages. */

/** Formats epoch ms in ISO 8601 (UTC), or as a number outside the range of `Date` (8.64e15 ms around 1970). */
export const iso = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString()
}
