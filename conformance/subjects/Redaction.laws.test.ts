import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { invalid, near } from "../programs/Credentials.ts"
import { markup } from "../reports/Markup.ts"
import * as Redaction from "./Redaction.ts"

/** Generates keys of 8 characters or more in the syntax of RFC 6750. */
const keys = fc
  .array(fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/"), {
    minLength: 8,
    maxLength: 60
  })
  .map((characters) => characters.join(""))

/** Characters that encodings write in other ways, among those of keys. */
const anyUnit = fc.constantFrom(...'abcXYZ0189-._~+/=%&<\\"\u00e9')

const reversed = (text: string): string => [...text].toReversed().join("")

/** What the programs send instead of a key, as text. */
const credentials = [...invalid, ...near].map((derive) => (key: string) => {
  const { authorization = [], headers = [], query } = derive(key)
  return [...authorization, ...headers.map(([, value]) => value), ...(query === undefined ? [] : [query])]
})

/** Returns the length of the longest string that occurs in both. */
const longestShared = (text: string, spelling: string): number => {
  for (let length = spelling.length; length > 0; length--) {
    for (let at = 0; at + length <= spelling.length; at++) {
      if (text.includes(spelling.slice(at, at + length))) return length
    }
  }
  return 0
}

describe("redaction of the credentials that laws derive from a key", () => {
  it("hides half of a short key after a scheme, and no short word in percent escapes", () => {
    const redact = Redaction.make({ main: "pets-k3y" })
    expect(redact('the token "Bearer pets" is unknown')).toBe('the token "Bearer ‹key:main›" is unknown')
    expect(redact("GET /v1/%70%65%74%73")).toBe("GET /v1/%70%65%74%73")
    expect(redact("%70%65%74%73%2d%6b%33%79")).toBe("‹key:main›")
  })

  it("leaves no 8 characters of the key or of its reverse, and no mistyped key, in a header or a message", () => {
    fc.assert(
      fc.property(keys, fc.constantFrom(...credentials), (key, derive) => {
        const fixed: ReadonlyArray<string> = derive("another-key")
        const redact = Redaction.make({ main: key })
        for (const value of derive(key)) {
          // Values that are not derived from the key may contain any text.
          if (fixed.includes(value)) continue
          for (const token of [value, value.replace(/^(?:Bearerx?|Basic|Token) /, "")]) {
            for (const text of [
              token,
              JSON.stringify({ name: "authorization", value: token }),
              JSON.stringify({ message: `invalid key ${token}` }),
              JSON.stringify({ message: `The key '${token}' is unknown.` }),
              JSON.stringify({ message: `The key is unknown: ${token}.` })
            ]) {
              const clean = redact(text)
              const rest = clean
                .replace(/‹[^›]*›/g, "›")
                .replace(/"name":"authorization"|"value"|Bearerx?|Basic|Token|and more/g, "›")
                .replace(/invalid key|The key|is unknown|message/g, "›")
              for (const spelling of [key, reversed(key)]) {
                expect(longestShared(rest, spelling), `${text} became ${clean}`).toBeLessThan(
                  Math.min(key.length - 1, 8)
                )
              }
              if (token.length === key.length && !token.includes(" ")) expect(clean).not.toContain(token)
            }
          }
        }
      }),
      { numRuns: 1_500 }
    )
  })

  it.each([
    ["abcd1234", "abcd123"],
    ["abcd1234", "abcd1_34"],
    ["swordfish", "hsifdrows"],
    ["sw0rdfish-16-abc", "sw0rdfis"],
    ["sw0rdfish-of-31-characters-abcd", "sw0rdfish-of-31"]
  ])("replaces, for the key %s, the text %s in a message", (key, token) => {
    const redact = Redaction.make({ main: key })
    expect(redact(`{"message":"unknown key ${token}"}`)).toBe('{"message":"unknown key ‹key:main›"}')
  })

  it("keeps fewer than 8 characters of a long key in a message, because they may occur by chance", () => {
    const redact = Redaction.make({ main: "animals-main-key" })
    expect(redact('{"message":"no animals"}')).toBe('{"message":"no animals"}')
  })

  it("keeps credentials that have nothing in common with a key", () => {
    const redact = Redaction.make({ main: "swordfish", tiny: "opensesame-0123456789" })
    expect(redact("Bearer no-such-key-000")).toBe("Bearer no-such-key-000")
  })

  it("replaces a truncated or reversed key after a scheme", () => {
    const redact = Redaction.make({ main: "swordfish", tiny: "opensesame-0123456789" })
    expect(redact('{"value":"Bearer swordfis"}')).toBe('{"value":"Bearer ‹key:main›"}')
    expect(redact("Bearer hsifdrows")).toBe("Bearer ‹key:main›")
  })

  it.each([
    ["percent-encoded", (key: string) => encodeURIComponent(key)],
    ["percent-encoded in lower case", (key: string) => encodeURIComponent(key).toLowerCase()],
    [
      "percent-encoded, each byte",
      (key: string) => Buffer.from(key).toString("hex").replaceAll(/../g, "%$&")
    ],
    ["in JSON", (key: string) => JSON.stringify(key).slice(1, -1)],
    ["in JSON inside JSON", (key: string) => JSON.stringify(JSON.stringify(key)).slice(3, -3)],
    ["in HTML", (key: string) => markup`${key}`.text],
    ["in base64", (key: string) => Buffer.from(key).toString("base64")],
    ["in base64 after one byte", (key: string) => Buffer.from(`:${key}`).toString("base64")],
    ["in base64url after two bytes", (key: string) => Buffer.from(`a:${key}:`).toString("base64url")],
    ["reversed and in base64", (key: string) => Buffer.from(reversed(key)).toString("base64")]
  ])("replaces a key %s", (_, encode) => {
    fc.assert(
      fc.property(fc.string({ unit: anyUnit, minLength: 11, maxLength: 60 }), (key) => {
        const written = encode(key)
        const clean = Redaction.make({ main: key })(`{"message":"unknown key ${written}, sorry"}`)
        expect(clean).toContain("‹key:main›")
        expect(longestShared(clean.replace(/‹[^›]*›|message|unknown|sorry/g, "›"), written)).toBeLessThan(8)
      })
    )
  })
})
