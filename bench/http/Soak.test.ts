import { describe, expect, it } from "vitest"
import * as Soak from "./Soak.ts"

describe("Soak.growth", () => {
  it("returns the rise of the least-squares line, in bytes and as a share of its first value", () => {
    expect(
      Soak.growth([
        [60, 100],
        [90, 115],
        [120, 130]
      ])
    ).toEqual({ bytes: 30, share: 0.3 })
  })

  it("returns zero if memory rises and falls by the same amount", () => {
    expect(
      Soak.growth([
        [0, 100],
        [1, 120],
        [2, 120],
        [3, 100]
      ]).bytes
    ).toBeCloseTo(0)
  })

  it("returns zero for a single sample", () => {
    expect(Soak.growth([[5, 100]])).toEqual({ bytes: 0, share: 0 })
  })
})
