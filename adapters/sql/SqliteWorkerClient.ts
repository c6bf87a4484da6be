/**
 * Implements `SqlClient` for a SQLite file whose writes run in a worker thread, because they wait for the disk.
 * Statements that only read run in this thread on a separate connection: the operating system caches the file, and with
 * the write-ahead log they do not wait for a writer. There are no transactions, only scripts and counts.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as SqliteClient from "./SqliteClient.ts"
import type { Values } from "./SqliteConnection.ts"
import * as SqliteThread from "./SqliteThread.ts"
import type * as SqlScript from "./SqlScript.ts"

const TypeId = "~animal-store/sql/SqliteWorkerClient"

/**
 * A `SqlClient` whose writes run in a worker thread. Single statements are handed to the operating system, and `execute`
 * of a single statement returns no rows.
 */
export interface SqliteWorkerClient extends SqlClient.SqlClient, Pick<SqliteThread.SqliteThread, "submit"> {
  readonly [TypeId]: typeof TypeId
  /** Runs a statement that only reads, without an effect; integers are returned as bigints. */
  readonly read: (sql: string, params: ReadonlyArray<unknown>) => Exit.Exit<Values, SqlError>
  /** Executes a script in a transaction of its own, which is on the disk when it is acknowledged. */
  readonly execute: (script: SqlScript.Script) => Effect.Effect<SqlScript.Outcome, SqlError>
  /** Executes a script and rolls it back. */
  readonly rehearse: (script: SqlScript.Script) => Effect.Effect<SqlScript.Outcome, SqlError>
}

/** Whether a client was created by this module. */
export const isSqliteWorkerClient = (client: SqlClient.SqlClient): client is SqliteWorkerClient =>
  TypeId in client

/** Opens a file, or creates it; the scope closes it. */
export const make = (
  filename: string,
  start?: SqliteThread.Start
): Effect.Effect<SqliteWorkerClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function* () {
    let checkFiles = (): void => {}
    const thread = yield* SqliteThread.make(filename, () => checkFiles(), start)
    // Closes before the thread, because closing the last connection moves the log into the file and waits for the disk.
    const reader = yield* SqliteClient.open({ filename, onRemovedLog: thread.check })
    checkFiles = reader.files.check
    const run = (queue: "scripts" | "quickScripts" | "rehearsals") => (script: SqlScript.Script) =>
      Effect.callback<SqlScript.Outcome, SqlError>((resume) =>
        Effect.sync(thread.submit[queue](script, resume))
      )
    const write = run("quickScripts")
    const reading = SqliteClient.connect(reader)
    const check = SqliteClient.attempt(reader.files.checkIfDue)
    const connection = SqliteClient.connectionOf(
      (sql, params) =>
        isSelect(sql)
          ? Effect.andThen(check, reading.execute(sql, params, undefined))
          : Effect.as(write([[sql, params]]), []),
      (sql, params) =>
        isSelect(sql)
          ? Effect.andThen(check, reading.executeValues(sql, params))
          : Effect.map(write([[sql, params]]), ({ rows }) => rows)
    )
    const sql = yield* SqlClient.make({
      ...SqliteClient.dialect,
      acquirer: Effect.succeed(connection),
      borrower: (use) => use(connection),
      transactionAcquirer: Effect.die(new Error("transactions in the worker thread are scripts"))
    })
    return Object.assign(sql, {
      [TypeId]: TypeId,
      submit: thread.submit,
      read: (statement: string, params: ReadonlyArray<unknown>) =>
        SqliteClient.exitOf(() => {
          reader.files.checkIfDue()
          return reader.run(statement, params)
        }),
      execute: run("scripts"),
      rehearse: run("rehearsals")
    } as const)
  })

const isSelect = (sql: string): boolean => /^\s*SELECT\b/i.test(sql)
