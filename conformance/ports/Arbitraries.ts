/** Generates the calls of ports, as data that can be written as JSON. */
import * as fc from "fast-check"

/** What an arbitrary generates. */
export type ValueOf<A> = A extends fc.Arbitrary<infer Value> ? Value : never

/** Lists are read-only, as in hand-written cases. */
type ReadOnly<Value> = Value extends ReadonlyArray<infer Item> ? ReadonlyArray<Item> : Value

type Values<Fields> = { readonly [Name in keyof Fields]: ReadOnly<ValueOf<Fields[Name]>> }

/** Generates records with all of these fields. */
export const record = <Fields extends { readonly [name: string]: fc.Arbitrary<unknown> }>(
  fields: Fields
): fc.Arbitrary<Values<Fields>> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<Values<Fields>> // all fields are required

/** Generates calls: the name in `do`, and the arguments. An absent argument is null. */
export const call = <Name extends string, Fields extends { readonly [name: string]: fc.Arbitrary<unknown> }>(
  name: Name,
  fields: Fields
): fc.Arbitrary<{ readonly do: Name } & Values<Fields>> =>
  record({ do: fc.constant(name), ...fields }) as fc.Arbitrary<{ readonly do: Name } & Values<Fields>> // the same

/** Chooses among arbitraries, each with its weight. */
export const weighted = <A>(...choices: ReadonlyArray<readonly [number, fc.Arbitrary<A>]>): fc.Arbitrary<A> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** Generates a value or null. */
export const orNull = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | null> =>
  fc.option(arbitrary, { nil: null })
