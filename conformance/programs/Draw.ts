/** Draws from tables of values: any value, values in swarms, or rows that contain every pair of values. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Draws one of the values; all are equally likely. */
export const one = <A>(values: ReadonlyArray<A>): Effect.Effect<A> => Effect.orDie(Random.choice(values))

/** Draws some of the values, in random order. */
export const some = <A>(values: Iterable<A>, count: number): Effect.Effect<ReadonlyArray<A>> =>
  Effect.map(Random.shuffle(values), (shuffled) => shuffled.slice(0, count))

/** Draws a function that draws values by random weights, so that each run prefers other values. */
export const swarm = <A>(values: ReadonlyArray<A>): Effect.Effect<Effect.Effect<A>> =>
  Effect.map(
    Effect.forEach(values, (value) => Effect.map(Random.next, (share) => ({ value, weight: share ** 3 }))),
    (weighted) => {
      const total = weighted.reduce((sum, { weight }) => sum + weight, 0)
      return Effect.map(Random.next, (share) => {
        let left = share * total
        for (const { value, weight } of weighted) {
          left -= weight
          if (left <= 0) return value
        }
        return values[0] as A // only if rounding leaves a rest
      })
    }
  )

/** The values of each dimension. */
export type Dimensions = { readonly [dimension: string]: ReadonlyArray<unknown> }

/** One value of each dimension. */
export type Row<D extends Dimensions> = { readonly [dimension in keyof D]: D[dimension][number] }

/** A row as the index of a value for each dimension; `undefined` where none was chosen yet. */
type Indices = ReadonlyArray<number | undefined>

/** Returns the pairs of values in a row, each as a text. */
const pairsOf = (row: Indices): ReadonlyArray<string> =>
  row.flatMap((value, at) =>
    value === undefined
      ? []
      : row.flatMap((other, later) =>
          later > at && other !== undefined ? [`${at} ${value} ${later} ${other}`] : []
        )
  )

/** Returns every pair of values of two dimensions as a row without the others. */
const allPairs = (sizes: ReadonlyArray<number>): ReadonlyArray<Indices> => {
  const nothing: Indices = sizes.map(() => undefined)
  return sizes.flatMap((size, at) =>
    sizes.flatMap((otherSize, later) =>
      later <= at
        ? []
        : indices(size).flatMap((value) =>
            indices(otherSize).map((other) => nothing.with(at, value).with(later, other))
          )
    )
  )
}

const indices = (size: number): ReadonlyArray<number> => Array.from({ length: size }, (_, index) => index)

/** Draws rows that together contain every pair of values of two dimensions; those with early values come first. */
export const pairs = <const D extends Dimensions>(dimensions: D): Effect.Effect<ReadonlyArray<Row<D>>> =>
  Effect.gen(function* () {
    const names = Object.keys(dimensions)
    const values = names.map((name) => dimensions[name] ?? [])
    const sizes = values.map(({ length }) => length)
    const all = allPairs(sizes)
    const open = new Set(all.flatMap(pairsOf))
    const gainOf = (row: Indices) => pairsOf(row).filter((pair) => open.has(pair)).length
    const rows: Array<Indices> = []
    for (const pair of all) {
      if (gainOf(pair) === 0) continue
      let row = pair
      for (const at of indices(sizes.length).filter((each) => pair[each] === undefined)) {
        const candidates = (yield* Random.shuffle(indices(sizes[at] ?? 0))).map((value) =>
          row.with(at, value)
        )
        row = candidates.reduce((best, next) => (gainOf(next) > gainOf(best) ? next : best))
      }
      rows.push(row)
      for (const covered of pairsOf(row)) open.delete(covered)
    }
    const rank = (row: Indices) =>
      row.reduce<number>((sum, value = 0, at) => sum + value / Math.max(1, (sizes[at] ?? 1) - 1), 0)
    return rows
      .toSorted((a, b) => rank(a) - rank(b))
      .map(
        (row) => Object.fromEntries(names.map((name, at) => [name, values[at]?.[row[at] ?? 0]])) as Row<D> // all names
      )
  })
