/** Formats HTTP dates (RFC 9110 §5.6.7, IMF-fixdate), such as `Sun, 06 Nov 1994 08:49:37 GMT`. */

/** Formats `epochMs` (epoch milliseconds), rounded down to the second. */
export const format = (epochMs: number): string => new Date(epochMs).toUTCString()

/** Returns a function that formats as `format` does, and reuses its result within the same second. */
export const perSecond = (): ((epochMs: number) => string) => {
  let second = Number.NaN
  let text = ""
  return (epochMs) => {
    const current = Math.floor(epochMs / 1000)
    if (current !== second) {
      second = current
      text = format(epochMs)
    }
    return text
  }
}
