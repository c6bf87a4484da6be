import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as PetName from "../../core/domain/PetName.ts"
import * as Draws from "./Draws.ts"

describe("Draws.text", () => {
  const all = fc.sample(Draws.text, { seed: 1, numRuns: 500 })

  it("generates valid names of many lengths, with characters of all planes", () => {
    expect(all.filter((name) => PetName.problem(name) !== undefined)).toEqual([])
    const codePoints = all.flatMap((name) => Array.from(name, (each) => each.codePointAt(0) ?? 0))
    expect(new Set(codePoints.map((each) => each >> 16)).size).toBe(17)
    expect(new Set(all.map((name) => [...name].length)).size).toBeGreaterThan(10)
  })

  it("recognizes exactly the valid names, so that cases with them can be made smaller", () => {
    for (const name of [...all, "\u{10ffff}", "\ud7ff\ue000"])
      expect(Draws.text.canShrinkWithoutContext(name)).toBe(true)
    expect(Draws.text.canShrinkWithoutContext(7)).toBe(false)
    for (const name of ["", " ", "a\0", "\ud800", "a\udfff", "x".repeat(256)])
      expect(Draws.text.canShrinkWithoutContext(name)).toBe(false)
  })
})
