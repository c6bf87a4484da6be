import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ExactJson from "./ExactJson.ts"

const spaces = fc.constantFrom("", " ", "\n", "\r\n\t ")

describe("ExactJson.parse", () => {
  it("returns the same value as JSON.parse, with any white space", () => {
    fc.assert(
      fc.property(fc.jsonValue(), spaces, (value, space) => {
        const text = `${space}${JSON.stringify(value, null, space)}${space}`
        expect(ExactJson.parse(text, Number)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 }
    )
  })

  it("parses member names and strings with quotes, backslashes and escapes like JSON.parse", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('"', "\\", "n", "\u0001", "é", "[", "}", ",", "1")), (parts) => {
        const word = parts.join("")
        const text = JSON.stringify({ [word]: [word], z: word })
        expect(ExactJson.parse(text, Number)).toEqual(JSON.parse(text))
      })
    )
    for (const text of ['{"__proto__":{"a":1},"a":2,"a":3}', '"\\ud83d\\u0031"', "[]", "{}", "[[],{}]"]) {
      expect(ExactJson.parse(text, Number)).toEqual(JSON.parse(text))
    }
    expect(Object.keys(Object(ExactJson.parse('{"__proto__":1}', Number)))).toEqual(["__proto__"])
  })

  it("passes the source text of every number to the callback", () => {
    const sources = ["0", "-0", "1.0", "1e3", "1E+2", "-9223372036854775808", "1e999", "0.10"]
    expect(ExactJson.parse(`[${sources.join(" ,")}]`, (source) => source)).toEqual(sources)
    expect(ExactJson.parse("12", (source) => source)).toBe("12")
  })

  it("throws a SyntaxError if and only if JSON.parse does", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom("", "01", "[1,]", "{a:1}", "\ufeff{}", "1 2")),
        (text) => {
          let expected: unknown
          try {
            expected = [JSON.parse(text)]
          } catch (error) {
            expected = error instanceof SyntaxError
          }
          let actual: unknown
          try {
            actual = [ExactJson.parse(text, Number)]
          } catch (error) {
            actual = error instanceof SyntaxError
          }
          expect(actual).toEqual(expected)
        }
      ),
      { numRuns: 500 }
    )
  })
})
