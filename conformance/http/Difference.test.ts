import { describe, expect, it } from "vitest"
import * as Difference from "./Difference.ts"

const animal = { id: 7n, name: "Rex", categoryId: 1n, status: undefined }

describe("Difference", () => {
  it("shows two texts around their first difference", () => {
    const long = "a".repeat(300)
    const [first, second] = Difference.texts(`${long}b${long}`, `${long}c${long}`)
    const place = "(601 characters, different from character 301 on)"
    expect(first).toBe(`…"${"a".repeat(20)}b${"a".repeat(19)}"… ${place}`)
    expect(second).toBe(`…"${"a".repeat(20)}c${"a".repeat(19)}"… ${place}`)
  })

  it("tells where a text ends that is cut", () => {
    expect(Difference.texts("ab".repeat(30), "ab".repeat(12))).toEqual([
      `…"${"ab".repeat(20)}"… (60 characters, different from character 25 on)`,
      `…"${"ab".repeat(10)}" (24 characters, then it ends)`
    ])
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
