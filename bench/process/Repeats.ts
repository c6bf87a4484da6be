/** From the values of several repeats to one figure. */
import * as Spread from "../results/Spread.ts"
import type { Figure, Unit } from "./Figure.ts"

/** How often everything is measured. */
export const REPEATS = 5

export const figure = (group: string, name: string, unit: Unit, values: ReadonlyArray<number>): Figure => {
  const { max, median, min } = Spread.of(values)
  return { group, name, unit, value: median, low: min, high: max }
}
