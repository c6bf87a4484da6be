import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { describe, expect, it } from "vitest"
import * as Draw from "./Draw.ts"

const seeded = <A>(effect: Effect.Effect<A>, seed: number): A =>
  Effect.runSync(Random.withSeed(effect, String(seed)))

const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index)

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
