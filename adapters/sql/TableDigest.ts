/** Computes the row count and SHA-256 of a table; equal tables in SQLite and PostgreSQL have equal digests. */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as SqlTable from "./SqlTable.ts"

export interface TableDigest {
  readonly rows: number
  /** SHA-256 of the rows by ascending key, in hexadecimal digits. */
  readonly digest: string
}

const PAGE = 5_000

/** Computes the row count and the digest of a table, with only the given columns. */
export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: SqlTable.Table,
  columns: ReadonlyArray<string>
): Effect.fn.Return<TableDigest, SqlError> {
  const hash = createHash("sha256")
  let count = 0
  for (let after: SqlTable.Row | undefined; ; ) {
    const rows = yield* SqlTable.page(sql, table, columns, after, PAGE)
    hash.update(rows.map((row) => `${JSON.stringify(row.map(encode))}\n`).join(""))
    count += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return { rows: count, digest: hash.digest("hex") }
    after = keyOf(table, columns, last)
  }
})

/** Returns the values of the primary key in a row. */
export const keyOf = (
  { key }: SqlTable.Table,
  columns: ReadonlyArray<string>,
  row: SqlTable.Row
): SqlTable.Row => key.map((column) => row[columns.indexOf(column)] ?? null)

const encode = (value: SqlTable.Value): string | boolean | null =>
  typeof value === "bigint" ? value.toString() : value
