import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Bearer from "./Bearer.ts"

describe("Bearer.parse", () => {
  it.each([undefined, ""])("returns undefined for the header %j", (header) => {
    expect(Bearer.parse(header)).toBeUndefined()
  })

  it.each([
    ["Bearer abc", "abc"],
    ["bearer abc", "abc"],
    ["BEARER abc", "abc"],
    ["bEaReR abc", "abc"],
    ["Bearer   abc", "abc"],
    ["Bearer ast_0123456789", "ast_0123456789"],
    ["Bearer a-._~+/b==", "a-._~+/b=="],
    [`Bearer ${"a".repeat(512)}`, "a".repeat(512)],
    [`Bearer ${"a".repeat(511)}=`, `${"a".repeat(511)}=`]
  ])("returns the token of the header %j", (header, token) => {
    expect(Bearer.parse(header)).toEqual({ token })
  })

  it.each([
    ["only the scheme", "Bearer"],
    ["the scheme and spaces", "Bearer    "],
    ["another scheme", "Basic abc"],
    ["a scheme that ends with Bearer", "XBearer abc"],
    ["a scheme that starts with Bearer", "Bearers abc"],
    ["no scheme", "abc"],
    ["no space", "Bearerabc"],
    ["a colon", "Bearer: abc"],
    ["two credentials joined by a comma and a space", "Bearer abc, Bearer def"],
    ["two credentials joined by a comma", "Bearer abc,Bearer def"],
    ["two tokens", "Bearer abc def"],
    ["a tab before the token", "Bearer\tabc"],
    ["a tab after the space", "Bearer \tabc"],
    ["a space before the scheme", " Bearer abc"],
    ["a trailing space", "Bearer abc "],
    ["a trailing line break", "Bearer abc\n"],
    ["a second line", "Basic x\nBearer abc"],
    ["a NUL", "Bearer abc\u0000"],
    ["padding in the middle", "Bearer a=b"],
    ["only padding", "Bearer =="],
    ["a quoted token", 'Bearer "abc"'],
    ["a token in brackets", "Bearer <abc>"],
    ["a percent-encoded token", "Bearer %61bc"],
    ["a parameter", "Bearer token=abc"],
    ["a non-ASCII token", "Bearer äbc"],
    ["a no-break space instead of a space", "Bearer\u00a0abc"],
    ["a token of 513 characters", `Bearer ${"a".repeat(513)}`],
    ["a token of 100,000 characters", `Bearer ${"a".repeat(100_000)}`],
    ["100,000 spaces", `Bearer${" ".repeat(100_000)}`],
    ["100,000 spaces and a comma", `Bearer${" ".repeat(100_000)},`],
    ["a token, 100,000 padding characters and a comma", `Bearer a${"=".repeat(100_000)},`]
  ])('returns "malformed" for a header with %s', (_, header) => {
    expect(Bearer.parse(header)).toBe("malformed")
  })

  it("returns a token only if just the scheme and spaces precede it, for any text", () => {
    const words = fc.array(fc.constantFrom("Bearer", "bearer", " ", ",", "abc", "=", "\t", "%20", "ä"), {
      maxLength: 8
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: "binary" }),
          words.map((all) => all.join(""))
        ),
        (header) => {
          const parsed = Bearer.parse(header)
          if (parsed === undefined || parsed === "malformed") {
            expect(parsed === undefined).toBe(header === "")
            return
          }
          const [scheme, ...spaces] = header.slice(0, -parsed.token.length).split(" ")
          expect(scheme?.toLowerCase()).toBe("bearer")
          expect(spaces.length).toBeGreaterThan(0)
          expect(spaces.join("")).toBe("")
          expect(header.endsWith(parsed.token)).toBe(true)
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("returns a valid token unchanged", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9._~+/-]{1,500}={0,12}$/),
        fc.constantFrom("Bearer", "bearer", "BEARER"),
        fc.integer({ min: 1, max: 9 }),
        (token, scheme, spaces) => {
          expect(Bearer.parse(scheme + " ".repeat(spaces) + token)).toEqual({ token })
        }
      )
    )
  })
})
