/**
 * Computes pairwise coverage: a small set of rows that together contain every allowed pair of values of two dimensions.
 * A row has one value for each dimension, given as an index.
 */

/** A row in which values may be missing. */
export type Partial = ReadonlyArray<number | undefined>

export interface Options {
  /**
   * Whether a row can occur; by default every row can. A partial row is allowed if its values can occur together. If a
   * partial row is rejected, every row that adds values to it must be rejected too.
   */
  readonly allows?: (row: Partial) => boolean
  /** Seed of the random order in which dimensions and equally good values are tried; 0 by default. */
  readonly seed?: number
}

/** A value of the dimension `first` and a value of the dimension `second`; `first` is less than `second`. */
export type Pair = readonly [first: number, value: number, second: number, otherValue: number]

/** Number of candidates from which each row of the result is chosen. */
const CANDIDATES = 8

const allowAll = (): boolean => true

/** Creates a pseudorandom generator of numbers from 0 (inclusive) to 1 (exclusive): mulberry32. */
const randomFrom = (seed: number) => {
  let state = seed | 0
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const shuffled = (values: ReadonlyArray<number>, random: () => number): ReadonlyArray<number> =>
  values
    .map((value) => ({ value, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ value }) => value)

const indices = (size: number): ReadonlyArray<number> => Array.from({ length: size }, (_, index) => index)

/**
 * Fills the dimensions in `unset`, each with the first value of `order` that leads to an allowed complete row; returns
 * `undefined` if there is no such row.
 */
const completeRow = (
  row: Partial,
  unset: ReadonlyArray<number>,
  order: (row: Partial, dimension: number) => ReadonlyArray<number>,
  allows: (row: Partial) => boolean
): ReadonlyArray<number> | undefined => {
  if (!allows(row)) return undefined
  const [dimension, ...rest] = unset
  if (dimension === undefined) return row as ReadonlyArray<number> // every dimension is filled
  for (const value of order(row, dimension)) {
    const found = completeRow(row.with(dimension, value), rest, order, allows)
    if (found !== undefined) return found
  }
  return undefined
}

const emptyRow = (sizes: ReadonlyArray<number>): Partial => sizes.map(() => undefined)

const withPair = (sizes: ReadonlyArray<number>, [first, value, second, otherValue]: Pair): Partial =>
  emptyRow(sizes).with(first, value).with(second, otherValue)

const unsetDimensions = (row: Partial): ReadonlyArray<number> =>
  indices(row.length).filter((dimension) => row[dimension] === undefined)

/** Returns the pairs that at least one allowed row contains. */
export const pairs = (
  sizes: ReadonlyArray<number>,
  { allows = allowAll }: Options = {}
): ReadonlyArray<Pair> => {
  const found: Array<Pair> = []
  const inOrder = (_row: Partial, dimension: number) => indices(sizes[dimension] ?? 0)
  for (const [first, size] of sizes.entries()) {
    for (const [second, otherSize] of sizes.entries()) {
      if (second <= first) continue
      for (const value of indices(size)) {
        for (const otherValue of indices(otherSize)) {
          const row = withPair(sizes, [first, value, second, otherValue])
          if (completeRow(row, unsetDimensions(row), inOrder, allows) !== undefined) {
            found.push([first, value, second, otherValue])
          }
        }
      }
    }
  }
  return found
}

/** Returns each pair of values in a row as a string: the numbers of the `Pair`, separated by commas. */
export const namesOf = (row: Partial): ReadonlyArray<string> =>
  row.flatMap((value, first) =>
    value === undefined
      ? []
      : row.flatMap((otherValue, second) =>
          second <= first || otherValue === undefined ? [] : [`${first},${value},${second},${otherValue}`]
        )
  )

/** Returns a number from 0, for the row of all first values, to 1, for the row of all last values. */
const distance = (row: ReadonlyArray<number>, sizes: ReadonlyArray<number>): number =>
  row.reduce((sum, value, dimension) => sum + value / Math.max(1, (sizes[dimension] ?? 1) - 1), 0) /
  row.length

/**
 * Returns allowed rows that together contain every pair that an allowed row can contain, rows with low indices first.
 * The same seed gives the same rows.
 *
 * @example
 * ```ts
 * cover([2, 2, 2]) // four rows instead of eight
 * ```
 */
export const cover = (
  sizes: ReadonlyArray<number>,
  options: Options = {}
): ReadonlyArray<ReadonlyArray<number>> => {
  const { allows = allowAll, seed = 0 } = options
  const random = randomFrom(seed)
  const feasible = pairs(sizes, options)
  const uncovered = new Set(feasible.map(String))
  const gainOf = (row: Partial) => namesOf(row).filter((name) => uncovered.has(name)).length
  const rows: Array<ReadonlyArray<number>> = []
  const byGain = (row: Partial, dimension: number) =>
    shuffled(indices(sizes[dimension] ?? 0), random)
      .map((value) => ({ value, gain: gainOf(row.with(dimension, value)) }))
      .toSorted((a, b) => b.gain - a.gain)
      .map(({ value }) => value)
  for (const pair of feasible) {
    if (!uncovered.has(String(pair))) continue
    const initial = withPair(sizes, pair)
    let best: ReadonlyArray<number> | undefined
    for (let candidate = 0; candidate < CANDIDATES; candidate++) {
      const row = completeRow(initial, shuffled(unsetDimensions(initial), random), byGain, allows)
      if (row !== undefined && (best === undefined || gainOf(row) > gainOf(best))) best = row
    }
    if (best === undefined) continue
    rows.push(best)
    for (const name of namesOf(best)) uncovered.delete(name)
  }
  return rows.toSorted((a, b) => distance(a, sizes) - distance(b, sizes))
}
