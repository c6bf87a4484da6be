import { describe, expect, it } from "vitest"
import * as Budget from "./Budget.ts"

describe("the time of a run", () => {
  it("is bounded for quick runs only", () => {
    expect([0, 599.9, 600, 9_000].map((seconds) => Budget.isLeft(true, seconds))).toEqual([
      ...[true, true, false, false]
    ])
    expect(Budget.isLeft(false, 9_000)).toBe(true)
  })

  it("is reported with the time that a quick run should take", () => {
    expect(Budget.report(true, 119.6)).toBe("120 s, within 120 s")
    expect(Budget.report(true, 300)).toBe("300 s, more than the 120 s of two idle cores")
    expect(Budget.report(false, 300)).toBe("300 s")
  })
})
