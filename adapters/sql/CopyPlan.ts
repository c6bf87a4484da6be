/** Plans which tables and columns are copied from one database to another. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type * as SqlTable from "./SqlTable.ts"

/** The table of animals, which is copied in steps; the other tables follow in one transaction. */
export const ANIMALS = "pets"

/** The tables that are copied, each after the tables that it references. A database may lack some of them. */
export const copiedTables: ReadonlyArray<string> = [
  ANIMALS,
  "api_keys",
  "api_key_secrets",
  "key_events",
  "rate_limits",
  "settings",
  "imports",
  "idempotent_inserts",
  "idempotent_responses"
]

/** Tables that describe the database itself; they are not copied. */
export const uncopiedTables: ReadonlyArray<string> = ["animal_store_migrations", "copies"]

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
const resultColumns: ReadonlyMap<string, SqlTable.Value> = new Map<string, SqlTable.Value>([
  ["rate_limits.admitted", false],
  ["rate_limits.decided_at", 0n]
])

/** Plans the copy of a table; fails if the columns (except `resultColumns`) or the primary keys differ. */
export const make = (from: SqlTable.Table, to: SqlTable.Table): Result.Result<TablePlan, SchemasDiffer> => {
  const initialValueOf = (column: string) => resultColumns.get(`${from.name}.${column}`)
  const columns = [...from.columns.keys()].filter((column) => to.columns.has(column))
  const missingInTarget = [...from.columns.keys()].find(
    (column) => !to.columns.has(column) && initialValueOf(column) === undefined
  )
  const missingInSource = [...to.columns.keys()].filter((column) => !from.columns.has(column))
  const constants = missingInSource.flatMap((column) => {
    const value = initialValueOf(column)
    return value === undefined ? [] : [[column, value] as const]
  })
  const unmatched = missingInTarget ?? missingInSource.find((column) => initialValueOf(column) === undefined)
  if (unmatched !== undefined || from.key.join() !== to.key.join()) {
    return Result.fail(
      new SchemasDiffer({
        reason: `the databases do not have the same columns: ${from.name}.${unmatched ?? from.key.join()}`
      })
    )
  }
  return Result.succeed({ from, to, columns, constants })
}
