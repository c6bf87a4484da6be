import { createHash } from "node:crypto"
import { inspect } from "node:util"
import { crc32 } from "node:zlib"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import { describe, expect } from "vitest"
import { randomBytes, secret, secretOf } from "./ApiKeySecret.arbitrary.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import * as Base62 from "./Base62.ts"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const replaceAt = (text: string, index: number, character: string) =>
  text.slice(0, index) + character + text.slice(index + 1)

const swap = (text: string, a: number, b: number) =>
  replaceAt(replaceAt(text, a, text.charAt(b)), b, text.charAt(a))

const isWellFormed = (text: string): boolean => ApiKeySecret.parse(text) !== undefined

describe("ApiKeySecret.generate", () => {
  it("returns a secret that matches the published pattern and has a valid checksum", () => {
    fc.assert(
      fc.property(secret, (text) => {
        expect(text).toMatch(ApiKeySecret.pattern)
        expect(ApiKeySecret.parse(text)).toEqual(new TextEncoder().encode(text))
      })
    )
  })

  it("returns a different secret if one random bit is different", () => {
    fc.assert(
      fc.property(randomBytes, fc.nat({ max: 159 }), (bytes, bit) => {
        const changed = bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
        expect(secretOf(changed)).not.toBe(secretOf(bytes))
      })
    )
  })

  it.effect("returns distinct secrets, which are redacted when printed", () =>
    Effect.gen(function* () {
      const secrets = yield* Effect.replicateEffect(ApiKeySecret.generate, 1000)
      const texts = secrets.map(Redacted.value)
      expect(new Set(texts).size).toBe(1000)
      for (const secret of secrets) {
        const text = Redacted.value(secret)
        expect(
          `${String(secret)} ${JSON.stringify({ secret })} ${inspect(secret, { depth: 9 })}`
        ).not.toContain(text)
      }
    }).pipe(Effect.provide(NodeCrypto.layerSecureRandom))
  )
})

describe("ApiKeySecret.parse", () => {
  it("rejects a secret with any single character changed", () => {
    fc.assert(
      fc.property(secret, (text) => {
        for (let index = 0; index < text.length; index++) {
          // The look-alike has the same low byte as the correct character.
          const lookAlike = String.fromCharCode(text.charCodeAt(index) + 0x100)
          for (const character of `${alphabet}_- \n\0${lookAlike}`) {
            if (character === text.charAt(index)) continue
            expect(isWellFormed(replaceAt(text, index, character))).toBe(false)
          }
        }
      }),
      { numRuns: 10 }
    )
  })

  it("rejects a character that is not a base-62 digit, even if the checksum is valid", () => {
    fc.assert(
      fc.property(
        secret,
        fc.integer({ min: 4, max: 30 }),
        fc.constantFrom(..."_-./:@[`{~\0"),
        (text, index, symbol) => {
          const body = replaceAt(text.slice(0, 31), index, symbol)
          expect(isWellFormed(body + Base62.encode(BigInt(crc32(body)), 6))).toBe(false)
        }
      )
    )
  })

  it("rejects a secret with any two different characters swapped", () => {
    fc.assert(
      fc.property(secret, (text) => {
        for (let a = 0; a < text.length; a++) {
          for (let b = a + 1; b < text.length; b++) {
            if (text.charAt(a) === text.charAt(b)) continue
            expect(isWellFormed(swap(text, a, b))).toBe(false)
          }
        }
      }),
      { numRuns: 20 }
    )
  })

  it("rejects a secret with a character missing, doubled or added", () => {
    fc.assert(
      fc.property(secret, fc.nat({ max: 36 }), (text, index) => {
        expect(isWellFormed(text.slice(0, index) + text.slice(index + 1))).toBe(false)
        expect(isWellFormed(text.slice(0, index) + text.charAt(index) + text.slice(index))).toBe(false)
        expect(isWellFormed(` ${text}`)).toBe(false)
        expect(isWellFormed(`${text}\n`)).toBe(false)
      })
    )
  })

  it("rejects a secret in another case or with another prefix", () => {
    fc.assert(
      fc.property(secret, (text) => {
        expect(isWellFormed(`AST${text.slice(3)}`)).toBe(false)
        expect(isWellFormed(`sk_${text.slice(4)}`)).toBe(false)
        if (text.toLowerCase() !== text) expect(isWellFormed(text.toLowerCase())).toBe(false)
      })
    )
  })

  it("rejects arbitrary text without an exception", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary", maxLength: 600 })), (text) => {
        expect(isWellFormed(text)).toBe(false)
      })
    )
    expect(isWellFormed("a".repeat(100_000))).toBe(false)
  })
})

describe("ApiKeySecret.hash", () => {
  it.effect("returns the SHA-256 of the secret in lower-case hexadecimal", () =>
    Effect.gen(function* () {
      for (const text of fc.sample(secret, 20)) {
        expect(yield* ApiKeySecret.hash(text)).toBe(createHash("sha256").update(text).digest("hex"))
      }
      expect(yield* ApiKeySecret.hash("abc")).toBe(
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      )
    }).pipe(Effect.provide(NodeCrypto.layerDigest))
  )

  it.effect("never returns a well-formed secret", () =>
    Effect.gen(function* () {
      for (const text of fc.sample(secret, 20)) {
        expect(isWellFormed(yield* ApiKeySecret.hash(text))).toBe(false)
      }
    }).pipe(Effect.provide(NodeCrypto.layerDigest))
  )
})
