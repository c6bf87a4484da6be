/** Reads and writes whole tables in either dialect: columns, rows in the order of the primary key, and sequences. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as PostgresArray from "./PostgresArray.ts"
import type { Values } from "./SqliteConnection.ts"
import type * as SqlScript from "./SqlScript.ts"

/** A table as the database describes it. */
export interface Table {
  readonly name: string
  /** The type of each column, in lower case, by its name. */
  readonly columns: ReadonlyMap<string, string>
  /** The columns of the primary key. */
  readonly key: ReadonlyArray<string>
  /** The column that is filled with ascending numbers, if any, and the last number, or 0 if there is none. */
  readonly sequence: { readonly column: string; readonly last: bigint } | undefined
}

/** A row, in the order of the requested columns; integers are bigints. */
export type Row = ReadonlyArray<unknown>

/** Returns the description of a table; it has no columns if there is no table with this name. */
export const find = (sql: SqlClient.SqlClient, name: string): Effect.Effect<Table, SqlError> =>
  Effect.map(query(sql, isPostgres(sql) ? POSTGRES_COLUMNS : SQLITE_COLUMNS, [name]), (columns) => {
    const key = columns.filter(([, , position]) => Number(position) > 0)
    const [sequence] = columns.filter(([, , , last]) => last !== null)
    return {
      name,
      columns: new Map(columns.map(([column, type]) => [String(column), String(type).toLowerCase()])),
      key: key
        .sort(([, , left], [, , right]) => Number(left) - Number(right))
        .map(([column]) => String(column)),
      sequence: sequence && { column: String(sequence[0]), last: BigInt(String(sequence[3])) }
    }
  })

/** Maximum number of rows that are read at once. */
const PAGE = 5_000

/** Passes the rows after the key `after`, or all rows, to `use` in pages, in the order of the primary key. */
export const forEachPage = Effect.fnUntraced(function* <E>(
  sql: SqlClient.SqlClient,
  { columns, key, name }: Table,
  selected: ReadonlyArray<string>,
  use: (rows: ReadonlyArray<Row>) => Effect.Effect<void, E>,
  after?: Row
): Effect.fn.Return<void, E | SqlError> {
  // With this collation, both dialects order text by its bytes.
  const ordered = key
    .map((column) => (isPostgres(sql) && columns.get(column) === "text" ? `${column} COLLATE "C"` : column))
    .join(", ")
  const order = `ORDER BY ${ordered} LIMIT ${PAGE}`
  while (true) {
    const condition = after && `WHERE (${ordered}) > (${after.map((_, index) => `$${index + 1}`).join(", ")})`
    const statement = `SELECT ${selected.join(", ")} FROM ${name} ${condition ?? ""} ${order}`
    const rows = yield* query(sql, statement, after)
    yield* use(rows)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = key.map((column) => last[selected.indexOf(column)] ?? null)
  }
})

/** Maximum number of rows that one SQLite statement inserts: with one row each, statements cost more than their rows. */
const CHUNK = 100

/** Returns the statements that insert rows, in order; `onConflict` is appended to each of them. */
export const insertion = (
  sql: SqlClient.SqlClient,
  { columns, name }: Pick<Table, "name" | "columns">,
  selected: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<unknown>>,
  onConflict = ""
): SqlScript.Script => {
  if (rows.length === 0) return []
  const names = selected.join(", ")
  if (isPostgres(sql)) {
    const types = selected.map((column) => columns.get(column) ?? "")
    const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(", ")
    const valuesOf = (index: number) => rows.map((row) => row[index])
    const statement = `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE SELECT ${names}
       FROM unnest(${arrays}) WITH ORDINALITY AS given (${names}, nth) ORDER BY nth ${onConflict}`
    return [[statement, types.map((type, index) => PostgresArray.ofType(type, valuesOf(index)))]]
  }
  const values = `(${selected.map(() => "?").join(", ")})`
  const inserting = (count: number): string =>
    `INSERT INTO ${name} (${names}) VALUES ${new Array(count).fill(values).join(", ")} ${onConflict}`
  const full = inserting(CHUNK)
  return Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, index) => {
    const chunk = rows.slice(index * CHUNK, (index + 1) * CHUNK)
    return [chunk.length === CHUNK ? full : inserting(chunk.length), chunk.flat()]
  })
}

