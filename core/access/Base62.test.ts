import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Base62 from "./Base62.ts"

/** Decodes base-62 text digit by digit, by code points: digits, upper-case letters, lower-case letters. */
const decode = (text: string): bigint => {
  let value = 0n
  for (const digit of text) {
    const code = digit.charCodeAt(0)
    const offset = code <= 57 ? 48 : code <= 90 ? 55 : 61
    value = value * 62n + BigInt(code - offset)
  }
  return value
}

describe("Base62", () => {
  it.each([
    [0n, 1, "0"],
    [9n, 1, "9"],
    [10n, 1, "A"],
    [35n, 1, "Z"],
    [36n, 1, "a"],
    [61n, 1, "z"],
    [62n, 2, "10"],
    [0n, 6, "000000"],
    [2n ** 32n - 1n, 6, "4gfFC3"]
  ])("encodes %s with %d digits as %s", (value, length, text) => {
    expect(Base62.encode(value, length)).toBe(text)
  })

  it("encodes every number of up to 27 digits to text that decodes to the same number", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 62n ** 27n - 1n }), (value) => {
        const text = Base62.encode(value, 27)
        expect(text).toMatch(/^[0-9A-Za-z]{27}$/)
        expect(decode(text)).toBe(value)
      })
    )
  })

  it("decodes up to eight digits that start at an offset", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 62 ** 8 - 1 }),
        fc.integer({ min: 1, max: 8 }),
        fc.string({ maxLength: 9 }),
        (value, length, before) => {
          const start = new TextEncoder().encode(before)
          const digits = new TextEncoder().encode(Base62.encode(BigInt(value), length))
          expect(Base62.decode(Uint8Array.of(...start, ...digits), start.length)).toBe(value)
        }
      )
    )
  })

  it("encodes numbers so that strings of equal length sort like the numbers", () => {
    const value = fc.bigInt({ min: 0n, max: 62n ** 6n - 1n })
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(Base62.encode(a, 6) < Base62.encode(b, 6)).toBe(a < b)
      })
    )
  })

  it.each([
    [20, 27],
    [8, 11]
  ])("encodes %d bytes in %d digits, most significant byte first", (bytes, digits) => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ minLength: bytes, maxLength: bytes }),
          fc.constantFrom(0, 255).map((byte) => new Uint8Array(bytes).fill(byte))
        ),
        (random) => {
          const text = Base62.encodeBytes(random, digits)
          expect(text).toHaveLength(digits)
          expect(decode(text)).toBe(BigInt(`0x${Buffer.from(random).toString("hex")}`))
        }
      )
    )
  })
})
