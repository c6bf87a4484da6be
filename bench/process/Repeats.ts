/** Summarizes repeated measurements as one figure: the median and the quartiles. */
import * as Spread from "../results/Spread.ts"
import type { Figure, Unit } from "./Figure.ts"

/** How often each figure is measured. */
export const REPEATS = 5

export const figure = (group: string, name: string, unit: Unit, values: ReadonlyArray<number>): Figure => {
  const { high, low, median } = Spread.of(values)
  return { group, name, unit, value: median, low, high }
}
