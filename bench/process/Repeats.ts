/** Turns the values of several repeats into one figure. */
import * as Spread from "../results/Spread.ts"
import type { Figure, Unit } from "./Figure.ts"

/** The number of measurements of each figure. */
export const REPEATS = 5

export const figure = (group: string, name: string, unit: Unit, values: ReadonlyArray<number>): Figure => {
  const { high, low, median } = Spread.of(values)
  return { group, name, unit, value: median, low, high }
}
