import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as QueryString from "./QueryString.ts"

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Decodes percent-encodings byte by byte; returns `undefined` if one is malformed or not UTF-8. */
const oracle = (text: string): string | undefined => {
  const bytes: Array<number> = []
  for (let index = 0; index < text.length; index++) {
    const unit = text.charAt(index)
    if (unit !== "%") {
      bytes.push(...new TextEncoder().encode(unit))
      continue
    }
    const hex = text.slice(index + 1, index + 3)
    if (!/^[0-9a-f]{2}$/i.test(hex)) return undefined
    bytes.push(Number.parseInt(hex, 16))
    index += 2
  }
  try {
    return strictUtf8.decode(Uint8Array.from(bytes))
  } catch {
    return undefined
  }
}

const encodedText = fc
  .array(
    fc.oneof(
      fc.constantFrom(..."%%zaA09=?;/"),
      fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, "0")}`),
      fc.string({ unit: "binary", maxLength: 2 }).map(encodeURIComponent)
    ),
    { maxLength: 8 }
  )
  .map((pieces) => pieces.join(""))

describe("QueryString.percentDecode", () => {
  it("agrees with a byte-by-byte decoder, even for malformed encodings and invalid UTF-8", () => {
    fc.assert(
      fc.property(encodedText, (text) => {
        expect(QueryString.percentDecode(text)).toBe(oracle(text))
      }),
      { numRuns: 3000 }
    )
  })

  it("decodes percent-encodings only once", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const once = encodeURIComponent(text)
        expect(QueryString.percentDecode(encodeURIComponent(once))).toBe(once)
      })
    )
  })
})

describe("QueryString.parse", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "a b", "a+b", "=", "&", "%", "limit[]")
  )

  it("parses the pairs that URLSearchParams encodes, in order, including repeated ones", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
        const query = new URLSearchParams(pairs).toString()
        expect(QueryString.parse(query)).toEqual(pairs.map(([name, value]) => ({ name, value })))
      }),
      { numRuns: 1000 }
    )
  })

  it("agrees with URLSearchParams, or returns undefined for malformed encodings", () => {
    const query = fc
      .array(fc.oneof(encodedText, fc.constantFrom("&", "=", "+", "&&")))
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(query, (encoded) => {
        const isWellFormed = encoded.split(/[&=]/).every((part) => oracle(part) !== undefined)
        // The leading `&` prevents URLSearchParams from removing a leading `?`.
        const expected = [...new URLSearchParams(`&${encoded}`)].map(([name, value]) => ({ name, value }))
        expect(QueryString.parse(encoded)).toEqual(isWellFormed ? expected : undefined)
      }),
      { numRuns: 3000 }
    )
  })

  it("parses any text without an exception", () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit }), fc.string()), (anyText) => {
        expect(() => QueryString.parse(anyText)).not.toThrow()
      })
    )
  })
})
