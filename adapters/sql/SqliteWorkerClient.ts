/**
 * Implements `SqlClient` for a SQLite file whose writes run in a worker thread, because they wait for the disk.
 * Statements that only read, outside of transactions, run in this thread on a separate connection: the operating system
 * caches the file, and with the write-ahead log they do not wait for a writer.
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import type { Submit } from "./GroupCommit.ts"
import * as SqliteClient from "./SqliteClient.ts"
import type { Synchronous } from "./SqliteConnection.ts"
import * as SqliteWorkerGroups from "./SqliteWorkerGroups.ts"
import type { StatementJob } from "./SqliteWorkerJobs.ts"
import * as SqliteWorkerThread from "./SqliteWorkerThread.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const TypeId = "~animal-store/sql/SqliteWorkerClient"

/** A `SqlClient` whose writes run in a worker thread. */
export interface SqliteWorkerClient extends SqlClient.SqlClient, SqliteClient.SqliteReads {
  readonly [TypeId]: typeof TypeId
  /** Creates a submit function for writes that share transactions in the worker thread. */
  readonly groups: <Write, A>(codec: SqliteWorkerGroups.Codec<Write, A>) => Effect.Effect<Submit<Write, A>>
  /** Executes a statement and rolls it back, with one message to the thread, so no lock remains between messages. */
  readonly rehearse: (sql: string, params: ReadonlyArray<unknown>) => Effect.Effect<void, SqlError>
}

/** Whether a client was created by this module. */
export const isSqliteWorkerClient = (client: SqlClient.SqlClient): client is SqliteWorkerClient =>
  TypeId in client

/** Executes a statement in SQLite and rolls it back. Nothing is written to the disk, not even to `-wal`. */
export const rehearse = (
  sql: SqlClient.SqlClient,
  statement: string,
  params: ReadonlyArray<unknown>
): Effect.Effect<unknown, SqlError> =>
  isSqliteWorkerClient(sql)
    ? sql.rehearse(statement, params)
    : WriteTransaction.rehearse(sql, sql.unsafe(statement, params))

/** Clients of one file that share the thread that writes; the transactions of all clients run in sequence. */
export interface Clients {
  /** Its transactions are on the disk when they are acknowledged. */
  readonly durable: SqliteWorkerClient
  /** Its transactions are handed to the operating system when they are acknowledged. */
  readonly quick: SqliteWorkerClient
}

/** Opens a file, or creates it; the scope closes it. */
export const make = (
  filename: string,
  start?: SqliteWorkerThread.Start
): Effect.Effect<Clients, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function* () {
    let checkFiles = (): void => {}
    const thread = yield* SqliteWorkerThread.make(filename, () => checkFiles(), start)
    // Closes before the thread, because closing the last connection moves the log into the file and waits for the disk.
    const reader = yield* SqliteClient.open({ filename, onRemovedLog: thread.check })
    checkFiles = reader.files.check
    const reading = SqliteClient.connect(reader)
    const check = Effect.suspend(() => SqliteClient.attempt("read", reader.files.checkIfDue))
    return {
      durable: yield* client(thread, "FULL", reading, check),
      quick: yield* client(thread, "NORMAL", reading, check)
    }
  })

type Reading = ReturnType<typeof SqliteClient.connect>

const client = (
  thread: SqliteWorkerThread.SqliteWorkerThread,
  synchronous: Synchronous,
  reading: Reading,
  check: Effect.Effect<void, SqlError>
): Effect.Effect<SqliteWorkerClient, never, Reactivity.Reactivity> =>
  Effect.gen(function* () {
    /** Whether a transaction was open in the thread after the latest statement of this client. */
    let isTransaction = false
    const transactional = writeIn(thread, synchronous, {
      isOpen: () => isTransaction,
      afterStatement: (isOpen) => {
        isTransaction = isOpen
      }
    })
    const plain = route(
      writeIn(thread, synchronous, { isOpen: () => false, afterStatement: () => {} }),
      reading,
      check
    )
    const acquirers = SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(transactional),
      semaphore: thread.transaction,
      isTransaction: () => isTransaction
    })
    const sql = yield* SqlClient.make({
      ...acquirers,
      acquirer: Effect.succeed(plain),
      borrower: (use) => use(plain),
      compiler: Statement.makeCompilerSqlite(),
      driver: "sqlite-node",
      prepareTransactionControls: true,
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
      spanAttributes: [["db.system.name", "sqlite"]]
    })
    return Object.assign(sql, {
      [TypeId]: TypeId,
      read: reading.read,
      rehearse: (statement: string, params: ReadonlyArray<unknown>) =>
        Effect.callback<void, SqlError>((resume) => {
          const job: SqliteWorkerThread.Job = {
            kind: "statement",
            sql: statement,
            params,
            returns: "values",
            isCached: true,
            bigints: true,
            synchronous,
            isInTransaction: false,
            isRehearsal: true
          }
          const cancel = thread.submit(job, (result) =>
            resume("error" in result ? Effect.fail(result.error) : Effect.void)
          )
          return Effect.sync(cancel)
        }),
      groups: <Write, A>(codec: SqliteWorkerGroups.Codec<Write, A>) =>
        SqliteWorkerGroups.make(thread, synchronous, codec)
    } as const)
  })

