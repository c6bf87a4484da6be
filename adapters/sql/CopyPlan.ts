/** Which tables and columns a copy moves from one database to another. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type * as SqlTable from "./SqlTable.ts"

/** The animals, which are copied in steps; the other tables follow in one transaction. */
export const ANIMALS = "pets"

/** Every table that a copy moves, each after those it refers to. A database may lack some of them. */
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

/** Tables that describe the database itself. */
export const own: ReadonlyArray<string> = ["animal_store_migrations", "copies"]

/** How the rows of a table move. */
export interface TablePlan {
  readonly from: SqlTable.Table
  readonly to: SqlTable.Table
  /** The columns that both databases have, in one order. */
  readonly columns: ReadonlyArray<string>
  /** Columns of the target only, each with its value. */
  readonly constants: ReadonlyArray<readonly [column: string, value: SqlTable.Value]>
}

/** The two databases do not have the same columns. */
export class SchemasDiffer extends Data.TaggedError("SchemasDiffer")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** In PostgreSQL only: the result of the last statement that counted, not a part of the state. */
const results: ReadonlyMap<string, SqlTable.Value> = new Map<string, SqlTable.Value>([
  ["rate_limits.admitted", false],
  ["rate_limits.decided_at", 0n]
])

/** Plans the copy of a table; fails if a column would be lost. */
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
