/** Draws rows of values that together contain every pair of values of two dimensions. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

type Dimensions = { readonly [name: string]: ReadonlyArray<unknown> }

/** A value of each dimension. */
export type Row<D extends Dimensions> = { readonly [name in keyof D]: D[name][number] }

/** Each row begins with the first value that lacks a pair, and then takes values that complete the most pairs. */
export const cover = Effect.fnUntraced(function* <D extends Dimensions>(
  dimensions: D
): Effect.fn.Return<ReadonlyArray<Row<D>>> {
  const random = yield* Random.Random
  const all = Object.entries(dimensions).map(([name, values]) => values.map((value) => ({ name, value })))
  type Value = (typeof all)[number][number]
  /** The values with which each value has not yet been in a row. */
  const open = new Map<Value, Set<Value>>()
  for (const own of all)
    for (const value of own) open.set(value, new Set(all.filter((each) => each !== own).flat()))
  const rows: Array<ReadonlyArray<Value>> = []
  for (const begin of open.keys()) {
    while ((open.get(begin)?.size ?? 0) > 0) {
      const row = [begin]
      for (const values of yield* Random.shuffle(all)) {
        if (values.includes(begin)) continue
        // Draws one of several equally good values.
        const gainOf = (value: Value) =>
          row.filter((each) => open.get(value)?.has(each)).length + random.nextDoubleUnsafe()
        const gains = values.map(gainOf)
        row.push(...values.slice(gains.indexOf(Math.max(...gains))).slice(0, 1))
      }
      rows.push(row)
      for (const value of row) for (const other of row) open.get(value)?.delete(other)
    }
  }
  // A row has one value of each dimension.
  return rows.map(
    (row) => Object.fromEntries(row.map(({ name, value }) => [name, value])) as unknown as Row<D>
  )
})
