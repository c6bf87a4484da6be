/**
 * Copies a database into an empty one. Animals are copied in steps, so the largest id in the target is the position. One
 * last transaction copies the other tables, compares both databases and records the end of the copy. An interrupted copy
 * can therefore be resumed without losing or repeating rows.
 */
import { createHash } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Int64 from "../../core/domain/Int64.ts"
import * as CopiedTables from "./CopiedTables.ts"
import { detailOf } from "./DatabaseUnusable.ts"
import { toInt64 } from "./SqlPetRow.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** The copy cannot be started, resumed or completed. */
export class CopyFailed extends Data.TaggedError("CopyFailed")<{
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return this.reason
  }
}

/** A copied table. */
export interface CopiedTable {
  readonly name: string
  readonly rows: number
  /** SHA-256 of the rows by ascending key, in hexadecimal digits; the same in both databases. */
  readonly digest: string
}

/** The result of a copy. */
export interface Copied {
  readonly tables: ReadonlyArray<CopiedTable>
  /** Whether an earlier copy of the source was resumed. */
  readonly isResumed: boolean
}

/** The databases of a copy, and a callback for its progress. */
export interface CopyOptions {
  readonly from: SqlClient.SqlClient
  readonly to: SqlClient.SqlClient
  /** Identifies the source, independently of its address. */
  readonly source: string
  /** Reports the number of copied animals and the number of all animals. */
  readonly report: (animals: bigint, all: bigint) => void
}

/** Copies one snapshot of the source, which is taken when the copy starts. */
export const run = (options: CopyOptions): Effect.Effect<Copied, CopyFailed> =>
  WriteTransaction.transact(options.from, copy(options)).pipe(
    Effect.provideService(
      SqlClient.BeginTransaction,
      SqlTable.isPostgres(options.from) ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN"
    ),
    inSource
  )

/** Converts the errors of one of the databases. */
const on =
  (side: "source" | "target") =>
  <A>(work: Effect.Effect<A, CopyFailed | SqlError>): Effect.Effect<A, CopyFailed> =>
    Effect.mapError(work, (error) =>
      isSqlError(error)
        ? new CopyFailed({ reason: `the ${side} reports: ${detailOf(error)}`, cause: error })
        : error
    )

const inSource = on("source")
const inTarget = on("target")

const copy = Effect.fnUntraced(function* (
  options: CopyOptions
): Effect.fn.Return<Copied, CopyFailed | SqlError> {
  const { to } = options
  const animals = yield* tableIn(options, CopiedTables.ANIMALS)
  const others = yield* Effect.forEach(
    CopiedTables.copied.filter((name) => name !== CopiedTables.ANIMALS),
    (name) => tableIn(options, name)
  )
  const tables = [animals, ...others]
  const position = yield* runInTarget(to, begin(options))
  yield* copyAnimals(options, animals, yield* resumeAfter(options, position))
  const copied = yield* runInTarget(
    to,
    Effect.gen(function* () {
      yield* markCopy(options, BigInt(yield* Clock.currentTimeMillis))
      // In reverse order, so that a table is emptied before the tables that it references.
      for (const { to: table } of others.toReversed()) yield* to.unsafe(`DELETE FROM ${table.name}`)
      for (const table of others) yield* copyRows(options, table)
      for (const { from: source, to: target } of tables) {
        const { column, last } = source.sequence ?? {}
        if (column === undefined || last === undefined) continue
        yield* SqlTable.run(to, SqlTable.advancing(to, target.name, column, last))
      }
      return yield* Effect.forEach(tables, (table) => compare(options, table))
    })
  )
  return { tables: copied, isResumed: position > 0n }
})

/** Runs a transaction on the target; it must not use the transaction mode of the source's snapshot. */
const runInTarget = <A>(
  to: SqlClient.SqlClient,
  work: Effect.Effect<A, CopyFailed | SqlError>
): Effect.Effect<A, CopyFailed> =>
  WriteTransaction.run(to, work).pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN"), inTarget)

/** A table in both databases, which have the same schema. */
interface TableInBoth {
  readonly from: SqlTable.Table
  readonly to: SqlTable.Table
  /** The columns of both: the result of the last count, which only PostgreSQL has, is not copied. */
  readonly columns: ReadonlyArray<string>
}

const tableIn = ({ from, to }: CopyOptions, name: string): Effect.Effect<TableInBoth, CopyFailed> =>
  Effect.map(
    Effect.all([inSource(SqlTable.find(from, name)), inTarget(SqlTable.find(to, name))]),
    ([source, target]) => {
      const columns = [...source.columns.keys()].filter((column) => target.columns.has(column))
      return { from: source, to: target, columns }
    }
  )

