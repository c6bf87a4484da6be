/** Dates as HTTP writes them (RFC 9110 §5.6.7, IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`. */
import * as DateTime from "effect/DateTime"

/** The second of `epochMs` that has begun, in UTC. */
export const format = (epochMs: number): string =>
  DateTime.toDateUtc(DateTime.makeUnsafe(epochMs)).toUTCString()
