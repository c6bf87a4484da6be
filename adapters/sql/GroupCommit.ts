/**
 * Commits writes to SQLite in groups, because SQLite runs one write transaction at a time: writes that arrive during a
 * transaction share the next transaction and its wait for the disk.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Batch from "../storage/Batch.ts"
import { CallObserver } from "../storage/CallObserver.ts"
import * as SqliteClient from "./SqliteClient.ts"
import * as SqliteJobs from "./SqliteJobs.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import type * as SqlScript from "./SqlScript.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/**
 * Submits a write and calls `done` at the end of its group. The returned function withdraws the write: `done` is not
 * called, and the write is not executed if its group has not started.
 */
export type Submit<Write, A> = Batch.Submit<Write, A, SqlError>

/** Creates a submit function for calls of a transaction: in the worker thread, if the client has one. */
export const calls = <N extends SqliteJobs.Name, A>(
  sql: SqlClient.SqlClient,
  options: SqliteWorkerClient.CallOptions<N, A>
): Effect.Effect<Submit<SqliteJobs.Call<N>, A>> =>
  SqliteWorkerClient.isSqliteWorkerClient(sql)
    ? Effect.succeed(sql.queue(options))
    : make(sql, function* (group: ReadonlyArray<SqliteJobs.Call<N>>) {
        const results = yield* SqliteJobs.stepsOf(options.name, group, options.sql ?? "")
        return group.map((call, index) => SqliteClient.exitOf(() => options.resultOf(results, index, call)))
      })

/**
 * Creates a submit function. `commit` executes a group of writes in one transaction and returns an exit for each write,
 * in order; if it fails, the whole group fails and stores nothing. A group waits while another process has the write
 * lock; writes withdrawn during this wait are not executed.
 */
export const make = <Write, A>(
  sql: SqlClient.SqlClient,
  commit: (writes: ReadonlyArray<Write>) => SqlScript.Steps<ReadonlyArray<Exit.Exit<A, SqlError>>>
): Effect.Effect<Submit<Write, A>> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const observer = Context.get(context, CallObserver)
    return Batch.make({
      maxSize: SqliteJobs.MAX_GROUP,
      concurrency: 1,
      run: ({ isWanted, take }) =>
        // A transaction runs to its end even if all its writes are withdrawn, because the next one waits for it.
        Effect.uninterruptible(WriteTransaction.steps(sql, () => commit(take()))).pipe(
          Effect.tap(({ length }) => Effect.sync(() => observer?.committed(length))),
          Effect.retry({
            while: (error) => WriteTransaction.isLocked(error) && isWanted(),
            schedule: WriteTransaction.whileLocked
          })
        )
    })
  })
