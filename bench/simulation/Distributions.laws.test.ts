import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Distributions from "./Distributions.ts"

const DRAWS = 60_000

describe("Distributions.zipf", () => {
  it.each([
    [1, 1],
    [2, 1],
    [7, 0],
    [20, 0.5],
    [20, 1],
    [50, 1.4],
    [5, 3]
  ])("draws each of %d ranks in proportion to 1 / rank^%d", (size, exponent) => {
    const draw = Distributions.zipf(size, exponent)
    const random = Distributions.stream(1, 1)
    const counts = new Map<number, number>()
    for (let count = 0; count < DRAWS; count++) {
      const rank = draw(random)
      counts.set(rank, (counts.get(rank) ?? 0) + 1)
    }
    const weights = Array.from({ length: size }, (_, index) => (index + 1) ** -exponent)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    for (const [index, weight] of weights.entries()) {
      const share = weight / total
      // Five standard deviations; the seed is fixed, so the result is always the same.
      const tolerance = 5 * Math.sqrt((share * (1 - share)) / DRAWS)
      expect(Math.abs((counts.get(index + 1) ?? 0) / DRAWS - share)).toBeLessThanOrEqual(tolerance)
    }
  })

  it("draws the ranks of 10⁸ keys with the expected frequencies for exponent 1", () => {
    const draw = Distributions.zipf(1e8, 1)
    const random = Distributions.stream(2, 1)
    const ranks = Array.from({ length: DRAWS }, () => draw(random))
    // The harmonic numbers of 10⁸ and of 10⁴.
    const [all, few] = [18.997_896, 9.787_606]
    const share = (max: number) => ranks.filter((rank) => rank <= max).length / DRAWS
    expect(share(1)).toBeCloseTo(1 / all, 2)
    expect(share(10_000)).toBeCloseTo(few / all, 2)
    expect(new Set(ranks.filter((rank) => rank > 1e7)).size).toBeGreaterThan(DRAWS / 10)
  })

  it("returns whole ranks within the range for any size and exponent", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e9 }),
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.nat(),
        (size, exponent, seed) => {
          const draw = Distributions.zipf(size, exponent)
          const random = Distributions.stream(seed, 1)
          for (let count = 0; count < 20; count++) {
            const rank = draw(random)
            expect(Number.isInteger(rank) && rank >= 1 && rank <= size).toBe(true)
          }
        }
      )
    )
  })
})

it("Distributions.delay draws milliseconds with the minimum and the mean of the distribution", () => {
  const random = Distributions.stream(3, 1)
  let sum = 0
  for (let count = 0; count < DRAWS; count++) {
    const drawn = Distributions.delay(random, { minMs: 2, meanMs: 3 })
    expect(drawn).toBeGreaterThanOrEqual(2)
    sum += drawn
  }
  expect(sum / DRAWS).toBeCloseTo(5, 1)
})
