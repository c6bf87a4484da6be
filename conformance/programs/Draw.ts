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

/** Draws rows that together contain every pair of values of two dimensions; those with early values come first. */
export const pairs = <const D extends Dimensions>(dimensions: D): Effect.Effect<ReadonlyArray<Row<D>>> => {
  const all = Object.entries(dimensions).reduce<ReadonlyArray<ReadonlyArray<number>>>(
    (rows, [, values]) => rows.flatMap((row) => [...values.keys()].map((index) => [...row, index])),
    [[]]
  )
  const pairsOf = (row: ReadonlyArray<number>) =>
    row.flatMap((value, at) => row.slice(0, at).map((other, earlier) => `${earlier} ${other} ${at} ${value}`))
  return Effect.map(Random.shuffle(all), (shuffled) => {
    const candidates = shuffled.map((row) => ({ row, pairs: pairsOf(row) }))
    const open = new Set(candidates.flatMap((candidate) => candidate.pairs))
    const gainOf = (candidate: (typeof candidates)[number]) =>
      candidate.pairs.reduce((gain, pair) => (open.has(pair) ? gain + 1 : gain), 0)
    const chosen: Array<ReadonlyArray<number>> = []
    while (open.size > 0) {
      const best = candidates.reduce((most, next) => (gainOf(next) > gainOf(most) ? next : most))
      chosen.push(best.row)
      for (const pair of best.pairs) open.delete(pair)
    }
    const columns = Object.entries(dimensions)
    const rank = (row: ReadonlyArray<number>) =>
      row.reduce((sum, index, at) => sum + index / Math.max(1, (columns[at]?.[1].length ?? 1) - 1), 0)
    return chosen
      .toSorted((a, b) => rank(a) - rank(b))
      .map(
        (row) =>
          Object.fromEntries(columns.map(([name, values], at) => [name, values[row[at] ?? 0]])) as Row<D> // all names
      )
  })
}
