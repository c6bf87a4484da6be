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
})
