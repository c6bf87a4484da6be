import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { beyondInt64, int64 } from "./Int64.arbitrary.ts"
import * as Int64 from "./Int64.ts"

/** Computes the expected result with exact rational arithmetic, which is feasible only for small exponents. */
const oracle = (text: string): bigint | undefined => {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e")
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".")
  const power = BigInt(exponent) - BigInt(fraction.length)
  const numerator = BigInt(whole + fraction) * (power > 0n ? 10n ** power : 1n)
  const denominator = power < 0n ? 10n ** -power : 1n
  if (numerator % denominator !== 0n) return undefined
  const value = (mantissa.startsWith("-") ? -1n : 1n) * (numerator / denominator)
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined
}

const digits = (minLength: number, maxLength: number) =>
  fc.string({ minLength, maxLength, unit: fc.constantFrom(..."00000123456789") })

const exponentOf = (value: fc.Arbitrary<number>): fc.Arbitrary<string> =>
  fc
    .tuple(value, fc.constantFrom("e", "E"), fc.constantFrom("", "0", "000"), fc.boolean())
    .map(([power, letter, zeros, hasPlus]) => {
      const sign = power < 0 ? "-" : hasPlus ? "+" : ""
      return `${letter}${sign}${zeros}${Math.abs(power)}`
    })

const anyNumberText = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.oneof(
      fc.constant("0"),
      digits(0, 25).map((rest) => `1${rest}`),
      digits(0, 25).map((rest) => `9${rest}`)
    ),
    fc.option(digits(1, 25), { nil: undefined }),
    fc.option(exponentOf(fc.integer({ min: -60, max: 60 })), { nil: "" })
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      sign + whole + (fraction === undefined ? "" : `.${fraction}`) + exponent
  )

/** Generates integers, and their texts with a decimal point at any digit and an exponent that compensates for it. */
const inAnyNotation = (integer: fc.Arbitrary<bigint>): fc.Arbitrary<{ value: bigint; text: string }> =>
  fc.tuple(integer, fc.nat(40), fc.nat(30), fc.nat(30)).chain(([value, moved, appended, leading]) => {
    const sign = value < 0n ? "-" : ""
    const all = "0".repeat(leading) + (value < 0n ? -value : value) + "0".repeat(appended)
    const point = Math.min(moved, all.length - 1)
    const whole = all.slice(0, all.length - point).replace(/^0+(?=.)/, "")
    const fraction = point === 0 ? "" : `.${all.slice(-point)}`
    return exponentOf(fc.constant(point - appended)).map((exponent) => ({
      value,
      text: `${sign}${whole}${fraction}${exponent}`
    }))
  })

describe("Int64.fromJsonNumber", () => {
  it("agrees with exact rational arithmetic for any number text", () => {
    fc.assert(
      fc.property(anyNumberText, (text) => {
        expect(Int64.fromJsonNumber(text)).toBe(oracle(text))
      }),
      { numRuns: 5000 }
    )
  })

  it("parses every int64 with a decimal point at any digit and an exponent that compensates for it", () => {
    fc.assert(
      fc.property(inAnyNotation(int64), ({ text, value }) => {
        expect(Int64.fromJsonNumber(text)).toBe(value)
      }),
      { numRuns: 5000 }
    )
  })

  it("rejects every integer outside the range, with a decimal point at any digit and a compensating exponent", () => {
    fc.assert(
      fc.property(inAnyNotation(beyondInt64), ({ text }) => {
        expect(Int64.fromJsonNumber(text)).toBeUndefined()
      }),
      { numRuns: 2000 }
    )
  })

  it("parses zero and rejects other numbers if the exponent is too large to compute", () => {
    const hugeExponent = fc
      .tuple(fc.constantFrom("e", "E+", "e-"), fc.bigInt({ min: 10n ** 4n, max: 10n ** 60n }))
      .map(([sign, power]) => `${sign}${power}`)
    fc.assert(
      fc.property(fc.nat(), hugeExponent, (mantissa, exponent) => {
        expect(Int64.fromJsonNumber(`${mantissa}${exponent}`)).toBe(mantissa === 0 ? 0n : undefined)
      })
    )
  })
})

describe("Int64.fromCanonicalText", () => {
  it("parses the output of `toString` for every int64", () => {
    fc.assert(
      fc.property(int64, (value) => {
        expect(Int64.fromCanonicalText(value.toString())).toBe(value)
      }),
      { numRuns: 2000 }
    )
  })

  it("rejects the output of `toString` for integers outside the range", () => {
    fc.assert(
      fc.property(beyondInt64, (value) => {
        expect(Int64.fromCanonicalText(value.toString())).toBeUndefined()
      })
    )
  })

  it("accepts only text that `toString` can return", () => {
    const nearlyCanonical = fc.oneof(
      fc.string({ maxLength: 22, unit: fc.constantFrom(..."-+0123456789. e") }),
      fc.tuple(int64, fc.constantFrom("0", "+", "-", " ", "\n", ".0", "n", "_")).chain(([value, extra]) => {
        const text = value.toString()
        return fc.nat(text.length).map((index) => text.slice(0, index) + extra + text.slice(index))
      }),
      fc.string({ unit: "binary" })
    )
    fc.assert(
      fc.property(nearlyCanonical, (text) => {
        const value = Int64.fromCanonicalText(text)
        if (value !== undefined) expect(value.toString()).toBe(text)
      }),
      { numRuns: 2000 }
    )
  })
})
