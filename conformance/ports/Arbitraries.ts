/** Draws the arguments of calls, as data that can be written as JSON. */
import * as fc from "fast-check"

export interface Fields {
  readonly [name: string]: fc.Arbitrary<unknown>
}

/** What an arbitrary generates. */
export type ValueOf<A> = A extends fc.Arbitrary<infer Value> ? Value : never

export type Drawn<Of extends Fields> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> }

/** Generates plain objects with all of these fields. */
export const record = <Of extends Fields>(fields: Of): fc.Arbitrary<Drawn<Of>> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<Drawn<Of>> // all fields are required

/** Chooses among arbitraries, each with its weight. */
export const weighted = <A>(...choices: ReadonlyArray<readonly [number, fc.Arbitrary<A>]>): fc.Arbitrary<A> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** Generates a value or null. */
export const orNull = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | null> =>
  fc.option(arbitrary, { nil: null })

/** Chooses one of the names of a table. */
export const nameOf = <Table extends object>(table: Table): fc.Arbitrary<keyof Table & string> =>
  fc.constantFrom(...(Object.keys(table) as Array<keyof Table & string>)) // exactly its keys
