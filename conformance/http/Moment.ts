/** Times that a subject told, for messages. */

/** Epoch ms in ISO 8601 (UTC); the number alone where it is no Date, which reaches 8.64e15 ms either side of 1970. */
export const iso = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString()
}
