import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as Int64 from "./Int64.ts"

describe("Int64.Int64", () => {
  it("accepts the minimum and the maximum; rejects integers outside the range, doubles and text", () => {
    const accepts = Schema.is(Int64.Int64)
    expect([Int64.min, Int64.max].map((value) => accepts(value))).toEqual([true, true])
    expect([Int64.min - 1n, Int64.max + 1n, 1, "1"].map((value) => accepts(value))).toEqual([
      false,
      false,
      false,
      false
    ])
  })
})