interface Transaction {
  readonly isOpen: () => boolean
  /** Called after each statement; `isOpen` is whether a transaction is then open. */
  readonly afterStatement: (isOpen: boolean) => void
}

/** Returns a connection that runs statements in the thread. */
const writeIn = (
  thread: SqliteWorkerThread.SqliteWorkerThread,
  synchronous: Synchronous,
  { afterStatement, isOpen }: Transaction
): Connection => {
  const submit = (
    returns: StatementJob["returns"],
    isCached: boolean,
    sql: string,
    params: ReadonlyArray<unknown>
  ): Effect.Effect<unknown, SqlError> =>
    Effect.withFiber((fiber) =>
      Effect.callback((resume) => {
        const job: SqliteWorkerThread.Job = {
          kind: "statement",
          sql,
          params,
          returns,
          isCached,
          bigints: fiber.getRef(SqlClient.SafeIntegers),
          synchronous,
          isInTransaction: isOpen()
        }
        const cancel = thread.submit(job, (result) => {
          afterStatement(result.isTransaction)
          resume("error" in result ? Effect.fail(result.error) : Effect.succeed(result.value))
        })
        return Effect.sync(cancel)
      })
    )

  const objects =
    (isCached: boolean): Connection["execute"] =>
    (sql, params, transformRows = identity) =>
      // The thread returns the rows in the form that the job requests.
      Effect.map(submit("rows", isCached, sql, params), (rows) =>
        transformRows(rows as ReadonlyArray<object>)
      )

  const arrays =
    (isCached: boolean): Connection["executeValues"] =>
    (sql, params) =>
      // The thread returns the values in the form that the job requests.
      submit("values", isCached, sql, params) as ReturnType<Connection["executeValues"]>

  const execute = objects(true)
  return {
    execute,
    executeUnprepared: objects(false),
    executeValues: arrays(true),
    executeValuesUnprepared: arrays(false),
    executeRaw: (sql, params) => submit("raw", true, sql, params),
    executeStream: (sql, params, transformRows) =>
      Stream.unwrap(Effect.map(execute(sql, params, transformRows), Stream.fromIterable))
  }
}

/** Returns a connection that runs SELECT statements on `reading`, and all others on `writing`. */
const route = (
  writing: Connection,
  reading: Connection,
  check: Effect.Effect<void, SqlError>
): Connection => {
  const choose =
    <Options extends ReadonlyArray<unknown>, A>(
      write: (sql: string, ...options: Options) => Effect.Effect<A, SqlError>,
      read: (sql: string, ...options: Options) => Effect.Effect<A, SqlError>
    ) =>
    (sql: string, ...options: Options): Effect.Effect<A, SqlError> =>
      isSelect(sql) ? Effect.andThen(check, read(sql, ...options)) : write(sql, ...options)

  return {
    execute: choose(writing.execute, reading.execute),
    executeUnprepared: choose(writing.executeUnprepared, reading.executeUnprepared),
    executeValues: choose(writing.executeValues, reading.executeValues),
    executeValuesUnprepared: choose(writing.executeValuesUnprepared, reading.executeValuesUnprepared),
    executeRaw: choose(writing.executeRaw, reading.executeRaw),
    executeStream: (sql, params, transformRows) =>
      isSelect(sql)
        ? Stream.unwrap(Effect.as(check, reading.executeStream(sql, params, transformRows)))
        : writing.executeStream(sql, params, transformRows)
  }
}

const isSelect = (sql: string): boolean => /^\s*SELECT\b/i.test(sql)
