/**
 * Implements `SqlClient` over Node's SQLite. Replace it with `@effect/sql-sqlite-node` once that package has a stable
 * release for Effect 4.
 *
 * Statements, transactions and streams share one connection and run in sequence. Driver errors become
 * `SqlError`, with SQLite's extended result code as `reason.cause.errno`. `updateValues` is not supported.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
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

/** Maximum number of rows that one read of a stream returns, because reading blocks the thread. */
const ROWS_PER_PULL = 100

export type SqliteClientConfig = Omit<SqliteConnection.SqliteConnectionConfig, "onRemovedLog">

export type { Run, Values } from "./SqliteConnection.ts"

/** Provides a client for a file as the `SqlClient` service; the layer closes it. */
export const layer = (config: SqliteClientConfig): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.provide(Layer.effect(SqlClient.SqlClient, make(config)), Reactivity.layer)

/** Opens the file, or creates it unless it is opened for reading only; the scope closes it. */
export const make = (
  config: SqliteClientConfig
): Effect.Effect<SqliteClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function* () {
    const sqlite = yield* open(config)
    const connection = connect(sqlite)
    const acquirers = SqlClient.makeSqliteAcquirers({
      connection: Effect.as(attempt("read", sqlite.files.checkIfDue), connection),
      semaphore: yield* Semaphore.make(1),
      isTransaction: sqlite.isTransaction
    })
    const client = yield* SqlClient.make({
      ...acquirers,
      transactionAcquirer: Effect.andThen(
        attempt("begin", sqlite.files.check),
        acquirers.transactionAcquirer
      ),
      compiler: Statement.makeCompilerSqlite(),
      driver: "sqlite-node",
      prepareTransactionControls: true,
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
      spanAttributes: [["db.system.name", "sqlite"]]
    })
    return Object.assign(client, { [TypeId]: TypeId, read: connection.read } as const)
  })

const TypeId = "~animal-store/sql/SqliteClient"

/** A client that can read without an effect. */
export interface SqliteReads {
  /**
   * Runs a statement that only reads. Returns `undefined`, and does nothing, while a transaction or a stream uses the
   * connection. Saves 12% of the CPU time of the mixed workload on SQLite
   * (docs/decisions/speed.md#constructs-that-stay-for-speed).
   */
  readonly read: (
    ...statement: Parameters<SqliteConnection.Run>
  ) => Exit.Exit<SqliteConnection.Values, SqlError> | undefined
}

/** A `SqlClient` over `node:sqlite`. */
export interface SqliteClient extends SqlClient.SqlClient, SqliteReads {
  readonly [TypeId]: typeof TypeId
}

/** Whether a client was created by this module. */
export const isSqliteClient = (client: SqlClient.SqlClient): client is SqliteClient => TypeId in client

/** Opens a connection, which the scope closes; retries for up to 4 seconds while the file is locked. */
export const open = (
  config: SqliteConnection.SqliteConnectionConfig
): Effect.Effect<SqliteConnection.SqliteConnection, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(
      attempt("open", () => SqliteConnection.open(config)),
      (database) => Effect.sync(() => database.close())
    )
    return yield* attempt("open", () => SqliteConnection.initialize(database, config)).pipe(
      Effect.retry({
        while: ({ reason }) => reason._tag === "LockTimeoutError",
        schedule: Schedule.upTo(Schedule.spaced("20 millis"), { duration: "4 seconds" })
      })
    )
  })

/** Returns a connection's statements as effects, and `read`, which completes synchronously. */
export const connect = (sqlite: SqliteConnection.SqliteConnection): Connection & SqliteReads => {
  let streams = 0

  const objects =
    (operation: string, isCached: boolean): Connection["execute"] =>
    (sql, params, transformRows = identity) =>
      attempt(operation, (bigints) => transformRows(sqlite.rows(sql, params, { bigints, isCached })))

  const arrays =
    (operation: string, isCached: boolean): Connection["executeValues"] =>
    (sql, params) =>
      attempt(operation, (bigints) => sqlite.values(sql, params, { bigints, isCached }))

  return {
    read: (sql, params) => {
      if (streams > 0 || sqlite.isTransaction()) return undefined
      try {
        sqlite.files.checkIfDue()
        return Exit.succeed(sqlite.run(sql, params))
      } catch (thrown) {
        return thrown instanceof SqliteConnection.SqliteFailure
          ? Exit.fail(errorOf(thrown.cause, thrown.operation))
          : Exit.die(thrown)
      }
    },
    execute: objects("execute", true),
    executeUnprepared: objects("executeUnprepared", false),
    executeValues: arrays("executeValues", true),
    executeValuesUnprepared: arrays("executeValuesUnprepared", false),
    executeRaw: (sql, params) =>
      attempt("executeRaw", (bigints) => sqlite.raw(sql, params, { bigints, isCached: true })),
    executeStream: (sql, params, transformRows = identity) =>
      Effect.acquireRelease(
        attempt("executeStream", (bigints) => {
          const cursor = sqlite.iterate(sql, params, { bigints, isCached: false })
          streams++
          return cursor
        }),
        (cursor) =>
          Effect.ignore(
            attempt("executeStream", () => {
              streams--
              cursor.return?.()
            })
          )
      ).pipe(
        Effect.map((cursor) =>
          Stream.paginate(undefined, () =>
            attempt("executeStream", () => {
              const page: Array<SqliteConnection.Row> = []
              let next = cursor.next()
              while (next.done !== true && page.push(next.value) < ROWS_PER_PULL) next = cursor.next()
              return [transformRows(page), next.done === true ? Option.none() : Option.some(undefined)]
            })
          )
        ),
        Stream.unwrap
      )
  }
}

/** Runs a driver call; an exception becomes a failure. */
export const attempt = <A>(operation: string, call: (bigints: boolean) => A): Effect.Effect<A, SqlError> =>
  Effect.withFiber((fiber) => {
    try {
      return Effect.succeed(call(fiber.getRef(SqlClient.SafeIntegers)))
    } catch (thrown) {
      const cause = thrown instanceof SqliteConnection.SqliteFailure ? thrown.cause : thrown
      return Effect.fail(errorOf(cause, operation))
    }
  })

/** Converts an exception of the driver to a `SqlError`. */
export const errorOf = (thrown: unknown, operation: string): SqlError => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  // `classifySqliteError` expects Node's `errcode` as `errno`.
  const cause = Predicate.hasProperty(thrown, "errcode")
    ? Object.assign(new Error(message, { cause: thrown }), { errno: thrown.errcode })
    : thrown
  return new SqlError({ reason: classifySqliteError(cause, { message, operation }) })
}
