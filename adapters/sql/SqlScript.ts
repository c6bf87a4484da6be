/** Defines transactions as steps, and as data, which can be sent to another thread. Uses no effects. */
import type { Values } from "./SqliteConnection.ts"

/**
 * A transaction that yields statements and receives the rows of each as arrays of values; integers are exact, as
 * numbers or bigints. Parameters are `$1`, `$2` and so on; for SQLite, `SqlTable.textFor` replaces them.
 */
export type Steps<A> = Generator<readonly [sql: string, params: ReadonlyArray<unknown>], A, Values>

/** A statement of a script, and the rows that it must return, if only these allow the script to continue. */
export type Statement = readonly [sql: string, params: ReadonlyArray<unknown>, expected?: Values]

/** The statements of a transaction; those with expected rows come before the first write. */
export type Script = ReadonlyArray<Statement>

/** The rows of the last executed statement; the script is incomplete if they were not the expected ones. */
export interface Outcome {
  readonly isComplete: boolean
  readonly rows: Values
}

/** Executes the statements in order, until one returns other rows than expected. */
export const steps = function* (script: Script): Steps<Outcome> {
  let rows: Values = []
  for (const [sql, params, expected] of script) {
    rows = yield [sql, params]
    if (expected !== undefined && !isEqual(rows, expected)) return { isComplete: false, rows }
  }
  return { isComplete: true, rows }
}

/** Executes each script, and returns the outcome of each. */
export const all = function* (scripts: ReadonlyArray<Script>): Steps<ReadonlyArray<Outcome>> {
  const outcomes: Array<Outcome> = []
  for (const script of scripts) outcomes.push(yield* steps(script))
  return outcomes
}

/** Returns the statement that inserts a row. */
export const insert = (table: string, row: { readonly [column: string]: unknown }): Statement => {
  const columns = Object.keys(row)
  const parameters = columns.map((_, index) => `$${index + 1}`)
  return [
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${parameters.join(", ")})`,
    Object.values(row)
  ]
}

const isEqual = (left: Values, right: Values): boolean =>
  left.length === right.length &&
  left.every((row, index) => row.every((value, column) => value === right[index]?.[column]))
