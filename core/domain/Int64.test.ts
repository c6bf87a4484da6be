import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as Int64 from "./Int64.ts"

describe("Int64.fromJsonNumber", () => {
  it.each([
    ["0", 0n],
    ["-0", 0n],
    ["-0.0e5", 0n],
    ["0e999999999", 0n],
    ["1.0", 1n],
    ["1e3", 1000n],
    ["1E+3", 1000n],
    ["100e-2", 1n],
    ["1e-0", 1n],
    ["1e0000000000000000000002", 100n],
    ["12.50e1", 125n],
    ["0.0000001e7", 1n],
    ["-1.5e1", -15n],
    ["9007199254740993", 9_007_199_254_740_993n],
    ["999999999999999999", 999_999_999_999_999_999n],
    ["9223372036854775807", Int64.max],
    ["-9223372036854775808", Int64.min],
    ["9.223372036854775807e18", Int64.max],
    ["-922337203685477580800e-2", Int64.min]
  ])("parses %s to its exact value", (text, value) => {
    expect(Int64.fromJsonNumber(text)).toBe(value)
  })

  it.each([
    "1.5",
    "-0.1",
    "1e-1",
    "105e-2",
    "9223372036854775807.5",
    "9223372036854775808",
    "-9223372036854775809",
    "9.3e18",
    "1e19",
    "1e999999999",
    "1e-999999999",
    "-1e99999999999999999999999999",
    "1e-99999999999999999999999999"
  ])("rejects %s, which is not an int64", (text) => {
    expect(Int64.fromJsonNumber(text)).toBeUndefined()
  })
})

describe("Int64.fromCanonicalText", () => {
  it.each(["0", "7", "-1", "9223372036854775807", "-9223372036854775808"])("accepts %s", (text) => {
    expect(Int64.fromCanonicalText(text)).toBe(BigInt(text))
  })

  it.each([
    "",
    "-",
    "-0",
    "00",
    "01",
    "-01",
    "+1",
    " 1",
    "1 ",
    "1\n",
    "1.0",
    "1e3",
    "0x1",
    "1n",
    "1_0",
    "NaN",
    "Infinity",
    "__proto__",
    "٣",
    "１",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "99999999999999999999"
  ])("rejects %j, which is not the canonical text of an int64", (text) => {
    expect(Int64.fromCanonicalText(text)).toBeUndefined()
  })
})

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
