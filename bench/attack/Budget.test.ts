import { describe, expect, it } from "vitest"
import * as Budget from "./Budget.ts"

describe("the time budget of a run", () => {
  it("ends after 600 s in quick runs, and never in full runs", () => {
    expect([0, 599.9, 600, 9_000].map((seconds) => Budget.hasTimeLeft(true, seconds))).toEqual([
      ...[true, true, false, false]
    ])
    expect(Budget.hasTimeLeft(false, 9_000)).toBe(true)
  })

  it("is reported together with the time that a quick run should take", () => {
    expect(Budget.report(true, 119.6)).toBe("120 s, within 120 s")
    expect(Budget.report(true, 300)).toBe("300 s, more than the 120 s expected on two idle cores")
    expect(Budget.report(false, 300)).toBe("300 s")
  })
})
