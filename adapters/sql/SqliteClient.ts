/**
 * `SqlClient` over the SQLite of Node. It is replaced by `@effect/sql-sqlite-node` once that has a stable release for
 * Effect 4.
 *
 * There is one connection; statements, transactions and streams use it one after the other. Errors of the driver become
 * `SqlError`, with SQLite's extended result code as `reason.cause.errno`. `updateValues` is not supported.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
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
import type { Connection, Row } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as SqliteFiles from "./SqliteFiles.ts"

/** Rows of a stream that one read returns; reading blocks the thread. */
const ROWS_PER_PULL = 100

export interface SqliteClientConfig {
  /** A path, or `:memory:`. */
  readonly filename: string
  readonly readonly?: boolean | undefined
  /** `FULL` (default) loses no commit; with `NORMAL` a power failure can lose the latest ones. */
  readonly synchronous?: "FULL" | "NORMAL" | undefined
  /** Milliseconds that SQLite waits for a lock, 5 by default. Waiting blocks the thread, so retries are better. */
  readonly busyTimeoutMs?: number | undefined
  /** Maximum number of prepared statements in the cache, 200 by default. */
  readonly preparedStatements?: number | undefined
}

/** A client of a file as the `SqlClient` service; the layer closes it. */
export const layer = (config: SqliteClientConfig): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.provide(Layer.effect(SqlClient.SqlClient, make(config)), Reactivity.layer)

/** Opens the file, or creates it unless it is opened for reading only; the scope closes it. */
export const make = (
  config: SqliteClientConfig
): Effect.Effect<SqliteClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function* () {
    const database = yield* open(config)
    const files = yield* attempt("open", () => filesOf(config, database))
    const connection = connect(database, config.preparedStatements ?? 200, files)
    const recover = () => {
      connection.recover()
      files.checkSometimes()
    }
    const acquirers = SqlClient.makeSqliteAcquirers({
      connection: Effect.as(attempt("recover", recover), connection),
      semaphore: yield* Semaphore.make(1),
      isTransaction: () => database.isOpen && database.isTransaction
    })
    const client = yield* SqlClient.make({
      ...acquirers,
      transactionAcquirer: Effect.andThen(attempt("begin", files.check), acquirers.transactionAcquirer),
      compiler: Statement.makeCompilerSqlite(),
      driver: "sqlite-node",
      prepareTransactionControls: true,
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
      spanAttributes: [["db.system.name", "sqlite"]]
    })
    return Object.assign(client, {
      [TypeId]: TypeId,
      transact: connection.transact,
      read: connection.read
    } as const)
  })

/** Rows as arrays of values. */
export type Values = ReadonlyArray<ReadonlyArray<unknown>>

/** Runs a statement; integers are returned as bigints. */
export type Run = (sql: string, params: ReadonlyArray<unknown>) => Values

const TypeId = "~animal-store/sql/SqliteClient"

/** A `SqlClient` over `node:sqlite`. */
export interface SqliteClient extends SqlClient.SqlClient {
  readonly [TypeId]: typeof TypeId
  /**
   * Executes work in its own transaction under the write lock, in one call; rolls back if it throws. Returns
   * `undefined`, and does nothing, while another transaction or a stream is active.
   */
  readonly transact: <A>(work: (run: Run) => A) => Exit.Exit<A, SqlError> | undefined
  /**
   * Runs a statement that only reads. Returns `undefined` under the same condition. Saves 12 % of the CPU time of the
   * mixed workload on SQLite (decision 19).
   */
  readonly read: (...statement: Parameters<Run>) => Exit.Exit<Values, SqlError> | undefined
}

/** Whether a client was created by this module. */
export const isSqliteClient = (client: SqlClient.SqlClient): client is SqliteClient => TypeId in client

