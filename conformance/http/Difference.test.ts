import { describe, expect, it } from "vitest"
import * as Difference from "./Difference.ts"

const animal = { id: 7n, name: "Rex", categoryId: 1n, status: undefined }

describe("Difference", () => {
  it("shows two texts around their first difference", () => {
    const long = "a".repeat(300)
    const [first, second] = Difference.texts(`${long}b${long}`, `${long}c${long}`)
    expect(first).toBe(`…"${"a".repeat(20)}b${"a".repeat(19)}"…`)
    expect(second).toBe(`…"${"a".repeat(20)}c${"a".repeat(19)}"…`)
  })

  it("escapes what has no shape of its own", () => {
    expect(Difference.texts("e\u0301", "\u00e9\u00a0\u0000")).toEqual(['"e\\u{301}"', '"é\\u{a0}\\u0000"'])
  })

  it("names only the fields in which two animals differ", () => {
    expect(Difference.between(animal, { ...animal, categoryId: 2n })).toEqual([
      "animal 7, categoryId 1",
      "animal 7, categoryId 2"
    ])
  })
})
