import { describe, expect, it } from "vitest"
import * as Moment from "./Moment.ts"

describe("Moment.duration", () => {
  it("is exact to the millisecond below a minute, and in the largest units above", () => {
    expect([1, 600, 59_999, 60_000, 125_000, 43_200_000, 90_000_007].map(Moment.duration)).toEqual([
      "0.001 s",
      "0.6 s",
      "59.999 s",
      "1 min",
      "2 min 5 s",
      "12 h",
      "1 day 1 h 0.007 s"
    ])
  })
})
