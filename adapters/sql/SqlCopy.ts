/**
 * Copies a database into an empty one. Animals are copied in steps; the transaction of each step also records the
 * position. One last transaction copies the other tables, compares both databases and records the end of the copy. An
 * interrupted copy can therefore be resumed without losing or repeating rows.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Int64 from "../../core/domain/Int64.ts"
import * as CopyPlan from "./CopyPlan.ts"
import { detailOf } from "./DatabaseUnusable.ts"
import * as SqlTable from "./SqlTable.ts"
import * as TableDigest from "./TableDigest.ts"
import * as Transaction from "./Transaction.ts"
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

/** A copied table, whose number of rows and digest are the same in both databases. */
export interface CopiedTable extends TableDigest.TableDigest {
  readonly name: string
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

/** Maximum number of rows in one step. */
const PAGE = 5_000

/** Copies one snapshot of the source, which is taken when the copy starts. */
export const run = (options: CopyOptions): Effect.Effect<Copied, CopyFailed> =>
  Effect.suspend(() => {
    const { from } = options
    return Transaction.run(from, copy(options)).pipe(
      Effect.provideService(
        SqlClient.BeginTransaction,
        SqlTable.isPostgres(from) ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN"
      ),
      inSource
    )
  })

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
  const plans = yield* plan(options)
  const animals = plans.find(({ from }) => from.name === CopyPlan.ANIMALS)
  if (animals === undefined) return yield* new CopyFailed({ reason: "the source has no table for animals" })
  const position = yield* runInTarget(to, begin(options))
  const after = yield* resumeAfter(options, position)
  yield* copyAnimals(options, animals, position, after)
  const tables = yield* runInTarget(
    to,
    Effect.gen(function* () {
      const last = yield* lockCopy(options)
      const others = plans.filter((plan) => plan !== animals)
      // In reverse order, so that a table is emptied before the tables that it references.
      for (const { to: table } of others.toReversed()) yield* to.unsafe(`DELETE FROM ${table.name}`)
      for (const plan of others) yield* copyRows(options, plan)
      for (const { from: table, to: target } of plans) {
        yield* SqlTable.advance(to, target, table.sequence?.last ?? 0n)
      }
      const compared = yield* Effect.forEach(plans, (plan) => compare(options, plan))
      yield* record(options, last, yield* Clock.currentTimeMillis)
      return compared
    })
  )
  return { tables, isResumed: position !== undefined && position > 0n }
})

/** Runs a transaction on the target; it must not use the transaction mode of the source's snapshot. */
const runInTarget = <A>(
  to: SqlClient.SqlClient,
  work: Effect.Effect<A, CopyFailed | SqlError>
): Effect.Effect<A, CopyFailed> =>
  WriteTransaction.run(to, work).pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN"), inTarget)

const plan = Effect.fnUntraced(function* ({
  from,
  to
}: CopyOptions): Effect.fn.Return<ReadonlyArray<CopyPlan.TablePlan>, CopyFailed> {
  const plans: Array<CopyPlan.TablePlan> = []
  for (const name of CopyPlan.copiedTables) {
    const source = yield* inSource(SqlTable.find(from, name))
    const target = yield* inTarget(SqlTable.find(to, name))
    if (source === undefined && target === undefined) continue
    if (source === undefined || target === undefined) {
      return yield* new CopyFailed({ reason: `only one of the databases has the table ${name}` })
    }
    plans.push(
      yield* Effect.mapError(
        Effect.fromResult(CopyPlan.make(source, target)),
        ({ reason }) => new CopyFailed({ reason })
      )
    )
  }
  return plans
})

/** Returns the id after which an unfinished copy resumes; for a new copy, records it and returns `undefined`. */
const begin = Effect.fnUntraced(function* ({
  source,
  to
}: CopyOptions): Effect.fn.Return<bigint | undefined, CopyFailed | SqlError> {
  // Without the lock, two copies that start concurrently would both find the database empty.
  if (SqlTable.isPostgres(to)) yield* to.unsafe("LOCK TABLE copies IN EXCLUSIVE MODE")
  const [copied] = yield* SqlTable.values(to, "SELECT source, last_id, completed_at FROM copies")
  if (copied !== undefined) {
    const [copiedSource, lastId, completedAt] = copied
    if (completedAt !== null) {
      return yield* new CopyFailed({
        reason: "the target is not empty: an earlier copy to it has already completed"
      })
    }
    if (copiedSource !== source) {
      return yield* new CopyFailed({ reason: "the target contains an unfinished copy of another database" })
    }
    return BigInt(String(lastId))
  }
  for (const [table, content] of contents) {
    const rows = yield* SqlTable.values(to, `SELECT 1 FROM ${table} LIMIT 1`)
    if (rows.length > 0)
      return yield* new CopyFailed({ reason: `the target is not empty: it has ${content}` })
  }
  const parameter = SqlTable.parameterOf(to)
  yield* to.unsafe(`INSERT INTO copies (source, last_id) VALUES (${parameter(0)}, 0)`, [source])
  return undefined
})

