import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { printable } from "./Printable.ts"

describe("printable", () => {
  it("leaves no character that ends the line, controls the terminal or changes the text direction", () => {
    const hostile = fc.constantFrom(
      ...["\0", "\t", "\n", "\r", "\x1b[2J", "\x7f", "\x85", "\x9b", "\u200b", "\u200e", "\u202a", "\u202e"],
      ...["\u2028", "\u2029", "\u2066", "\u2069", "\ufeff", "\u{e0041}", "\ud800", "\udc00"]
    )
    const texts = fc.array(fc.oneof(hostile, fc.string({ unit: "binary" })), { maxLength: 6 })
    fc.assert(
      fc.property(texts, (parts) => {
        const escaped = printable(parts.join(""))
        expect(escaped).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
      }),
      { numRuns: 1_000 }
    )
  })

  it("does not change a string without control, format or separator characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text))
        expect(printable(text)).toBe(text)
      })
    )
    expect(printable("till №1, 日本 😀")).toBe("till №1, 日本 😀")
  })

  it("replaces control and format characters and lone surrogates with their code points", () => {
    expect(printable("a\u202eb\x1b[0m\u{e0041}\ud800")).toBe("a\\u{202e}b\\u{1b}[0m\\u{e0041}\\u{d800}")
  })
})
