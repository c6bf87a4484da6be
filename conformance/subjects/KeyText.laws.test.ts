import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { invalid, near } from "../programs/Credentials.ts"
import * as KeyText from "./KeyText.ts"

const key = fc
  .array(fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/"), {
    minLength: 8,
    maxLength: 40
  })
  .map((characters) => characters.join(""))

describe("KeyText", () => {
  it("is resolved to the same text with the same key, whatever the text is", () => {
    fc.assert(
      fc.property(fc.string(), key, key, (text, main, tiny) => {
        const secrets = { main, tiny }
        for (const given of [text, text + main, `${main}${text}${tiny.toUpperCase()}`]) {
          expect(KeyText.resolve(KeyText.of(given, secrets), secrets)).toBe(given)
        }
      })
    )
  })

  it("contains no part of 5 characters of the key, for the credentials that programs derive from it", () => {
    fc.assert(
      fc.property(key, fc.constantFrom(...invalid, ...near), (main, derive) => {
        for (const value of derive(main).authorization ?? []) {
          const written = KeyText.of(value, { main }).replace(/‹[^›]*›/g, "‹›")
          for (let at = 0; at + 5 <= main.length; at++) {
            expect(written).not.toContain(main.slice(at, at + 5))
          }
        }
      })
    )
  })

  it("names the key and its spelling", () => {
    const secrets = { main: "ast_Main01", tiny: "tiny-secret" }
    const show = (text: string) => KeyText.of(text, secrets)
    expect(show("Bearer ast_Main01")).toBe("Bearer ‹key:main›")
    expect(show("Bearer AST_MAIN01 tiny-secre")).toBe(
      "Bearer ‹key:main in upper case› ‹key:tiny, characters 0 to 10›"
    )
  })
})