/** Tables that are empty in an unused database. */
const contents = [
  [CopyPlan.ANIMALS, "animals"],
  ["api_keys", "API keys"],
  ["key_events", "events of API keys"],
  ["admin_tokens", "admin tokens"],
  ["imports", "import records"],
  ["rate_limits", "rate limits"],
  ["idempotent_responses", "responses of operations"]
] as const

/**
 * Returns the id after which animals are copied. Because PostgreSQL assigns ids before it commits, animals with smaller
 * ids may have been committed after the earlier copy had passed them. In that case, the copy starts again at the first
 * id and skips the animals that the target already has.
 */
const resumeAfter = Effect.fnUntraced(function* (
  { from, to }: CopyOptions,
  position: bigint | undefined
): Effect.fn.Return<bigint, CopyFailed> {
  if (position === undefined || position === 0n) return 0n
  const all = yield* inSource(countUpTo(from, position))
  return all === (yield* inTarget(countUpTo(to, position))) ? position : 0n
})

/** Returns the number of animals whose ids are not larger than `id`. */
const countUpTo = (sql: SqlClient.SqlClient, id: bigint): Effect.Effect<bigint, SqlError> =>
  Effect.map(
    SqlTable.values(sql, `SELECT count(*) FROM pets WHERE id <= ${SqlTable.parameterOf(sql)(0)}`, [id]),
    ([row]) => BigInt(String(row?.[0]))
  )

const copyAnimals = Effect.fnUntraced(function* (
  options: CopyOptions,
  plan: CopyPlan.TablePlan,
  position: bigint | undefined,
  start: bigint
): Effect.fn.Return<void, CopyFailed> {
  const { from, report, to } = options
  const all = yield* inSource(countUpTo(from, Int64.max))
  let copied = yield* inSource(countUpTo(from, start))
  let recorded = position ?? 0n
  for (let after = start; ; ) {
    report(copied, all)
    const rows = yield* inSource(SqlTable.page(from, plan.from, plan.columns, [after], PAGE))
    const last = rows.at(-1)
    if (last === undefined) return
    after = BigInt(String(last[plan.columns.indexOf("id")]))
    const [expected, next] = [recorded, after > recorded ? after : recorded]
    yield* runInTarget(
      to,
      Effect.gen(function* () {
        if ((yield* lockCopy(options)) !== expected) return yield* concurrentCopy
        yield* SqlTable.insert(to, plan.to, plan.columns, rows, "ON CONFLICT (id) DO NOTHING")
        yield* record(options, next)
      })
    )
    recorded = next
    copied += BigInt(rows.length)
    if (rows.length < PAGE) return report(copied, all)
  }
})

const concurrentCopy = Effect.fail(new CopyFailed({ reason: "another process is copying to the target" }))

/** Returns the recorded position, and locks it until the transaction ends. */
const lockCopy = ({ source, to }: CopyOptions): Effect.Effect<bigint, CopyFailed | SqlError> =>
  Effect.flatMap(
    SqlTable.values(
      to,
      `SELECT last_id FROM copies WHERE source = ${SqlTable.parameterOf(to)(0)} AND completed_at IS NULL
       ${SqlTable.isPostgres(to) ? "FOR UPDATE" : ""}`,
      [source]
    ),
    ([row]) => (typeof row?.[0] === "bigint" ? Effect.succeed(row[0]) : concurrentCopy)
  )

const record = ({ source, to }: CopyOptions, lastId: bigint, completedAt?: number) => {
  const parameter = SqlTable.parameterOf(to)
  return to.unsafe(
    `UPDATE copies SET last_id = ${parameter(0)}, completed_at = ${parameter(1)} WHERE source = ${parameter(2)}`,
    [lastId, completedAt === undefined ? null : BigInt(completedAt), source]
  )
}

const copyRows = Effect.fnUntraced(function* (
  { from, to }: CopyOptions,
  { columns, constants, from: source, to: target }: CopyPlan.TablePlan
): Effect.fn.Return<void, CopyFailed | SqlError> {
  const constantValues = constants.map(([, value]) => value)
  const allColumns = [...columns, ...constants.map(([column]) => column)]
  for (let after: SqlTable.Row | undefined; ; ) {
    const rows = yield* inSource(SqlTable.page(from, source, columns, after, PAGE))
    const filled = constantValues.length === 0 ? rows : rows.map((row) => [...row, ...constantValues])
    yield* SqlTable.insert(to, target, allColumns, filled)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = TableDigest.keyOf(source, columns, last)
  }
})

const compare = Effect.fnUntraced(function* (
  { from, to }: CopyOptions,
  { columns, from: source, to: target }: CopyPlan.TablePlan
): Effect.fn.Return<CopiedTable, CopyFailed | SqlError> {
  const expected = yield* inSource(TableDigest.make(from, source, columns))
  const found = yield* TableDigest.make(to, target, columns)
  if (expected.rows === found.rows && expected.digest === found.digest) return { name: source.name, ...found }
  return yield* new CopyFailed({
    reason: `the target differs from the source in ${source.name}: ${describe(found)} instead of ${describe(expected)}`
  })
})

const describe = ({ digest, rows }: TableDigest.TableDigest): string =>
  `${rows} rows with SHA-256 ${digest.slice(0, 16)}`
