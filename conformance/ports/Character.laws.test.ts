import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Character from "./Character.ts"

describe("Character.any", () => {
  it("generates the same strings as the unit `binary` of fast-check", () => {
    const parameters = { seed: 1, numRuns: 200 }
    expect(fc.sample(fc.string({ unit: Character.any }), parameters)).toEqual(
      fc.sample(fc.string({ unit: "binary" }), parameters)
    )
  })

  it("can shrink exactly the strings of one character", () => {
    const first = fc.sample(Character.any, { seed: 1, numRuns: 100 })
    for (const text of [...first, "\0", "\ud7ff", "\ue000", "\u{10ffff}"]) {
      expect(Character.any.canShrinkWithoutContext(text)).toBe(true)
    }
    for (const text of ["", "ab", "\ud800", "\udfff", "a\u0301"]) {
      expect(Character.any.canShrinkWithoutContext(text)).toBe(false)
    }
  })
})
