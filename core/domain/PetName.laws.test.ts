import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { petName } from "./NewPet.arbitrary.ts"
import * as PetName from "./PetName.ts"

const codeUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: codeUnit, maxLength: 300 }),
  fc.string({ unit: fc.constantFrom(" ", "\t", "\u00a0", "\ufeff", "\0", "a"), maxLength: 6 }),
  fc.string({ unit: fc.constantFrom("😀", "a"), minLength: 250, maxLength: 260 }),
  petName
)

const codePoints = (text: string): number => Array.from(text).length

const survivesUtf8 = (text: string): boolean => Buffer.from(text, "utf8").toString("utf8") === text

describe("PetName.problem", () => {
  it("returns undefined if and only if the name is well-formed, has 1 to 255 code points, not all white space, and no U+0000", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const isValid =
          codePoints(text) >= 1 &&
          codePoints(text) <= 255 &&
          text.trim() !== "" &&
          !text.includes("\0") &&
          survivesUtf8(text)
        expect(PetName.problem(text) === undefined).toBe(isValid)
      }),
      { numRuns: 3000 }
    )
  })
})

describe("PetName.PetName", () => {
  it("accepts a name if and only if `problem` returns undefined", () => {
    const accepts = Schema.is(PetName.PetName)
    fc.assert(
      fc.property(anyText, (text) => {
        expect(accepts(text)).toBe(PetName.problem(text) === undefined)
      })
    )
  })

  it("has a JSON Schema that accepts the same well-formed names", () => {
    const published = Schema.toJsonSchemaDocument(PetName.PetName).schema
    const pattern = new RegExp(String(published.pattern), "u")
    expect(published).toMatchObject({ type: "string", minLength: 1, maxLength: 255 })
    fc.assert(
      fc.property(anyText.filter(survivesUtf8), (text) => {
        const length = codePoints(text)
        expect(length >= 1 && length <= 255 && pattern.test(text)).toBe(PetName.problem(text) === undefined)
      })
    )
  })
})
