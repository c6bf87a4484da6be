/**
 * Parses and validates signed 64-bit integers, exact from −2⁶³ to 2⁶³−1 (contract §2 `int64`): `bigint` in the domain,
 * JSON numbers on the wire. Only the value of a JSON number counts: `1.0` and `1e3` are integers, `1.5` is not.
 */
import * as Schema from "effect/Schema"

/** An integer from `min` to `max`; the type does not enforce the range, but `is` and the schema do. */
export type Int64 = bigint

/** The smallest int64: −2⁶³. */
export const min: Int64 = -(2n ** 63n)
/** The largest int64: 2⁶³−1. */
export const max: Int64 = 2n ** 63n - 1n

const MAX_DIGITS = 19

/** Returns whether `value` is within the range. */
export const is = (value: bigint): boolean => value >= min && value <= max

/** The validation message for values that are not an int64. */
export const message = `must be an integer between ${min} and ${max}`

/** A `bigint` within the range of int64. */
export const Int64 = Schema.toType(Schema.BigInt)
  .annotate({ message })
  .check(Schema.makeFilter(is, { identifier: "Int64", message }))

/** Parses the canonical text of an int64 (`-12`, not `012`, `+1`, `-0` or `1.0`); otherwise returns `undefined`. */
export const fromCanonicalText = (text: string): Int64 | undefined => {
  if (text.length > MAX_DIGITS + 1 || !/^(?:0|-?[1-9][0-9]*)$/.test(text)) return undefined
  const value = BigInt(text)
  return is(value) ? value : undefined
}

/**
 * Parses a JSON number by value; returns `undefined` if it is not an int64. `text` must match RFC 8259's `number`.
 * Runs in linear time: huge exponents are rejected without computing the number.
 *
 * @example
 * ```ts
 * fromJsonNumber("1e3") // 1000n
 * fromJsonNumber("1.5") // undefined
 * fromJsonNumber("1e999999999") // undefined
 * ```
 */
export const fromJsonNumber = (text: string): Int64 | undefined => {
  if (text.length < MAX_DIGITS && /^-?[0-9]+$/.test(text)) return BigInt(text)
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text)
  if (parts === null) return undefined
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts
  const digits = trimTrailingZeros(whole + fraction)
  const significant = digits.replace(/^0+/, "")
  if (significant === "") return 0n
  // `Number` saturates to ±Infinity, which the comparisons below reject.
  const scale = Number(exponent) + whole.length - digits.length
  if (scale < 0 || significant.length + scale > MAX_DIGITS) return undefined
  const magnitude = BigInt(significant + "0".repeat(scale))
  const value = sign === "-" ? -magnitude : magnitude
  return is(value) ? value : undefined
}

// Not a regular expression: `/0+$/` takes quadratic time for long runs of inner zeros.
const trimTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--
  return digits.slice(0, end)
}
