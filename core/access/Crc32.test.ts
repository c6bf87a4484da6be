import * as zlib from "node:zlib"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Crc32 from "./Crc32.ts"

describe("Crc32.of", () => {
  it("returns the same checksum as zlib, for all bytes and for a prefix of the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 200 }), (bytes, length) => {
        expect(Crc32.of(bytes)).toBe(zlib.crc32(bytes))
        const prefix = bytes.subarray(0, length)
        expect(Crc32.of(bytes, prefix.length)).toBe(zlib.crc32(prefix))
      })
    )
  })
})
