/**
 * Signed 64-bit integers, exact from −2⁶³ to 2⁶³−1 (contract §2 `int64`): `bigint` in the domain, JSON numbers
 * on the wire. Numbers on the wire are judged by value, so `1.0` and `1e3` are integers; `1.5` is not.
 */
import * as Schema from "effect/Schema"

/** An integer from `min` to `max`; the type alone does not hold the range, `is` and the schema do. */
export type Int64 = bigint

/** −2⁶³. */
export const min: Int64 = -(2n ** 63n)
/** 2⁶³−1. */
export const max: Int64 = 2n ** 63n - 1n

const MAX_DIGITS = 19

/** Whether `value` is within the range. */
export const is = (value: bigint): boolean => value >= min && value <= max

/** What a value that is none must be told. */
export const message = `must be an integer between ${min} and ${max}`

/** A `bigint` within the range of int64. */
export const Int64 = Schema.toType(Schema.BigInt)
  .annotate({ message })
  .check(Schema.makeFilter(is, { identifier: "Int64", message }))

/** `text` as an int64 when it is its only spelling (`-12`, not `012`, `+1`, `-0` or `1.0`), else `undefined`. */
export const fromCanonicalText = (text: string): Int64 | undefined => {
  if (text.length > MAX_DIGITS + 1 || !/^(?:0|-?[1-9][0-9]*)$/.test(text)) return undefined
  const value = BigInt(text)
  return is(value) ? value : undefined
}

/**
 * The int64 that a JSON number denotes by value, else `undefined`; `text` must match RFC 8259's `number`.
 * Takes time linear in the length of the text: huge exponents are judged without building the number.
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
  // `Number` saturates to ±Infinity, which the two comparisons below refuse as they should.
  const scale = Number(exponent) + whole.length - digits.length
  if (scale < 0 || significant.length + scale > MAX_DIGITS) return undefined
  const magnitude = BigInt(significant + "0".repeat(scale))
  const value = sign === "-" ? -magnitude : magnitude
  return is(value) ? value : undefined
}

// By hand: `/0+$/` backtracks quadratically over long runs of inner zeros.
const trimTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--
  return digits.slice(0, end)
}
