/** Draws conforming variants: plain servers whose choices together contain every pair of values of two choices. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Pairs from "../../programs/Pairs.ts"
import * as Choices from "./Choices.ts"

export interface Variant {
  /** The seed of the drawing, and the number of the variant in it. */
  readonly id: string
  readonly choices: Choices.Choices
}

/** Draws the variants of a seed; the first variants contain most of the pairs. */
export const of = (seed: number): ReadonlyArray<Variant> =>
  Effect.runSync(Random.withSeed(Pairs.cover(Choices.values), seed)).map((choices, index) => ({
    id: `${seed}.${index}`,
    choices
  }))
