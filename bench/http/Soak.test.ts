import { describe, expect, it } from "vitest"
import * as Soak from "./Soak.ts"

describe("Soak.growth", () => {
  it("returns the rise of the least-squares line, in bytes and as a share of its first value", () => {
    expect(Soak.growth([100, 115, 130])).toEqual({ bytes: 30, share: 0.3 })
  })

  it("returns zero if memory rises and falls by the same amount", () => {
    expect(Soak.growth([100, 120, 120, 100]).bytes).toBeCloseTo(0)
  })

  it("returns zero for a single sample", () => {
    expect(Soak.growth([100])).toEqual({ bytes: 0, share: 0 })
  })
})