/** Returns the statements after which numbers of the sequence are larger than `last` and than all in the table. */
export const advancing = (
  sql: SqlClient.SqlClient,
  table: string,
  column: string,
  last: bigint
): SqlScript.Script => {
  const largest = `(SELECT coalesce(max(${column}), 0) FROM ${table})`
  if (isPostgres(sql)) {
    const sequence = `pg_get_serial_sequence('${table}', '${column}')`
    const next = `SELECT greatest($1::bigint, ${largest}, pg_sequence_last_value(${sequence})) AS next`
    return [[`SELECT setval(${sequence}, next) FROM (${next}) AS numbers WHERE next > 0`, [last]]]
  }
  const insert = `INSERT INTO sqlite_sequence (name, seq)
    SELECT $1, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = $1)`
  return [
    [insert, [table]],
    [`UPDATE sqlite_sequence SET seq = max(seq, $1, ${largest}) WHERE name = $2`, [last, table]]
  ]
}

/** Runs the statements of a script, none of which has expected rows. */
export const run = (sql: SqlClient.SqlClient, script: SqlScript.Script): Effect.Effect<void, SqlError> =>
  Effect.forEach(script, ([statement, parameters]) => query(sql, statement, parameters), { discard: true })

/** Runs a statement and returns its rows as arrays of values, with exact integers. */
export const query = (
  sql: SqlClient.SqlClient,
  statement: string,
  parameters: ReadonlyArray<unknown> = []
): Effect.Effect<Values, SqlError> =>
  Effect.provideService(sql.unsafe(textFor(sql, statement), parameters).values, SqlClient.SafeIntegers, true)

/** Returns a statement, whose parameters are `$1`, `$2` and so on, in the dialect of the client. */
export const textFor = (sql: SqlClient.SqlClient, statement: string): string =>
  isPostgres(sql) ? statement : statement.replaceAll(/\$(?=\d)/g, "?")

/** Returns a query for the texts in the JSON array in `$1`. */
export const texts = (sql: SqlClient.SqlClient): string =>
  `SELECT value FROM ${isPostgres(sql) ? "json_array_elements_text($1::json)" : "json_each($1)"}`

/** Returns a script of one statement on PostgreSQL, and an empty one on SQLite, where a transaction locks everything. */
export const onPostgres = (
  sql: SqlClient.SqlClient,
  statement: string,
  parameters: ReadonlyArray<unknown> = []
): SqlScript.Script => (isPostgres(sql) ? [[statement, parameters]] : [])

/** Whether the database is PostgreSQL. */
export const isPostgres = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ pg: () => true, orElse: () => false })

// The columns: name, type, position in the primary key from 1, and the last number of the sequence that fills it.
const SQLITE_COLUMNS = `
  SELECT c.name, c.type, c.pk, CASE WHEN c.pk = 1 AND s.sql LIKE '%AUTOINCREMENT%'
    THEN coalesce((SELECT seq FROM sqlite_sequence q WHERE q.name = s.name), 0) END
  FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.type = 'table' AND s.name = $1 ORDER BY c.cid`

const POSTGRES_COLUMNS = `
  SELECT a.attname::text, format_type(a.atttypid, a.atttypmod),
    coalesce(array_position(i.indkey::int2[], a.attnum) + 1, 0), CASE WHEN a.attidentity <> ''
    THEN coalesce(pg_sequence_last_value(pg_get_serial_sequence($1::text, a.attname::text)), 0) END
  FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
  WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`
