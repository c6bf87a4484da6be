import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Utf8 from "./Utf8.ts"

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const platformDecode = (bytes: Uint8Array): string | undefined => {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return undefined
  }
}

const encoder = new TextEncoder()

const byte = fc.integer({ min: 0, max: 255 })

/** Generates valid UTF-8, stray bytes, overlong forms, surrogates, excessive values, and truncated sequences. */
const sequence: fc.Arbitrary<ReadonlyArray<number>> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({ unit: "binary", maxLength: 4 }).map((text) => [...encoder.encode(text)])
  },
  fc.array(byte, { maxLength: 4 }),
  fc
    .tuple(
      fc.integer({ min: 0xc0, max: 0xff }),
      fc.array(fc.integer({ min: 0x80, max: 0xbf }), { maxLength: 4 })
    )
    .map(([lead, rest]) => [lead, ...rest]),
  fc
    .tuple(fc.constantFrom(0xe0, 0xed, 0xf0, 0xf4), fc.constantFrom(0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf))
    .map(([lead, next]) => [lead, next, 0x80, 0x80].slice(0, lead < 0xf0 ? 3 : 4)),
  fc
    .string({ unit: "binary", minLength: 1, maxLength: 2 })
    .map((text) => [...encoder.encode(text)].slice(0, -1))
)

const anyBytes: fc.Arbitrary<Uint8Array> = fc
  .array(sequence, { maxLength: 8 })
  .map((sequences) => Uint8Array.from(sequences.flat()))

const textOrUndefined = (decoded: string | number): string | undefined =>
  typeof decoded === "string" ? decoded : undefined

describe("Utf8.decode", () => {
  it("agrees with the strict TextDecoder for any bytes", () => {
    fc.assert(
      fc.property(fc.oneof(anyBytes, fc.uint8Array({ maxLength: 8 })), (bytes) => {
        expect(textOrUndefined(Utf8.decode(bytes))).toBe(platformDecode(bytes))
      }),
      { numRuns: 5000 }
    )
  })

  it("decodes every encoded well-formed text, of any length and across chunk boundaries", () => {
    const long = fc
      .tuple(fc.nat(3), fc.constantFrom("a", "é", "€", "😀"), fc.integer({ min: 0, max: 9000 }))
      .map(([offset, character, count]) => "x".repeat(offset) + character.repeat(count))
    fc.assert(
      fc.property(fc.oneof(long, fc.string({ unit: "binary" })), (text) => {
        // Compares the texts outside `expect`, which is slow to report differences in long texts.
        expect(Utf8.decode(encoder.encode(text)) === text).toBe(true)
      }),
      { numRuns: 500 }
    )
  })

  it("decodes megabytes without a stack overflow", () => {
    const text = "aé😀".repeat(500_000)
    expect(Utf8.decode(encoder.encode(text)) === text).toBe(true)
  })

  it("returns the offset of the first invalid sequence: the bytes before it are valid", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const offset = Utf8.decode(bytes)
        if (typeof offset === "string") return
        expect(platformDecode(bytes.subarray(0, offset))).toBeDefined()
        for (let end = offset + 1; end <= Math.min(offset + 4, bytes.length); end++) {
          expect(platformDecode(bytes.subarray(offset, end))).toBeUndefined()
        }
      }),
      { numRuns: 3000 }
    )
  })

  it("agrees with TextDecoder for any two bytes, alone and followed by continuation bytes", () => {
    const disagreements: Array<string> = []
    const compare = (...bytes: ReadonlyArray<number>) => {
      const array = Uint8Array.from(bytes)
      if (textOrUndefined(Utf8.decode(array)) !== platformDecode(array)) disagreements.push(bytes.join(" "))
    }
    for (let lead = 0x7f; lead <= 0xff; lead++) {
      compare(lead)
      for (let next = 0; next <= 0xff; next++) {
        compare(lead, next)
        compare(lead, next, 0x80)
        compare(lead, next, 0xbf)
        compare(lead, next, 0x80, 0xbf)
      }
    }
    expect(disagreements).toEqual([])
  })
})
