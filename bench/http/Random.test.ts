import { describe, expect, it } from "vitest"
import * as Random from "./Random.ts"

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
  it("draws each rank r, counted from 1, in proportion to 1 / r", () => {
    const random = Random.seeded(5)
    const draw = Random.zipf(100)
    const counts = new Array<number>(100).fill(0)
    for (let index = 0; index < 200_000; index++) {
      const rank = draw(random)
      counts[rank] = (counts[rank] ?? Number.NaN) + 1
    }
    const first = counts[0] ?? 0
    for (const rank of [1, 3, 9, 49]) {
      const expected = first / (rank + 1)
      expect(Math.abs((counts[rank] ?? 0) - expected) / expected).toBeLessThan(0.1)
    }
  })
})
