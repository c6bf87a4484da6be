/**
 * `SqlClient` over the SQLite that is built into Node. It stands in until `@effect/sql-sqlite-node` has a stable
 * release for Effect 4: this file goes when that package comes.
 *
 * One connection, which statements, transactions and streams use one after the other. Whatever the driver refuses or
 * throws is an `SqlError`, with SQLite's extended result code as `reason.cause.errno`. `updateValues` is not supported.
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
import * as LatestReads from "./LatestReads.ts"
import * as SqliteFiles from "./SqliteFiles.ts"

/** Rows of a stream that are read at once, which blocks the thread. */
const ROWS_PER_PULL = 100

export interface SqliteClientConfig {
  /** A path, or `:memory:`. */
  readonly filename: string
  readonly readonly?: boolean | undefined
  /** `FULL` (default) loses no commit; with `NORMAL` a power failure may take the latest ones. */
  readonly synchronous?: "FULL" | "NORMAL" | undefined
  /** Milliseconds that SQLite waits for a lock, 5 by default. It blocks the whole thread meanwhile: rather retry. */
  readonly busyTimeoutMs?: number | undefined
  /** Statements that are kept prepared, 200 by default. */
  readonly preparedStatements?: number | undefined
}

/** A client of the file as the `SqlClient` service, closed with the layer. */
export const layer = (config: SqliteClientConfig): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.provide(Layer.effect(SqlClient.SqlClient, make(config)), Reactivity.layer)

/** Opens the file, which is created unless it is opened for reading only, and closes it with the scope. */
export const make = (
  config: SqliteClientConfig
): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
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
    directs.set(client, connection)
    return client
  })

/** Rows as their values. */
export type Values = ReadonlyArray<ReadonlyArray<unknown>>

/** Runs a statement; integers are bigints. */
export type Run = (sql: string, params: ReadonlyArray<unknown>) => Values

/** What is done at once, without a fiber; `undefined` where it would have to wait for a transaction or a stream. */
export interface Direct {
  /** Runs a statement that only reads; while nothing is written, the same rows are not read again. */
  readonly read: (...statement: Parameters<Run>) => Exit.Exit<Values, SqlError> | undefined
  /** Does all of the work in a transaction of its own, under the write lock; nothing of it when it throws. */
  readonly transact: <A>(work: (run: Run) => A) => Exit.Exit<A, SqlError> | undefined
}

const directs = new WeakMap<SqlClient.SqlClient, Direct>()

/** What a client can do at once, if it was made here. */
export const directOf = (client: SqlClient.SqlClient): Direct | undefined => directs.get(client)

/** The files of a database that is written to; one that is only read may have no other than its own. */
const filesOf = (
  { filename, readonly: readOnly = false, synchronous = "FULL" }: SqliteClientConfig,
  database: DatabaseSync
): SqliteFiles.SqliteFiles => {
  if (filename === ":memory:" || readOnly) return { check: () => {}, checkSometimes: () => {} }
  const valueOf = (pragma: string, column: string) => database.prepare(`PRAGMA ${pragma}`).get()?.[column]
  return SqliteFiles.make(
    // Without `FULL` the latest commits may be lost anyway.
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
      // Elsewhere than on macOS it changes nothing; there a disk would keep what it was told to write for itself.
      "PRAGMA fullfsync = ON",
      // It reads the file, too: one that is no database is found out here.
      `PRAGMA synchronous = ${synchronous}`,
      // The first read creates the files beside the database, which are looked at from then on.
      ...(readOnly ? [] : ["PRAGMA journal_mode = WAL", "SELECT 1 FROM sqlite_schema"])
    ]
    yield* attempt("open", () => database.exec(pragmas.join(";"))).pipe(
      // Who changes the journal mode must be alone for a moment, and for that SQLite does not always wait by itself.
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
): Connection & Direct & { readonly recover: () => void } => {
  const cache = new Map<string, StatementSync>()

  const prepared = (sql: string): StatementSync => {
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
  const running =
    (statement: typeof prepared): Run =>
    (sql, params) =>
      orSqlError("run", () => allValues(statement(sql), params, true))
  const reads = LatestReads.make(running(prepared))
  // Whatever these do, what was read before is not relied upon.
  const cached = (sql: string): StatementSync => {
    reads.clear()
    return prepared(sql)
  }
  const fresh = (sql: string): StatementSync => {
    reads.clear()
    return prepare(database, sql)
  }

  const objects =
    (operation: string, statement: typeof cached): Connection["execute"] =>
    (sql, params, transformRows = identity) =>
      attempt(operation, (bigints) => transformRows(all(statement(sql), params, bigints)))

  const arrays =
    (operation: string, statement: typeof cached): Connection["executeValues"] =>
    (sql, params) =>
      attempt(operation, (bigints) => allValues(statement(sql), params, bigints))

  const run = running(cached)
  const isInTransaction = (): boolean => orSqlError("run", () => database.isTransaction)
  let streams = 0

  /** Whether a transaction is over that may not have been rolled back: it must be before anything else is done. */
  let isDangling = false
  const recover = (): void => {
    // After some errors SQLite has rolled back by itself.
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
        // Whoever comes next tries again, and fails while it cannot be done.
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
        return reads.read(sql, params)
      }),
    transact: (work) => unlessBusy(() => transact(work)),
    recover,
    execute: objects("execute", cached),
    executeUnprepared: objects("executeUnprepared", fresh),
    executeValues: arrays("executeValues", cached),
    executeValuesUnprepared: arrays("executeValuesUnprepared", fresh),
    // Rows, or `changes` and `lastInsertRowid` of a statement that has none.
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
          // Not the cached statement: its next use would start it over under this one.
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

/** One statement; more of them in `sql` would be left out without a word. */
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
  // The types of the driver know rows as objects only.
  rowsOf(statement, params, bigints, true) as ReadonlyArray<unknown> as Values

const rowsOf = (
  statement: StatementSync,
  params: ReadonlyArray<unknown>,
  bigints: boolean,
  arrays: boolean
): ReadonlyArray<Row> => {
  // Both, always: a cached statement remembers how it was read last.
  statement.setReadBigInts(bigints)
  statement.setReturnArrays(arrays)
  return statement.all(...params.map(bound))
}

/** A parameter as SQLite stores it; throws on what it would store as something else. */
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
  // SQLite would end the text at U+0000, and lone surrogates would become U+FFFD.
  if (value.includes("\0") || /\p{Surrogate}/u.test(value)) throw new TypeError("not a text of SQLite")
  return value
}

/** Runs a call of the driver; what it throws becomes an error. */
const attempt = <A>(operation: string, call: (bigints: boolean) => A): Effect.Effect<A, SqlError> =>
  Effect.withFiber((fiber) => {
    try {
      return Effect.succeed(call(fiber.getRef(SqlClient.SafeIntegers)))
    } catch (thrown) {
      return Effect.fail(errorOf(thrown, operation))
    }
  })

/** The same without an effect: throws the error. */
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
