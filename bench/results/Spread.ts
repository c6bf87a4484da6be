/** A figure that was measured several times. */

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** The middle, or the mean of the two middles; `NaN` of none. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const low = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  const high = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return (low + high) / 2
}

/** Median, least and most. */
export const of = (values: ReadonlyArray<number>): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values)
})
