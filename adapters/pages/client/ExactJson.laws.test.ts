import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { prettyPrint } from "./ExactJson.js"

/** The text of a JSON value: compact, and as `prettyPrint` should return it. */
interface Written {
  readonly compact: string
  readonly pretty: (indentation: string) => string
}

const literal = (text: string): Written => ({ compact: text, pretty: () => text })

/** Generates numbers as other programs write them, with more digits than a double has. */
const number = fc
  .tuple(
    fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
    fc.option(fc.stringMatching(/^[0-9]{1,25}$/)),
    fc.option(fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/))
  )
  .map(([whole, fraction, exponent]) =>
    literal(`${whole}${fraction === null ? "" : `.${fraction}`}${exponent ?? ""}`)
  )

const text = fc.string({ unit: "binary" }).map((value) => JSON.stringify(value))

const bracketed = (open: string, close: string, items: ReadonlyArray<Written>): Written => ({
  compact: `${open}${items.map(({ compact }) => compact).join(",")}${close}`,
  pretty: (indentation) => {
    if (items.length === 0) return open + close
    const inner = `${indentation}  `
    return `${open}\n${items.map(({ pretty }) => inner + pretty(inner)).join(",\n")}\n${indentation}${close}`
  }
})

const { value } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom("true", "false", "null").map(literal),
    number,
    text.map(literal),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => bracketed("[", "]", items)),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map((fields) =>
      bracketed(
        "{",
        "}",
        fields.map(([name, field]) => ({
          compact: `${name}:${field.compact}`,
          pretty: (indentation) => `${name}: ${field.pretty(indentation)}`
        }))
      )
    )
  )
}))

describe("prettyPrint", () => {
  it("keeps every digit and every character of each value", () => {
    fc.assert(
      fc.property(value, ({ compact, pretty }) => {
        expect(prettyPrint(compact)).toBe(pretty(""))
      })
    )
  })

  it("returns the same as JSON.stringify if no number is rounded", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (json) => {
        expect(prettyPrint(JSON.stringify(json))).toBe(JSON.stringify(json, null, 2))
      })
    )
  })

  it("returns the same result for any white space in the text", () => {
    fc.assert(
      fc.property(value, ({ pretty }) => {
        const printed = pretty("")
        expect(prettyPrint(printed)).toBe(printed)
        expect(prettyPrint(printed.replaceAll("\n", "\r\n\t"))).toBe(printed)
      })
    )
  })

  it("returns undefined for text that is not JSON", () => {
    for (const invalid of ["", "{", "[1,]", "nul", '{"a" 1}', "<html></html>", '"\n"']) {
      expect(prettyPrint(invalid)).toBeUndefined()
    }
  })

  it("does not round 9007199254740993", () => {
    expect(prettyPrint('{"id":9007199254740993}')).toBe('{\n  "id": 9007199254740993\n}')
  })
})
