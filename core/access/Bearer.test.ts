import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Bearer from "./Bearer.ts"

describe("an Authorization header", () => {
  it.each([undefined, ""])("%j has no credential", (header) => {
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
  ])("%j has its token", (header, token) => {
    expect(Bearer.parse(header)).toEqual({ token })
  })

  it.each([
    ["the scheme alone", "Bearer"],
    ["the scheme and spaces", "Bearer    "],
    ["another scheme", "Basic abc"],
    ["a scheme that ends with Bearer", "XBearer abc"],
    ["a scheme that starts with Bearer", "Bearers abc"],
    ["no scheme", "abc"],
    ["no space", "Bearerabc"],
    ["a colon", "Bearer: abc"],
    ["two joined credentials", "Bearer abc, Bearer def"],
    ["two joined credentials without a space", "Bearer abc,Bearer def"],
    ["two tokens", "Bearer abc def"],
    ["a tab before the token", "Bearer\tabc"],
    ["a tab after the space", "Bearer \tabc"],
    ["a space before the scheme", " Bearer abc"],
    ["a trailing space", "Bearer abc "],
    ["a trailing line break", "Bearer abc\n"],
    ["a second line", "Basic x\nBearer abc"],
    ["a NUL", "Bearer abc\u0000"],
    ["padding in the middle", "Bearer a=b"],
    ["padding alone", "Bearer =="],
    ["a quoted token", 'Bearer "abc"'],
    ["a token in brackets", "Bearer <abc>"],
    ["a percent-encoded token", "Bearer %61bc"],
    ["a parameter", "Bearer token=abc"],
    ["a token beyond ASCII", "Bearer äbc"],
    ["a scheme with a look-alike letter", "Bearer\u00a0abc"],
    ["a token of 513 characters", `Bearer ${"a".repeat(513)}`],
    ["a token of 100 000 characters", `Bearer ${"a".repeat(100_000)}`],
    ["100 000 spaces", `Bearer${" ".repeat(100_000)}`],
    ["100 000 spaces and a comma", `Bearer${" ".repeat(100_000)},`],
    ["a token, 100 000 signs of padding and a comma", `Bearer a${"=".repeat(100_000)},`]
  ])("with %s is malformed", (_, header) => {
    expect(Bearer.parse(header)).toBe("malformed")
  })

  it("with any text is parsed without an exception", () => {
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

  it("with a valid token has that token unchanged", () => {
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
