/** Computes the median and the quartiles of a figure that was measured several times. */

/** The median and the quartiles: half of the values lie from `low` to `high`. */
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Returns the quantile for a share from 0 to 1, interpolated linearly; `NaN` without values. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const position = share * (sorted.length - 1)
  const low = sorted[Math.floor(position)] ?? Number.NaN
  const high = sorted[Math.ceil(position)] ?? Number.NaN
  return low + (high - low) * (position - Math.floor(position))
}

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

export const of = (values: ReadonlyArray<number>): Spread => ({
  median: median(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75)
})
