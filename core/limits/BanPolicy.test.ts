import { describe, expect, it } from "vitest"
import * as BanPolicy from "./BanPolicy.ts"

const changed = (change: object): BanPolicy.BanPolicy => ({ ...BanPolicy.standard, ...change })

describe("BanPolicy.isValid", () => {
  it.each([{}, { strikes: 1 }, { strikeIntervalMs: 0 }, { durationsMs: [1] }, { cleanMs: BanPolicy.maxMs }])(
    "accepts the standard policy changed by %j",
    (change) => {
      expect(BanPolicy.isValid(changed(change))).toBe(true)
    }
  )

  it.each([
    ...["strikes", "withinMs", "strikeIntervalMs", "cleanMs"].flatMap((name) =>
      [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, BanPolicy.maxMs + 1, "1", null].map((value) => ({
        [name]: value
      }))
    ),
    { strikes: 0 },
    { withinMs: 0 },
    { cleanMs: 0 },
    ...[[], [0], [60_000, 0.5], [Number.NaN], 60_000, null].map((durationsMs) => ({ durationsMs }))
  ])("rejects the standard policy changed by %o", (change) => {
    expect(BanPolicy.isValid(changed(change))).toBe(false)
  })
})
