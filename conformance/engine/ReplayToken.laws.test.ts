import { deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import packageJson from "../../package.json" with { type: "json" }
import * as ReplayToken from "./ReplayToken.ts"

const token = fc.record({
  check: fc.string({ unit: "grapheme" }),
  case: fc.oneof(fc.json(), fc.string({ unit: "grapheme", maxLength: 400 }))
})

const describeDecoded = (text: string): string =>
  Result.match(ReplayToken.decode(text), {
    onSuccess: (read) => `read ${JSON.stringify(read)}`,
    onFailure: (failure) => `${failure._tag}: ${failure.message}`
  })

const rejection = "SetupError: this is not a replay token: it must begin with asc1_ and be complete"

describe("a replay token", () => {
  it("is one word, and is decoded to the same check and case", () => {
    fc.assert(
      fc.property(token, (given) => {
        const text = ReplayToken.encode(given)
        expect(text).toMatch(/^asc1_[\w-]+$/)
        expect(Result.getOrThrow(ReplayToken.decode(text))).toEqual(given)
      })
    )
  })

  it("is rejected without an exception if the text is not an encoded token", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.base64String().map((word) => `asc1_${word}`),
          fc.uint8Array().map((raw) => `asc1_${deflateRawSync(raw).toString("base64url")}`),
          fc.uint8Array().map((raw) => `asc1_${deflateSync(raw).toString("base64url")}`),
          fc.json().map((text) => `asc1_${deflateRawSync(text).toString("base64url")}`),
          fc.json().map((text) => `asc1_${deflateSync(text).toString("base64url")}`),
          fc.json().map((text) => `asc1_${gzipSync(text).toString("base64url")}`)
        ),
        (text) => {
          expect(describeDecoded(text)).toBe(rejection)
        }
      ),
      { numRuns: 500 }
    )
  })

  it("is rejected if its end is missing", () => {
    fc.assert(
      fc.property(token, fc.integer({ min: 1, max: 12 }), (given, cut) => {
        const text = ReplayToken.encode(given)
        expect(describeDecoded(text.slice(0, Math.max(0, text.length - cut - 1)))).toBe(rejection)
      })
    )
  })

  it("is never decoded to another case if one of its characters was changed", () => {
    const base64urlCharacter = fc.constantFrom(
      ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )
    fc.assert(
      fc.property(token, fc.nat(), base64urlCharacter, (given, position, character) => {
        const text = ReplayToken.encode(given)
        const at = position % text.length
        const damaged = text.slice(0, at) + character + text.slice(at + 1)
        const read = ReplayToken.decode(damaged)
        if (Result.isSuccess(read)) expect(read.success).toEqual(given)
        else expect(read.failure.message).toBe(rejection.slice("SetupError: ".length))
      }),
      { numRuns: 2_000 }
    )
  })

  it("is rejected if it decompresses to more than a megabyte", () => {
    const bomb = "x".repeat(2_000_000)
    expect(describeDecoded(ReplayToken.encode({ check: "toy", case: bomb }))).toBe(rejection)
  })

  it("is rejected with a message about both versions if it is from another version of the suite", () => {
    const encoded = ReplayToken.encode({ check: "toy", case: "1" })
    const { version } = packageJson
    try {
      packageJson.version = "99.0.0"
      expect(describeDecoded(encoded)).toBe(
        `SetupError: the token is from version ${version} of the suite, but this is 99.0.0`
      )
    } finally {
      packageJson.version = version
    }
    expect(describeDecoded(encoded)).toBe('read {"check":"toy","case":"1"}')
  })
})