/** Records a new copy, or checks that it can be resumed. Returns the last id in the target, or 0. */
const begin = Effect.fnUntraced(function* ({
  source,
  to
}: CopyOptions): Effect.fn.Return<bigint, CopyFailed | SqlError> {
  // Without the lock, two copies that start concurrently would both find the database empty.
  if (SqlTable.isPostgres(to)) yield* to.unsafe("LOCK TABLE copies IN EXCLUSIVE MODE")
  const [copied] = yield* SqlTable.query(to, "SELECT source, completed_at FROM copies")
  if (copied !== undefined) {
    const [copiedSource, completedAt] = copied
    if (completedAt !== null) {
      return yield* new CopyFailed({
        reason: "the target is not empty: an earlier copy to it has already completed"
      })
    }
    if (copiedSource !== source) {
      return yield* new CopyFailed({ reason: "the target contains an unfinished copy of another database" })
    }
    const [last] = yield* SqlTable.query(to, "SELECT coalesce(max(id), 0) FROM pets")
    return toInt64(last?.[0])
  }
  for (const [table, content] of contents) {
    const rows = yield* SqlTable.query(to, `SELECT 1 FROM ${table} LIMIT 1`)
    if (rows.length > 0)
      return yield* new CopyFailed({ reason: `the target is not empty: it has ${content}` })
  }
  yield* SqlTable.query(to, "INSERT INTO copies (source) VALUES ($1)", [source])
  return 0n
})

/** Tables that are empty in an unused database. */
const contents = [
  [CopiedTables.ANIMALS, "animals"],
  ["api_keys", "API keys"],
  ["key_events", "events of API keys"],
  ["admin_tokens", "admin tokens"],
  ["admin_token_events", "events of admin tokens"],
  ["imports", "import records"],
  ["rate_limits", "rate limits"],
  ["idempotent_responses", "responses of operations"]
] as const

/**
 * Returns the id after which animals are copied. Because PostgreSQL assigns ids before it commits, animals with smaller
 * ids may have been committed after the earlier copy had passed them. In that case, the copy starts again at the first
 * id and skips the animals that the target already has.
 */
const resumeAfter = ({ from, to }: CopyOptions, position: bigint): Effect.Effect<bigint, CopyFailed> =>
  Effect.zipWith(inSource(countUpTo(from, position)), inTarget(countUpTo(to, position)), (all, copied) =>
    all === copied ? position : 0n
  )

/** Returns the number of animals whose ids are not larger than `id`. */
const countUpTo = (sql: SqlClient.SqlClient, id: bigint): Effect.Effect<bigint, SqlError> =>
  Effect.map(SqlTable.query(sql, "SELECT count(*) FROM pets WHERE id <= $1", [id]), ([row]) =>
    BigInt(String(row?.[0]))
  )

/** Copies the animals after the id `start`, one page in each transaction. */
const copyAnimals = Effect.fnUntraced(function* (
  options: CopyOptions,
  { columns, from: source, to: target }: TableInBoth,
  start: bigint
): Effect.fn.Return<void, CopyFailed> {
  const { from, report, to } = options
  const all = yield* inSource(countUpTo(from, Int64.max))
  let copied = yield* inSource(countUpTo(from, start))
  report(copied, all)
  const copyPage = (rows: ReadonlyArray<SqlTable.Row>) => {
    const insert = SqlTable.insertion(to, target, columns, rows, "ON CONFLICT (id) DO NOTHING")
    return Effect.map(
      runInTarget(to, Effect.andThen(markCopy(options, null), SqlTable.run(to, insert))),
      () => {
        copied += BigInt(rows.length)
        report(copied, all)
      }
    )
  }
  yield* inSource(SqlTable.forEachPage(from, source, columns, copyPage, [start]))
})

/** Locks the record of the copy until the transaction ends, and sets its end. Fails if another process has completed it. */
const markCopy = ({ source, to }: CopyOptions, completedAt: bigint | null) =>
  Effect.flatMap(
    SqlTable.query(
      to,
      "UPDATE copies SET completed_at = $1 WHERE source = $2 AND completed_at IS NULL RETURNING source",
      [completedAt, source]
    ),
    ([row]) =>
      row === undefined
        ? Effect.fail(new CopyFailed({ reason: "another process has already completed the copy" }))
        : Effect.void
  )

/** Copies the rows of a table in the transaction of the target. */
const copyRows = ({ from, to }: CopyOptions, { columns, from: source, to: target }: TableInBoth) =>
  inSource(
    SqlTable.forEachPage(from, source, columns, (rows) =>
      inTarget(SqlTable.run(to, SqlTable.insertion(to, target, columns, rows)))
    )
  )

const compare = Effect.fnUntraced(function* (
  { from, to }: CopyOptions,
  { columns, from: source, to: target }: TableInBoth
): Effect.fn.Return<CopiedTable, CopyFailed | SqlError> {
  const expected = yield* inSource(digestOf(from, source, columns))
  const found = yield* digestOf(to, target, columns)
  if (expected.rows === found.rows && expected.digest === found.digest) return found
  return yield* new CopyFailed({
    reason: `the target differs from the source in ${source.name}: ${describe(found)} instead of ${describe(expected)}`
  })
})

/** Counts and hashes the rows of a table; equal tables of SQLite and PostgreSQL have equal digests. */
const digestOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: SqlTable.Table,
  columns: ReadonlyArray<string>
): Effect.fn.Return<CopiedTable, SqlError> {
  const hash = createHash("sha256")
  let count = 0
  yield* SqlTable.forEachPage(sql, table, columns, (rows) =>
    Effect.sync(() => {
      for (const row of rows) hash.update(`${JSON.stringify(row.map(encode))}\n`)
      count += rows.length
    })
  )
  return { name: table.name, rows: count, digest: hash.digest("hex") }
})

const encode = (value: unknown): unknown => (typeof value === "bigint" ? value.toString() : value)

const describe = ({ digest, rows }: CopiedTable): string => `${rows} rows with SHA-256 ${digest.slice(0, 16)}`
