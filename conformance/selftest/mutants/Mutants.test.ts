import { describe, expect, it } from "vitest"
import { install } from "./Mutant.ts"
import { mutants, operators, places, sample } from "./Mutants.ts"
import { absent } from "./Operator.ts"

/** A sequence of values for each kind; every operator of the kind must change at least one of the values. */
const series: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  integer: [7n, 19_007_199_254_740_993n, 15n],
  count: [7n, 90n, 15n],
  text: [" Ré  <b> \u{1f408} e\u0301 'a' \\\\ %41\n\0x", "Aa".repeat(150), "rex"],
  words: ["invalid", "other"],
  type: ["application/json", "text/html"],
  status: ["available", "sold", "pending"],
  list: [["a", "b", "c"], Array.from({ length: 100 }, (_, index) => index), ["a"]],
  body: ["{}", `[${"7,".repeat(3_000)}7]`, "[1]"],
  code: [200n, 404n],
  call: ["call"],
  rule: ["apply"],
  caller: ["key:1", "key:2", "key:1"]
}

describe("the list of mutants", () => {
  it("contains more than 5000 mutants, and all ids are unique", () => {
    expect(mutants.length).toBeGreaterThan(5_000)
    expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length)
    expect(new Set(places.map(({ id }) => id)).size).toBe(places.length)
    expect(new Set(operators.map(({ id }) => id)).size).toBe(operators.length)
  })

  it("uses only operators that change at least one value of each of their kinds", () => {
    const unused = operators.flatMap(({ id, kinds, make }) =>
      kinds.flatMap((kind) => {
        const change = make()
        const changes = (series[kind] ?? []).map((value) => [value, change(value)] as const)
        return changes.some(([before, after]) => after === absent || before !== after)
          ? []
          : [`${id}: ${kind}`]
      })
    )
    expect(unused).toEqual([])
  })

  it("uses every operator and every place, and contains only faults of an HTTP server", () => {
    expect(operators.filter((operator) => !mutants.some((mutant) => mutant.operator === operator))).toEqual(
      []
    )
    expect(places.filter((place) => !mutants.some((mutant) => mutant.place === place))).toEqual([])
    expect(mutants.filter((mutant) => install(mutant, { reached: 0, changed: 0 }).at !== "http")).toEqual([])
  })

  it("has a sample for each seed, and a smaller sample is a prefix of a larger sample", () => {
    expect(sample(20, 5)).toEqual(sample(50, 5).slice(0, 20))
    expect(sample(20, 5)).not.toEqual(sample(20, 6))
  })
})
