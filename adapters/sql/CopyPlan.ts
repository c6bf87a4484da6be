/** Plans which tables and columns a copy moves from one database to another. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type * as SqlTable from "./SqlTable.ts"

/** The table of animals, which is copied in steps; the other tables follow in one transaction. */
export const ANIMALS = "pets"

/** The tables that a copy moves, each after the tables that it references. A database may lack some of them. */
export const moved: ReadonlyArray<string> = [
  ANIMALS,
  "api_keys",
  "api_key_secrets",
  "key_events",
  "rate_limits",
  "settings",
  "imports",
  "idempotent_inserts"
]

/** Tables that describe the database itself; they are not copied. */
export const own: ReadonlyArray<string> = ["animal_store_migrations", "copies"]

/** The plan for the rows in one table. */
export interface TablePlan {
  readonly from: SqlTable.Table
  readonly to: SqlTable.Table
  /** The columns that both databases have, in the order of the source. */
  readonly columns: ReadonlyArray<string>
  /** The columns that only the target has, each with its value. */
  readonly constants: ReadonlyArray<readonly [column: string, value: SqlTable.Value]>
}

/** The failure of a plan: the two databases do not have the same columns or primary key. */
export class SchemasDiffer extends Data.TaggedError("SchemasDiffer")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** Columns that only PostgreSQL has, with initial values; they contain the result of the last count, not the state. */
const results: ReadonlyMap<string, SqlTable.Value> = new Map<string, SqlTable.Value>([
  ["rate_limits.admitted", false],
  ["rate_limits.decided_at", 0n]
])

/** Plans the copy of a table; fails if the columns (except `results`) or the primary keys differ. */
export const make = (from: SqlTable.Table, to: SqlTable.Table): Result.Result<TablePlan, SchemasDiffer> => {
  const resultOf = (column: string) => results.get(`${from.name}.${column}`)
  const columns = [...from.columns.keys()].filter((column) => to.columns.has(column))
  const lost = [...from.columns.keys()].find(
    (column) => !to.columns.has(column) && resultOf(column) === undefined
  )
  const missing = [...to.columns.keys()].filter((column) => !from.columns.has(column))
  const constants = missing.flatMap((column) => {
    const value = resultOf(column)
    return value === undefined ? [] : [[column, value] as const]
  })
  const unknown = lost ?? missing.find((column) => resultOf(column) === undefined)
  if (unknown !== undefined || from.key.join() !== to.key.join()) {
    return Result.fail(
      new SchemasDiffer({
        reason: `the databases do not have the same columns: ${from.name}.${unknown ?? from.key.join()}`
      })
    )
  }
  return Result.succeed({ from, to, columns, constants })
}
