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

/** Returns the choices of a variant that differ from those of an ordinary server, as text. */
export const describe = ({ choices }: Variant): string =>
  Object.entries(choices)
    .filter(([name, value]) => value !== Reflect.get(Choices.defaults, name))
    .map(([name, value]) => `${name}: ${value instanceof RegExp ? value : show(value)}`)
    .join(", ")

const show = (value: unknown): string => {
  const text = JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each))
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
