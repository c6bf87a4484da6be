/**
 * Connects to SQLite over `node:sqlite`. Uses no effects, so that a worker thread need not load the library `effect`.
 * Failed driver calls throw a `SqliteFailure`.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import * as SqliteFiles from "./SqliteFiles.ts"

export interface SqliteConnectionConfig {
  /** A path, or `:memory:`. */
  readonly filename: string
  readonly readonly?: boolean | undefined
  /** Whether no process has the file open: it is then read without locks, and no `-wal` and `-shm` are created. */
  readonly isClosed?: boolean | undefined
  /** `FULL` (default) loses no commit; with `NORMAL` a power failure can lose the latest ones. */
  readonly synchronous?: Synchronous | undefined
  /** Milliseconds that SQLite waits for a lock, 5 by default. Waiting blocks the thread, so prefer retries. */
  readonly busyTimeoutMs?: number | undefined
  /**
   * Set this only for a connection that reads while another connection writes: it then rejects writes, and never moves
   * the write-ahead log into the database file. Called if the log was removed, so that the other connection saves it.
   */
  readonly onRemovedLog?: (() => void) | undefined
}

/** Whether a commit waits for the disk: `FULL` does, `NORMAL` does not. */
export type Synchronous = "FULL" | "NORMAL"

/** Rows as arrays of values. */
export type Values = ReadonlyArray<ReadonlyArray<unknown>>

/** A row as an object. */
export type Row = Readonly<Record<string, unknown>>

/** Runs a statement; integers are returned as bigints. */
export type Run = (sql: string, params: ReadonlyArray<unknown>) => Values

/** The failure of a driver call; `cause` is the driver's exception. */
export class SqliteFailure {
  readonly operation: string
  readonly cause: unknown
  constructor(operation: string, cause: unknown) {
    this.operation = operation
    this.cause = cause
  }
}

export type SqliteConnection = ReturnType<typeof connect>

/**
 * Maximum size of `-wal` in bytes after a checkpoint has moved its content into the database. A reader that keeps a
 * snapshot makes it grow. Larger than the 1,000 pages after which SQLite starts a checkpoint, so that under load the
 * file is reused as it is.
 */
export const MAX_LOG_BYTES = 5_242_880

/**
 * Opens the file, or creates it unless it is opened for reading only. Retry it while the database is locked: changing the
 * journal mode needs exclusive access, for which SQLite does not always wait.
 */
export const open = (config: SqliteConnectionConfig): SqliteConnection => {
  const { busyTimeoutMs = 5, filename, isClosed, onRemovedLog, readonly: readOnly = false } = config
  const pragmas = [
    "PRAGMA trusted_schema = OFF",
    // macOS only: flushes the drive's cache.
    "PRAGMA fullfsync = ON",
    // Also reads the file, and so fails if it is not a database.
    `PRAGMA synchronous = ${config.synchronous ?? "FULL"}`,
    // The first read creates `-wal` and `-shm`, which `files` checks from then on.
    ...(readOnly
      ? []
      : [
          "PRAGMA journal_mode = WAL",
          `PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`,
          "SELECT 1 FROM sqlite_schema"
        ]),
    ...(onRemovedLog === undefined ? [] : ["PRAGMA query_only = ON", "PRAGMA wal_autocheckpoint = 0"])
  ]
  return attempt("open", () => {
    // Not imported, because modules that import it cannot be loaded on an old Node, not even to report the version.
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
    const path = isClosed ? immutable(filename) : filename
    const database = new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs })
    try {
      database.exec(pragmas.join(";"))
      return connect(database, config)
    } catch (thrown) {
      database.close()
      throw thrown
    }
  })
}

const immutable = (filename: string): URL => {
  const url = pathToFileURL(filename)
  url.searchParams.set("immutable", "1")
  return url
}

