/** Runs transactions, mostly of writes, in each dialect. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqliteJobs from "./SqliteJobs.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import * as SqlScript from "./SqlScript.ts"
import * as SqlTable from "./SqlTable.ts"

/**
 * Runs `work` in one transaction, in the mode of the context. If the rollback fails, for example because the connection
 * is lost, the effect fails with the `SqlError`; with the client's own `withTransaction`, that is a defect. Every other
 * defect that is a `SqlError` also becomes a failure.
 */
export const transact = <A, E, R>(
  sql: SqlClient.SqlClient,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchDefect(
    sql.withTransaction(work),
    (defect): Effect.Effect<never, SqlError> =>
      isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)
  )

/** Whether another process is writing to the SQLite database. */
export const isLocked = ({ reason }: SqlError): boolean => reason._tag === "LockTimeoutError"

/** Runs a transaction once under SQLite's write lock, without yielding, so that other fibers never find it locked. */
export const immediate = <A, E, R>(
  sql: SqlClient.SqlClient,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  transact(sql, work).pipe(
    // A deferred transaction fails if another process writes between its first read and its first write.
    Effect.provideService(SqlClient.BeginTransaction, "BEGIN IMMEDIATE"),
    Effect.provideService(References.PreventSchedulerYield, true)
  )

const eachStep = Effect.fnUntraced(function* <A>(
  sql: SqlClient.SqlClient,
  begin: () => SqlScript.Steps<A>
): Effect.fn.Return<A, SqlError> {
  const transaction = begin()
  let step = transaction.next()
  while (step.done !== true) step = transaction.next(yield* SqlTable.query(sql, ...step.value))
  return step.value
})

/** The pauses before a locked database is retried, up to the maximum. */
const whileLocked = Schedule.min([Schedule.exponential("1 millis"), Schedule.spaced("25 millis")])

/** Runs a transaction; on SQLite, waits for the write transactions of other processes. */
export const run = <A, E = never>(
  sql: SqlClient.SqlClient,
  work: Effect.Effect<A, E | SqlError>
): Effect.Effect<A, E | SqlError> =>
  SqlTable.isPostgres(sql)
    ? transact(sql, work)
    : Effect.retry(immediate(sql, work), {
        while: (error) => isSqlError(error) && isLocked(error),
        schedule: whileLocked
      })

/**
 * Runs a transaction of steps; on SQLite, waits for the write transactions of other processes. `begin` creates the
 * steps; it is called after the transaction has started.
 */
export const runSteps = <A>(
  sql: SqlClient.SqlClient,
  begin: () => SqlScript.Steps<A>
): Effect.Effect<A, SqlError> => run(sql, eachStep(sql, begin))

/** Executes a script in a transaction of its own: in the worker thread, if the client has one. */
export const execute = (
  sql: SqlClient.SqlClient,
  script: SqlScript.Script
): Effect.Effect<SqlScript.Outcome, SqlError> =>
  SqliteWorkerClient.isSqliteWorkerClient(sql)
    ? sql.execute(script.map(([text, ...rest]) => [SqlTable.textFor(sql, text), ...rest]))
    : runSteps(sql, () => SqlScript.steps(script))

/**
 * Creates a function that runs the calls of a queue in SQLite: in the worker thread, if the client has one, where calls
 * that arrive during a transaction share the next one, and its wait for the disk.
 */
export const inQueue = <N extends SqliteJobs.Name>(
  sql: SqlClient.SqlClient,
  call: SqlCall,
  queue: N
): ((given: SqliteJobs.Call<N>) => Effect.Effect<SqliteJobs.Result<N>, StoreUnavailable>) => {
  if (SqliteWorkerClient.isSqliteWorkerClient(sql)) {
    const submit = sql.submit[queue]
    return (given) => call.submit((done) => submit(given, done))
  }
  return (given) =>
    call.run(
      Effect.map(
        runSteps(sql, () => SqliteJobs.stepsOf(queue, [given])),
        // There is one result for each call.
        ([result]) => result as SqliteJobs.Result<N>
      )
    )
}

/** Executes a statement in SQLite and rolls it back. Nothing is written to the disk, not even to `-wal`. */
export const rehearse = (
  sql: SqlClient.SqlClient,
  statement: string,
  params: ReadonlyArray<unknown>
): Effect.Effect<unknown, SqlError> =>
  SqliteWorkerClient.isSqliteWorkerClient(sql)
    ? sql.rehearse([[statement, params]])
    : run(sql, Effect.andThen(sql.unsafe(statement, params), Effect.fail(new Rehearsed()))).pipe(
        Effect.catchTag("Rehearsed", () => Effect.void)
      )

class Rehearsed extends Data.TaggedError("Rehearsed") {}
