/** Dates as HTTP writes them (RFC 9110 §5.6.7, IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`. */
import * as DateTime from "effect/DateTime"

/** A `format` that remembers its latest second: formatting costs more than the rest of an answer's headers together. */
export const memoized = (): ((epochMs: number) => string) => {
  let second: number | undefined
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

/** The second of `epochMs` that has begun, in UTC. */
export const format = (epochMs: number): string =>
  DateTime.toDateUtc(DateTime.makeUnsafe(epochMs)).toUTCString()