const connect = (database: DatabaseSync, config: SqliteConnectionConfig) => {
  let { synchronous = "FULL" } = config
  // Strict checks only with `FULL`, because otherwise the latest commits can be lost anyway.
  const files = filesOf(config, database, () => synchronous === "FULL")
  // Needs no limit, because the program has a limited number of statements.
  const cache = new Map<string, StatementSync>()

  const cached = (sql: string): StatementSync => {
    const known = cache.get(sql)
    if (known !== undefined) return known
    const statement = prepare(database, sql)
    cache.set(sql, statement)
    return statement
  }
  const all = (
    sql: string,
    params: ReadonlyArray<unknown>,
    bigints: boolean,
    arrays: boolean
  ): ReadonlyArray<Row> => {
    const statement = cached(sql)
    // Sets both modes for each use, because a cached statement keeps the modes of its last use.
    statement.setReadBigInts(bigints)
    statement.setReturnArrays(arrays)
    return statement.all(...params.map(toSqlValue))
  }
  const values = (sql: string, params: ReadonlyArray<unknown>, bigints: boolean): Values =>
    // The driver's types describe rows only as objects.
    attempt("execute", () => all(sql, params, bigints, true) as ReadonlyArray<unknown> as Values)

  const run: Run = (sql, params) => values(sql, params, true)
  const isTransaction = (): boolean => database.isOpen && database.isTransaction

  /** Whether a failed transaction may still be open. */
  let isDangling = false
  /** Retries the rollback of a failed transaction if that rollback has failed; call it before any other work. */
  const recover = (): void => {
    // After some errors, SQLite itself rolls back.
    if (isDangling && isTransaction()) run("ROLLBACK", [])
    isDangling = false
  }

  return {
    close: () => database.close(),
    /** Checks the files; call `check` before a transaction, `checkIfDue` before a read. */
    files: {
      check: () => attempt("begin", files.check),
      checkIfDue: () => attempt("read", files.checkIfDue)
    },
    isTransaction,
    recover,
    run,
    /** Sets whether the next commits wait for the disk; call it only between transactions. */
    synchronize: (wanted: Synchronous): void => {
      if (wanted === synchronous) return
      // Not a prepared statement, because that would take effect when it is prepared.
      attempt("run", () => database.exec(`PRAGMA synchronous = ${wanted}`))
      synchronous = wanted
    },
    /** Runs a statement; with `bigints` false, an integer that is not safe throws an error. */
    rows: (sql: string, params: ReadonlyArray<unknown>, bigints: boolean) =>
      attempt("execute", () => all(sql, params, bigints, false)),
    values,
    /** Runs work in a transaction under the write lock; rolls back if it throws, or if it is only a rehearsal. */
    transact: <A>(work: (run: Run) => A, isRehearsal = false): A => {
      attempt("begin", files.check)
      run("BEGIN IMMEDIATE", [])
      try {
        const result = work(run)
        run(isRehearsal ? "ROLLBACK" : "COMMIT", [])
        return result
      } catch (thrown) {
        isDangling = true
        try {
          recover()
        } catch {
          // The next call retries the rollback, and fails as long as the rollback fails.
        }
        throw thrown
      }
    }
  }
}

/** Returns the checks of a writable database's files; a read-only one may have no `-wal` and `-shm`. */
const filesOf = (
  { filename, isClosed = false, onRemovedLog, readonly: readOnly = false }: SqliteConnectionConfig,
  database: DatabaseSync,
  isStrict: () => boolean
): SqliteFiles.SqliteFiles => {
  if (isClosed) return SqliteFiles.ofClosed(filename)
  if (filename === ":memory:" || readOnly) return { check: () => {}, checkIfDue: () => {} }
  return SqliteFiles.make(database, { filename, isStrict, onRemovedLog })
}

/** Prepares one statement; SQLite would ignore any further statement in `sql`. */
const prepare = (database: DatabaseSync, sql: string): StatementSync => {
  const statement = database.prepare(text(sql))
  if (sql.slice(statement.sourceSQL.length).trim() === "") return statement
  throw new TypeError("the SQL contains more than one statement")
}

/** Converts a parameter to a SQLite value; throws if SQLite would store a different value. */
const toSqlValue = (value: unknown): SQLInputValue => {
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
  throw new TypeError(`a parameter of the type ${typeof value} is not a valid SQLite value`)
}

const text = (value: string): string => {
  // SQLite would truncate the string at U+0000 and replace lone surrogates with U+FFFD.
  if (value.includes("\0") || /\p{Surrogate}/u.test(value))
    throw new TypeError("a text contains U+0000 or a lone surrogate, which SQLite would change")
  return value
}

const attempt = <A>(operation: string, call: () => A): A => {
  try {
    return call()
  } catch (thrown) {
    throw new SqliteFailure(operation, thrown)
  }
}
