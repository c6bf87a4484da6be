import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Pairwise from "./Pairwise.ts"

/** Generates a pair of values that must not occur in the same row. */
const exclusion = (sizes: ReadonlyArray<number>) =>
  fc
    .tuple(fc.nat(sizes.length - 1), fc.nat(9), fc.nat(sizes.length - 1), fc.nat(9))
    .map((pair) => pair as Pairwise.Pair)

const input = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 5 }).chain((sizes) =>
  fc.record({
    sizes: fc.constant(sizes),
    excluded: fc.array(exclusion(sizes), { maxLength: 4 }),
    seed: fc.integer()
  })
)

const optionsOf = (excluded: ReadonlyArray<Pairwise.Pair>, seed: number) => ({
  seed,
  allows: (row: Pairwise.Partial) =>
    !excluded.some(([first, value, second, otherValue]) => row[first] === value && row[second] === otherValue)
})

/** Returns every combination of values, including excluded ones. */
const product = (sizes: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<number>> =>
  sizes.reduce<ReadonlyArray<ReadonlyArray<number>>>(
    (rows, size) => rows.flatMap((row) => Array.from({ length: size }, (_, value) => [...row, value])),
    [[]]
  )

describe("Pairwise.cover", () => {
  it("returns allowed rows that together contain every pair that an allowed row can contain", () => {
    fc.assert(
      fc.property(input, ({ excluded, seed, sizes }) => {
        const options = optionsOf(excluded, seed)
        const rows = Pairwise.cover(sizes, options)
        const expected = new Set(product(sizes).filter(options.allows).flatMap(Pairwise.namesOf))
        expect(new Set(rows.flatMap(Pairwise.namesOf))).toEqual(expected)
        expect(rows.filter((row) => !options.allows(row))).toEqual([])
        expect(Pairwise.pairs(sizes, options).length).toBe(expected.size)
      })
    )
  })

  it("returns the same rows for the same seed", () => {
    fc.assert(
      fc.property(input, ({ excluded, seed, sizes }) => {
        const options = optionsOf(excluded, seed)
        expect(Pairwise.cover(sizes, options)).toEqual(Pairwise.cover(sizes, options))
      })
    )
  })

  it("returns no row twice, and at most as many rows as there are combinations", () => {
    fc.assert(
      fc.property(input, ({ excluded, seed, sizes }) => {
        const options = optionsOf(excluded, seed)
        const rows = Pairwise.cover(sizes, options)
        expect(new Set(rows.map(String)).size).toBe(rows.length)
        expect(rows.length).toBeLessThanOrEqual(product(sizes).length)
      })
    )
  })

  it("returns at most 13 rows for four dimensions of three values", () => {
    expect(Pairwise.cover([3, 3, 3, 3], { seed: 1 }).length).toBeLessThanOrEqual(13)
  })

  it("returns rows in ascending order of the sum of their indices", () => {
    const rows = Pairwise.cover([3, 3, 3, 3], { seed: 1 })
    const sums = rows.map((row) => row.reduce((sum, value) => sum + value, 0))
    expect(sums).toEqual(sums.toSorted((a, b) => a - b))
  })
})