/** Watches the files of a writable database; a read-only one may have no `-wal` and `-shm`. */
const filesOf = (
  { filename, readonly: readOnly = false, synchronous = "FULL" }: SqliteClientConfig,
  database: DatabaseSync
): SqliteFiles.SqliteFiles => {
  if (filename === ":memory:" || readOnly) return { check: () => {}, checkSometimes: () => {} }
  const valueOf = (pragma: string, column: string) => database.prepare(`PRAGMA ${pragma}`).get()?.[column]
  return SqliteFiles.make(
    // Without `FULL` the latest commits can be lost anyway.
    { filename, isStrict: synchronous === "FULL", pageSize: Number(valueOf("page_size", "page_size")) },
    {
      areUsed: () => valueOf("journal_mode", "journal_mode") === "wal",
      frames: () => Number(valueOf("wal_checkpoint(NOOP)", "log")),
      truncate: () => database.exec("PRAGMA wal_checkpoint(TRUNCATE)")
    }
  )
}

const open = (config: SqliteClientConfig): Effect.Effect<DatabaseSync, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const { busyTimeoutMs = 5, filename, readonly: readOnly = false, synchronous = "FULL" } = config
    const database = yield* Effect.acquireRelease(
      attempt("open", () => new DatabaseSync(filename, { readOnly, timeout: busyTimeoutMs })),
      (database) => Effect.sync(() => database.close())
    )
    const pragmas = [
      "PRAGMA trusted_schema = OFF",
      // macOS only: flushes the cache of the drive.
      "PRAGMA fullfsync = ON",
      // Also reads the file, and so fails if it is not a database.
      `PRAGMA synchronous = ${synchronous}`,
      // The first read creates `-wal` and `-shm`, which are watched from then on.
      ...(readOnly ? [] : ["PRAGMA journal_mode = WAL", "SELECT 1 FROM sqlite_schema"])
    ]
    yield* attempt("open", () => database.exec(pragmas.join(";"))).pipe(
      // Changing the journal mode needs exclusive access, for which SQLite does not always wait by itself.
      Effect.retry({
        while: ({ reason }) => reason._tag === "LockTimeoutError",
        schedule: Schedule.upTo(Schedule.spaced("20 millis"), { duration: "4 seconds" })
      })
    )
    return database
  })

