/**
 * Implements `SqlClient` over Node's SQLite. Replace it with `@effect/sql-sqlite-node` once that package has a stable
 * release for Effect 4.
 *
 * Statements and transactions share one connection and run in sequence. Driver errors become `SqlError`, with SQLite's
 * extended result code as `reason.cause.errno`. A stream reads all its rows first. `updateValues` is not supported.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as SqliteConnection from "./SqliteConnection.ts"

export type SqliteClientConfig = Omit<SqliteConnection.SqliteConnectionConfig, "onRemovedLog">

/** Provides a client for a file as the `SqlClient` service; the layer closes it. */
export const layer = (config: SqliteClientConfig): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.provide(Layer.effect(SqlClient.SqlClient, make(config)), Reactivity.layer)

/** Opens the file, or creates it unless it is opened for reading only; the scope closes it. */
export const make = (
  config: SqliteClientConfig
): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function* () {
    const sqlite = yield* open(config)
    const acquirers = SqlClient.makeSqliteAcquirers({
      connection: Effect.as(attempt(sqlite.files.checkIfDue), connect(sqlite)),
      semaphore: yield* Semaphore.make(1),
      isTransaction: sqlite.isTransaction
    })
    return yield* SqlClient.make({
      ...acquirers,
      ...dialect,
      transactionAcquirer: Effect.andThen(attempt(sqlite.files.check), acquirers.transactionAcquirer)
    })
  })

/** The options of every `SqlClient` for SQLite. */
export const dialect = {
  compiler: Statement.makeCompilerSqlite(),
  driver: "sqlite-node",
  prepareTransactionControls: true,
  releaseSavepoint: (name: string) => `RELEASE SAVEPOINT ${name}`,
  spanAttributes: [["db.system.name", "sqlite"]]
} as const

/** Opens a connection, which the scope closes; retries for up to 4 seconds while the file is locked. */
export const open = (
  config: SqliteConnection.SqliteConnectionConfig
): Effect.Effect<SqliteConnection.SqliteConnection, SqlError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.retry(
      attempt(() => SqliteConnection.open(config)),
      {
        while: ({ reason }) => reason._tag === "LockTimeoutError",
        schedule: Schedule.upTo(Schedule.spaced("20 millis"), { duration: "4 seconds" })
      }
    ),
    (connection) => Effect.sync(connection.close),
    { interruptible: true }
  )

/** Returns a connection's statements as effects. */
export const connect = (sqlite: SqliteConnection.SqliteConnection): Connection =>
  connectionOf(
    (sql, params) => attempt((bigints) => sqlite.rows(sql, params, bigints)),
    (sql, params) => attempt((bigints) => sqlite.values(sql, params, bigints))
  )

type Query<Row> = (sql: string, params: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, SqlError>

/** Returns a connection that runs statements with `rows`, which returns objects, and `values`. */
export const connectionOf = (rows: Query<object>, values: Query<ReadonlyArray<unknown>>): Connection => {
  const execute: Connection["execute"] = (sql, params, transformRows = identity) =>
    Effect.map(rows(sql, params), transformRows)
  return {
    execute,
    executeUnprepared: execute,
    executeValues: values,
    executeValuesUnprepared: values,
    executeRaw: rows,
    executeStream: (sql, params, transformRows) =>
      Stream.unwrap(Effect.map(execute(sql, params, transformRows), Stream.fromIterable))
  }
}

/** Runs a driver call; an exception of the driver becomes a failure. */
export const attempt = <A>(call: (bigints: boolean) => A): Effect.Effect<A, SqlError> =>
  Effect.withFiber((fiber) => exitOf(() => call(fiber.getRef(SqlClient.SafeIntegers))))

/** Returns the exit of a driver call. */
export const exitOf = <A>(call: () => A): Exit.Exit<A, SqlError> => {
  try {
    return Exit.succeed(call())
  } catch (thrown) {
    return thrown instanceof SqliteConnection.SqliteFailure
      ? Exit.fail(errorOf(thrown.cause, thrown.operation))
      : Exit.die(thrown)
  }
}

/** Converts an exception of the driver to a `SqlError`. */
export const errorOf = (thrown: unknown, operation: string): SqlError => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  // `classifySqliteError` expects Node's `errcode` as `errno`.
  const cause = Predicate.hasProperty(thrown, "errcode")
    ? Object.assign(new Error(message, { cause: thrown }), { errno: thrown.errcode })
    : thrown
  return new SqlError({ reason: classifySqliteError(cause, { message, operation }) })
}
