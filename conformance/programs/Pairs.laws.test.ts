import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Pairs from "./Pairs.ts"

const values = fc.integer({ min: 1, max: 6 }).map((count) => Array.from({ length: count }, (_, at) => at))
const dimensions = fc.dictionary(fc.string(), values, { minKeys: 2, maxKeys: 7, noNullPrototype: true })

describe("Pairs.cover", () => {
  it("returns rows that contain every pair of values of two dimensions, and no row in vain", () => {
    fc.assert(
      fc.property(dimensions, fc.nat(), (all, seed) => {
        const rows = Effect.runSync(Random.withSeed(Pairs.cover(all), seed))
        const pairsOf = (row: (typeof rows)[number]) =>
          Object.entries(row).flatMap(([name, value]) =>
            Object.entries(row).flatMap(([other, second]) =>
              name < other ? [JSON.stringify([name, value, other, second])] : []
            )
          )
        const names = Object.keys(all)
        const wanted = names.flatMap((name) =>
          names.flatMap((other) => (name < other ? (all[name]?.length ?? 0) * (all[other]?.length ?? 0) : 0))
        )
        const seen = new Set<string>()
        for (const row of rows) {
          const before = seen.size
          for (const pair of pairsOf(row)) seen.add(pair)
          expect(seen.size).toBeGreaterThan(before)
        }
        expect(seen.size).toBe(wanted.reduce((sum, count) => sum + count, 0))
      })
    )
  })
})