const connect = (
  database: DatabaseSync,
  capacity: number,
  files: SqliteFiles.SqliteFiles
): Connection & Pick<SqliteClient, "read" | "transact"> & { readonly recover: () => void } => {
  const cache = new Map<string, StatementSync>()

  const cached = (sql: string): StatementSync => {
    const known = cache.get(sql)
    if (known !== undefined) return known
    const statement = prepare(database, sql)
    cache.set(sql, statement)
    if (cache.size > capacity) {
      const [oldest = sql] = cache.keys()
      cache.delete(oldest)
    }
    return statement
  }
  const fresh = (sql: string): StatementSync => prepare(database, sql)

  const objects =
    (operation: string, statement: typeof cached): Connection["execute"] =>
    (sql, params, transformRows = identity) =>
      attempt(operation, (bigints) => transformRows(all(statement(sql), params, bigints)))

  const arrays =
    (operation: string, statement: typeof cached): Connection["executeValues"] =>
    (sql, params) =>
      attempt(operation, (bigints) => allValues(statement(sql), params, bigints))

  const run: Run = (sql, params) => orSqlError("run", () => allValues(cached(sql), params, true))
  const isInTransaction = (): boolean => orSqlError("run", () => database.isTransaction)
  let streams = 0

  /** Whether a failed transaction may still be open; its rollback is retried before any other work. */
  let isDangling = false
  const recover = (): void => {
    // SQLite rolls back by itself after some errors.
    if (isDangling && isInTransaction()) run("ROLLBACK", [])
    isDangling = false
  }

  const transact = <A>(work: (run: Run) => A): A => {
    orSqlError("begin", files.check)
    run("BEGIN IMMEDIATE", [])
    try {
      const done = work(run)
      run("COMMIT", [])
      return done
    } catch (thrown) {
      isDangling = true
      try {
        recover()
      } catch {
        // The next call retries the rollback, and fails as long as it fails.
      }
      throw thrown
    }
  }

  const unlessBusy = <A>(act: () => A): Exit.Exit<A, SqlError> | undefined => {
    try {
      recover()
      return streams > 0 || isInTransaction() ? undefined : Exit.succeed(act())
    } catch (thrown) {
      return thrown instanceof SqlError ? Exit.fail(thrown) : Exit.die(thrown)
    }
  }

  return {
    read: (sql, params) =>
      unlessBusy(() => {
        orSqlError("read", files.checkSometimes)
        return run(sql, params)
      }),
    transact: (work) => unlessBusy(() => transact(work)),
    recover,
    execute: objects("execute", cached),
    executeUnprepared: objects("executeUnprepared", fresh),
    executeValues: arrays("executeValues", cached),
    executeValuesUnprepared: arrays("executeValuesUnprepared", fresh),
    // Returns rows, or `changes` and `lastInsertRowid` of a statement without rows.
    executeRaw: (sql, params) =>
      attempt("executeRaw", (bigints) => {
        const statement = cached(sql)
        if (statement.columns().length > 0) return all(statement, params, bigints)
        statement.setReadBigInts(bigints)
        return statement.run(...params.map(bound))
      }),
    executeStream: (sql, params, transformRows = identity) =>
      Effect.acquireRelease(
        attempt("executeStream", (bigints) => {
          // Not the cached statement: another use would reset this cursor.
          const statement = fresh(sql)
          statement.setReadBigInts(bigints)
          const cursor = statement.iterate(...params.map(bound))
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
              const page: Array<Row> = []
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

/** Prepares one statement; SQLite would ignore any further statement in `sql`. */
const prepare = (database: DatabaseSync, sql: string): StatementSync => {
  const statement = database.prepare(text(sql))
  if (sql.slice(statement.sourceSQL.length).trim() === "") return statement
  throw new TypeError("more than one SQL statement")
}

const all = (
  statement: StatementSync,
  params: ReadonlyArray<unknown>,
  bigints: boolean
): ReadonlyArray<Row> => rowsOf(statement, params, bigints, false)

const allValues = (statement: StatementSync, params: ReadonlyArray<unknown>, bigints: boolean): Values =>
  // The driver's types describe rows only as objects.
  rowsOf(statement, params, bigints, true) as ReadonlyArray<unknown> as Values

const rowsOf = (
  statement: StatementSync,
  params: ReadonlyArray<unknown>,
  bigints: boolean,
  arrays: boolean
): ReadonlyArray<Row> => {
  // Always set both: a cached statement keeps the settings of its last use.
  statement.setReadBigInts(bigints)
  statement.setReturnArrays(arrays)
  return statement.all(...params.map(bound))
}

/** Converts a parameter to a value of SQLite; throws if SQLite would store another value. */
const bound = (value: unknown): SQLInputValue => {
  switch (typeof value) {
    case "string":
      return text(value)
    case "bigint":
      return value
    case "number":
      if (Number.isNaN(value)) break
      return value
    case "boolean":
      return value ? 1n : 0n
    case "object":
      if (value === null || value instanceof Uint8Array) return value
  }
  throw new TypeError(`not a value of SQLite: ${typeof value}`)
}

const text = (value: string): string => {
  // SQLite would cut the text at U+0000 and replace lone surrogates by U+FFFD.
  if (value.includes("\0") || /\p{Surrogate}/u.test(value)) throw new TypeError("not a text of SQLite")
  return value
}

/** Runs a call of the driver; an exception becomes a failure. */
const attempt = <A>(operation: string, call: (bigints: boolean) => A): Effect.Effect<A, SqlError> =>
  Effect.withFiber((fiber) => {
    try {
      return Effect.succeed(call(fiber.getRef(SqlClient.SafeIntegers)))
    } catch (thrown) {
      return Effect.fail(errorOf(thrown, operation))
    }
  })

/** Runs a call of the driver without an effect; an exception becomes a thrown `SqlError`. */
const orSqlError = <A>(operation: string, call: () => A): A => {
  try {
    return call()
  } catch (thrown) {
    throw errorOf(thrown, operation)
  }
}

const errorOf = (thrown: unknown, operation: string): SqlError => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  // Node calls `errcode` what `classifySqliteError` calls `errno`.
  const cause = Predicate.hasProperty(thrown, "errcode")
    ? Object.assign(new Error(message, { cause: thrown }), { errno: thrown.errcode })
    : thrown
  return new SqlError({ reason: classifySqliteError(cause, { message, operation }) })
}
