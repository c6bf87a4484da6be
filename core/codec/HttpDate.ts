/** Formats HTTP dates (RFC 9110 §5.6.7, IMF-fixdate), such as `Sun, 06 Nov 1994 08:49:37 GMT`. */

/** Formats `epochMs` (epoch milliseconds), rounded down to the second. */
export const format = (epochMs: number): string => new Date(epochMs).toUTCString()
