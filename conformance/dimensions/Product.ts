/** Builds products: the dimensions over which a law is tested, and the cases that are drawn from them. */
import * as fc from "fast-check"
import * as Pairwise from "./Pairwise.ts"

/** Named values of each dimension, boundary values first. */
export type Dimensions = { readonly [dimension: string]: { readonly [value: string]: unknown } }

/** One case: the name of a value for each dimension. */
export type Tuple<D extends Dimensions> = { readonly [dimension in keyof D]: keyof D[dimension] & string }

/** The value names and pair count of a product, without its types. */
export interface Shape {
  /** The names of the values of each dimension. */
  readonly values: { readonly [dimension: string]: ReadonlyArray<string> }
  /** Number of pairs of values that can occur together. */
  readonly pairs: number
}

export interface Product<D extends Dimensions> {
  readonly shape: Shape
  /** Cases that together contain every pair of values that can occur together. */
  readonly examples: ReadonlyArray<Tuple<D>>
  /** Generates any case of the product. */
  readonly cases: fc.Arbitrary<Tuple<D>>
}

/**
 * Creates the product of dimensions. `allows` returns false for cases that cannot occur. It is also called with partial
 * cases; if it rejects one, it must reject every case that adds values to it.
 */
export const of = <const D extends Dimensions>(
  dimensions: D,
  allows: (given: { readonly [dimension in keyof D]?: keyof D[dimension] & string }) => boolean = () => true
): Product<D> => {
  const names = Object.keys(dimensions)
  const values = names.map((dimension) => Object.keys(dimensions[dimension] ?? {}))
  const tupleOf = (row: Pairwise.Partial) =>
    Object.fromEntries(
      names.flatMap((dimension, index) => {
        const value = row[index]
        return value === undefined ? [] : [[dimension, values[index]?.[value] ?? ""]]
      })
    ) as Tuple<D> // every name comes from `dimensions`; a partial row has only some of them
  const sizes = values.map(({ length }) => length)
  const options = { allows: (row: Pairwise.Partial) => allows(tupleOf(row)) }
  return {
    shape: {
      values: Object.fromEntries(names.map((dimension, index) => [dimension, values[index] ?? []])),
      pairs: Pairwise.pairs(sizes, options).length
    },
    examples: Pairwise.cover(sizes, options).map(tupleOf),
    cases: fc
      .tuple(...sizes.map((size) => fc.nat(size - 1)))
      .filter(options.allows)
      .map(tupleOf)
  }
}

/** Selects values of a dimension by their names. */
export const pick = <const Values extends Dimensions[string], const Name extends keyof Values & string>(
  values: Values,
  ...names: ReadonlyArray<Name>
): Pick<Values, Name> => Object.fromEntries(names.map((name) => [name, values[name]])) as Pick<Values, Name> // one entry each
