import { describe, expect, it } from "vitest"
import * as Utf8 from "./Utf8.ts"

describe("Utf8.decode", () => {
  it.each<[string, ReadonlyArray<number>, string]>([
    ["no bytes", [], ""],
    ["a byte order mark, which is kept", [0xef, 0xbb, 0xbf, 0x61], "\ufeffa"],
    ["U+0000", [0], "\0"],
    ["the first and last code point of two bytes", [0xc2, 0x80, 0xdf, 0xbf], "\u0080\u07ff"],
    ["the first and last code point of three bytes", [0xe0, 0xa0, 0x80, 0xef, 0xbf, 0xbf], "\u0800\uffff"],
    ["the neighbors of the surrogates", [0xed, 0x9f, 0xbf, 0xee, 0x80, 0x80], "\ud7ff\ue000"],
    ["the limits of four bytes", [0xf0, 0x90, 0x80, 0x80, 0xf4, 0x8f, 0xbf, 0xbf], "\u{10000}\u{10ffff}"]
  ])("decodes %s", (_, bytes, text) => {
    expect(Utf8.decode(Uint8Array.from(bytes))).toBe(text)
  })

  it("decodes megabytes without a stack overflow", () => {
    const text = "aé😀".repeat(500_000)
    expect(Utf8.decode(new TextEncoder().encode(text)) === text).toBe(true)
  })

  it.each<[string, ReadonlyArray<number>, number]>([
    ["a byte that never occurs in UTF-8", [0x41, 0xff], 1],
    ["a continuation byte without a lead byte", [0x41, 0x42, 0x80], 2],
    ["an overlong slash of two bytes", [0xc0, 0xaf], 0],
    ["an overlong slash of three bytes", [0xe0, 0x80, 0xaf], 0],
    ["an overlong slash of four bytes", [0xf0, 0x80, 0x80, 0xaf], 0],
    ["an overlong U+0000", [0xc0, 0x80], 0],
    ["a surrogate", [0xed, 0xa0, 0x80], 0],
    ["a surrogate pair", [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], 0],
    ["a value above U+10FFFF", [0xf4, 0x90, 0x80, 0x80], 0],
    ["a sequence of five bytes", [0xf8, 0x88, 0x80, 0x80, 0x80], 0],
    ["a sequence that is cut off at the end", [0xc3, 0xa9, 0xe2, 0x82], 2],
    ["a sequence that is cut off by a letter", [0xe2, 0x82, 0x61], 0],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0x00], 0],
    ["ISO 8859-1", [0x52, 0xe9, 0x6d, 0x69], 1]
  ])("rejects %s and returns its offset", (_, bytes, offset) => {
    expect(Utf8.decode(Uint8Array.from(bytes))).toBe(offset)
  })
})
