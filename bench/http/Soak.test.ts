import { describe, expect, it } from "vitest"
import * as Soak from "./Soak.ts"

describe("growth", () => {
  it("is the rise of the line of least squares", () => {
    expect(
      Soak.growth([
        [60, 100],
        [90, 115],
        [120, 130]
      ])
    ).toEqual({ bytes: 30, share: 0.3 })
  })

  it("is zero where memory only goes up and down", () => {
    expect(
      Soak.growth([
        [0, 100],
        [1, 120],
        [2, 120],
        [3, 100]
      ]).bytes
    ).toBeCloseTo(0)
  })

  it("is zero for a single sample", () => {
    expect(Soak.growth([[5, 100]])).toEqual({ bytes: 0, share: 0 })
  })
})
