import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Draw from "./Draw.ts"

const seeded = <A>(effect: Effect.Effect<A>, seed: number): A =>
  Effect.runSync(Random.withSeed(effect, String(seed)))

const sizes = fc.record({
  a: fc.integer({ min: 1, max: 6 }),
  b: fc.integer({ min: 1, max: 5 }),
  c: fc.nat(4)
})

const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index)

describe("Draw.pairs", () => {
  it("returns rows that contain every pair of values of two dimensions", () => {
    fc.assert(
      fc.property(sizes, fc.nat(), ({ a, b, c }, seed) => {
        const dimensions = { a: numbers(a), b: numbers(b), c: numbers(c + 1) }
        const rows = seeded(Draw.pairs(dimensions), seed)
        const all = [
          ["a", "b"],
          ["a", "c"],
          ["b", "c"]
        ] as const
        for (const [first, second] of all) {
          const seen = new Set(rows.map((row) => `${row[first]} ${row[second]}`))
          expect(seen.size).toBe(dimensions[first].length * dimensions[second].length)
        }
      })
    )
  })

  it("returns only the product of two dimensions, the first values first", () => {
    const rows = seeded(Draw.pairs({ a: [1, 2, 3], b: ["x", "y"] }), 1)
    expect(rows).toHaveLength(6)
    expect(rows[0]).toEqual({ a: 1, b: "x" })
    expect(rows.at(-1)).toEqual({ a: 3, b: "y" })
  })

  it("returns at most 13 rows for four dimensions of three values", () => {
    const three = [0, 1, 2]
    expect(seeded(Draw.pairs({ a: three, b: three, c: three, d: three }), 1).length).toBeLessThanOrEqual(13)
  })
})

describe("Draw.swarm", () => {
  it("prefers other values in other runs, and draws only its values", () => {
    const favourites = numbers(30).map((seed) =>
      seeded(
        Effect.flatMap(Draw.swarm(["a", "b", "c"]), (draw) => Effect.replicateEffect(draw, 100)),
        seed
      )
    )
    for (const drawn of favourites) for (const value of drawn) expect(["a", "b", "c"]).toContain(value)
    const most = favourites.map((drawn) =>
      ["a", "b", "c"].find((value) => drawn.filter((each) => each === value).length > 50)
    )
    for (const value of ["a", "b", "c"]) expect(most).toContain(value)
  })

  it("draws the same values for the same seed", () => {
    const draw = Effect.flatMap(Draw.swarm(numbers(9)), (each) => Effect.replicateEffect(each, 20))
    expect(seeded(draw, 7)).toEqual(seeded(draw, 7))
  })
})
