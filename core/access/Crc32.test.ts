import * as zlib from "node:zlib"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Crc32 from "./Crc32.ts"

describe("CRC-32", () => {
  it.each([
    ["", 0],
    ["123456789", 0xcbf43926],
    ["a", 0xe8b7be43],
    ["The quick brown fox jumps over the lazy dog", 0x414fa339]
  ])("of %j is the published value", (text, checksum) => {
    expect(Crc32.ofAscii(text)).toBe(checksum)
  })

  it("is that of zlib for every ASCII text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 200 }), (text) => {
        expect(Crc32.ofAscii(text)).toBe(zlib.crc32(text))
      })
    )
  })
})
