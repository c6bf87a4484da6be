/** Counts how many values of each dimension of a product, and how many pairs of values, were tried. */
import type { Shape } from "./Product.ts"

/** A tried case: the value name for each dimension; dimensions that could not be decided are omitted. */
export type Tried = { readonly [dimension: string]: string }

export interface Coverage {
  readonly dimensions: ReadonlyArray<{ readonly name: string; readonly tried: number; readonly of: number }>
  readonly pairs: { readonly tried: number; readonly of: number }
}

/** Returns the coverage of a product by the tried cases. */
export const of = ({ pairs, values }: Shape, all: Iterable<Tried>): Coverage => {
  const names = Object.keys(values)
  const seenValues = new Map(names.map((name) => [name, new Set<string>()]))
  const seenPairs = new Set<string>()
  for (const tried of all) {
    for (const [index, name] of names.entries()) {
      const value = tried[name]
      if (value === undefined) continue
      seenValues.get(name)?.add(value)
      for (const later of names.slice(index + 1)) {
        if (tried[later] !== undefined) seenPairs.add(JSON.stringify([name, value, later, tried[later]]))
      }
    }
  }
  return {
    dimensions: names.map((name) => ({
      name,
      tried: seenValues.get(name)?.size ?? 0,
      of: values[name]?.length ?? 0
    })),
    pairs: { tried: seenPairs.size, of: pairs }
  }
}

/**
 * Formats a coverage for messages.
 *
 * @example
 * ```ts
 * inWords(coverage) // "operation 4/4, credential 3/5, pairs 96 of 104"
 * ```
 */
export const inWords = ({ dimensions, pairs }: Coverage): string =>
  [
    ...dimensions.map(({ name, of, tried }) => `${name} ${tried}/${of}`),
    `pairs ${pairs.tried} of ${pairs.of}`
  ].join(", ")
