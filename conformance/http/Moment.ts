/** Times from a subject, for messages. */

/** Epoch ms in ISO 8601 (UTC); the number itself beyond the range of `Date`, 8.64e15 ms before or after 1970. */
export const iso = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString()
}
