import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Random from "./Random.ts"

const DRAWS = 60_000

describe("Random.seeded", () => {
  const sequence = (seed: number) => Array.from({ length: 1_000 }, Random.seeded(seed))

  it("returns the same sequence only for the same seed", () => {
    expect(sequence(7)).toEqual(sequence(7))
    expect(sequence(8)).not.toEqual(sequence(7))
  })

  it("returns values from 0 to less than 1", () => {
    expect(sequence(-3).every((value) => value >= 0 && value < 1)).toBe(true)
  })
})

describe("Random.zipf", () => {
  it.each([1, 2, 20, 1_000])("draws each of %d ranks r in proportion to 1 / r", (size) => {
    const draw = Random.zipf(size)
    const random = Random.seeded(1)
    const counts = new Map<number, number>()
    for (let count = 0; count < DRAWS; count++) {
      const rank = draw(random)
      counts.set(rank, (counts.get(rank) ?? 0) + 1)
    }
    const total = Array.from({ length: size }, (_, index) => 1 / (index + 1)).reduce(
      (sum, each) => sum + each,
      0
    )
    for (let rank = 1; rank <= size; rank++) {
      const share = 1 / rank / total
      // Five standard deviations; the seed is fixed, so the result is always the same.
      const tolerance = 5 * Math.sqrt((share * (1 - share)) / DRAWS)
      expect(Math.abs((counts.get(rank) ?? 0) / DRAWS - share)).toBeLessThanOrEqual(tolerance)
    }
  })

  it("draws the ranks of 10⁸ keys with the expected frequencies", () => {
    const draw = Random.zipf(1e8)
    const random = Random.seeded(2)
    const ranks = Array.from({ length: DRAWS }, () => draw(random))
    // The harmonic numbers of 10⁸ and of 10⁴.
    const [all, few] = [18.997_896, 9.787_606]
    const share = (max: number) => ranks.filter((rank) => rank <= max).length / DRAWS
    expect(share(1)).toBeCloseTo(1 / all, 2)
    expect(share(10_000)).toBeCloseTo(few / all, 2)
    expect(new Set(ranks.filter((rank) => rank > 1e7)).size).toBeGreaterThan(DRAWS / 10)
  })

  it("returns whole ranks from 1 to the size", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), fc.nat(), (size, seed) => {
        const draw = Random.zipf(size)
        const random = Random.seeded(seed)
        for (let count = 0; count < 20; count++) {
          const rank = draw(random)
          expect(Number.isInteger(rank) && rank >= 1 && rank <= size).toBe(true)
        }
      })
    )
  })
})

it("Random.exponential draws numbers of at least 0 with mean 1", () => {
  const random = Random.seeded(3)
  let sum = 0
  for (let count = 0; count < DRAWS; count++) {
    const drawn = Random.exponential(random)
    expect(drawn).toBeGreaterThanOrEqual(0)
    sum += drawn
  }
  expect(sum / DRAWS).toBeCloseTo(1, 1)
})
