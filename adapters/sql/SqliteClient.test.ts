import { Buffer } from "node:buffer"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import { vi } from "vitest"
import * as SqliteClient from "./SqliteClient.ts"

/** Creates a directory that is removed after the test. */
const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sqlite-client-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const newFile = Effect.map(directory, (path) => join(path, "test.db"))

const openClient = (filename: string, options: Partial<SqliteClient.SqliteClientConfig> = {}) =>
  SqliteClient.make({ ...options, filename }).pipe(Effect.provide(Reactivity.layer))

const inMemory = openClient(":memory:")

/** Opens a connection that simulates another program. */
const openOtherProgram = (filename: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(filename, { timeout: 0 })),
    (database) => Effect.sync(() => database.isOpen && database.close())
  )

interface Failure {
  readonly reason: string
  readonly errno: unknown
  readonly isRetryable: boolean
}

const failureOf = <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<Failure, A, R> =>
  Effect.map(Effect.flip(effect), ({ isRetryable, reason }) => ({
    reason: reason._tag,
    errno: reason.cause instanceof Error && "errno" in reason.cause ? reason.cause.errno : undefined,
    isRetryable
  }))

const locked = { reason: "LockTimeoutError", errno: 5, isRetryable: true }
const unknownError = { reason: "UnknownError", errno: undefined, isRetryable: false }

/** Returns the value of a row with one column. */
const singleValue = (rows: ReadonlyArray<object>): unknown => Object.values(rows[0] ?? {})[0]

const createTable = (sql: SqlClient.SqlClient) => sql`CREATE TABLE t (a INTEGER PRIMARY KEY)`

const count = (sql: SqlClient.SqlClient) => Effect.map(sql`SELECT count(*) FROM t`, singleValue)

const FIRST_100_000 =
  "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000) SELECT n FROM c"

describe("opening a client", () => {
  it.effect("configures durability, the write-ahead log, the lock timeout and foreign keys", () =>
    Effect.gen(function* () {
      const readSetting = (sql: SqlClient.SqlClient, name: string) =>
        Effect.map(sql.unsafe(`PRAGMA ${name}`), singleValue)
      const settings = (sql: SqlClient.SqlClient) =>
        Effect.forEach(
          ["journal_mode", "synchronous", "busy_timeout", "foreign_keys", "trusted_schema"],
          (name) => readSetting(sql, name)
        )
      const filename = yield* newFile
      expect(yield* settings(yield* openClient(filename))).toEqual(["wal", 2, 5, 1, 0])
      const other = yield* openClient(filename, { synchronous: "NORMAL", busyTimeoutMs: 7 })
      expect(yield* settings(other)).toEqual(["wal", 1, 7, 1, 0])
      expect(yield* settings(yield* openClient(filename, { readonly: true }))).toEqual(["wal", 2, 5, 1, 0])
      expect(yield* settings(yield* inMemory)).toEqual(["memory", 2, 5, 1, 0])
    })
  )

  it.effect("fails for a directory, a missing path, an invalid name and a file that is not a database", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const open = (name: string, readonly = false) => failureOf(openClient(join(path, name), { readonly }))
      const cantOpen = { reason: "ConnectionError", errno: 14, isRetryable: true }
      expect(yield* open(".")).toEqual(cantOpen)
      expect(yield* open("none/test.db")).toEqual(cantOpen)
      expect(yield* open("none.db", true)).toEqual(cantOpen)
      expect(existsSync(join(path, "none.db"))).toBe(false)
      expect(yield* open("a\0b")).toEqual(unknownError)
      writeFileSync(join(path, "novel.db"), "It was a dark and stormy night. ".repeat(500))
      const notADatabase = { reason: "UnknownError", errno: 26, isRetryable: false }
      expect(yield* open("novel.db")).toEqual(notADatabase)
      expect(yield* open("novel.db", true)).toEqual(notADatabase)
    })
  )

  it.effect("waits while another program locks the file, and fails after about four seconds", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const other = yield* openOtherProgram(filename)
      other.exec("CREATE TABLE t (a); BEGIN EXCLUSIVE")
      const opening = yield* Effect.forkChild(openClient(filename, { busyTimeoutMs: 0 }))
      yield* TestClock.adjust("3900 millis")
      expect(opening.pollUnsafe()).toBeUndefined()
      other.exec("COMMIT")
      yield* TestClock.adjust("20 millis")
      expect(yield* count(yield* Fiber.join(opening))).toBe(0)

      const second = join(filename, "../second.db")
      ;(yield* openOtherProgram(second)).exec("CREATE TABLE t (a); BEGIN EXCLUSIVE")
      const failed = yield* Effect.forkChild(failureOf(openClient(second, { busyTimeoutMs: 0 })))
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(failed)).toEqual(locked)
    })
  )

  it("succeeds when three processes open the same twenty new files concurrently", async () => {
    const path = mkdtempSync(join(tmpdir(), "sqlite-client-"))
    try {
      const program = `
        import * as Effect from "effect/Effect"
        import * as SqlClient from "effect/sql/SqlClient"
        import * as SqliteClient from "./SqliteClient.ts"
        const use = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql\`SELECT 1\`
        })
        process.stdout.write("ready")
        process.stdin.once("data", async () => {
          process.stdin.destroy()
          for (let index = 0; index < 20; index++) {
            const filename = ${JSON.stringify(path)} + "/" + index + ".db"
            await Effect.runPromise(Effect.provide(use, SqliteClient.layer({ filename })))
          }
        })`
      const processes = Array.from({ length: 3 }, () => {
        const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
          cwd: import.meta.dirname,
          stdio: ["pipe", "pipe", "inherit"],
          timeout: 120_000
        })
        const ready = new Promise((resolve) => child.stdout.once("data", resolve))
        const code = new Promise((resolve) => child.once("exit", resolve))
        return { child, code, ready }
      })
      await Promise.all(processes.map(({ ready }) => ready))
      for (const { child } of processes) child.stdin.write("go")
      expect(await Promise.all(processes.map(({ code }) => code))).toEqual(Array(3).fill(0))
    } finally {
      rmSync(path, { recursive: true, force: true })
    }
  })
})

describe("SqliteClient (statements)", () => {
  it.effect("rejects values that SQLite would store as other values", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      const unstorable: ReadonlyArray<unknown> = [
        ...[undefined, new Date(0), { a: 1 }, {}, [], [1], () => 1, Symbol("a"), NaN],
        ...[2n ** 63n, -(2n ** 63n) - 1n, "a\0b", "\0", "a\ud800", "\udc00a", new Float64Array(1)]
      ]
      for (const value of unstorable) {
        for (const params of [[value], [1, value]]) {
          const statement = sql.unsafe(`SELECT ${params.map(() => "?").join()}`, params)
          expect(yield* failureOf<unknown, never>(statement)).toEqual(unknownError)
          expect(yield* failureOf<unknown, never>(statement.values)).toEqual(unknownError)
          expect(yield* failureOf<unknown, never>(statement.raw)).toEqual(unknownError)
          expect(yield* failureOf<unknown, never>(statement.unprepared)).toEqual(unknownError)
          expect(yield* failureOf<unknown, never>(Stream.runDrain(statement.stream))).toEqual(unknownError)
        }
      }
    })
  )

  it.effect("converts booleans to integers", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      expect((yield* sql.unsafe("SELECT ?, typeof(?), ?", [true, true, false]).values)[0]).toEqual([
        1,
        "integer",
        0
      ])
    })
  )

  it.effect("rejects SQL with two statements, without a statement, or with invalid characters", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      yield* createTable(sql)
      for (const text of ["SELECT 1; DELETE FROM t", "SELECT 1\0", "SELECT '\ud800'", "", "-- nothing"]) {
        expect(yield* failureOf(sql.unsafe(text))).toEqual(unknownError)
      }
      expect(singleValue(yield* sql.unsafe(" SELECT 'é😀' ; \n"))).toBe("é😀")
    })
  )

  it.effect("fails to read an integer above 2^53 as a number, but returns it exactly as a bigint", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      const statement = sql`SELECT ${2n ** 53n + 1n}`
      const exact = Effect.provideService(SqlClient.SafeIntegers, true)
      for (let round = 0; round < 2; round++) {
        expect(yield* failureOf(statement)).toEqual(unknownError)
        expect(yield* failureOf(statement.unprepared)).toEqual(unknownError)
        expect(yield* failureOf(statement.values)).toEqual(unknownError)
        expect(yield* failureOf(statement.raw)).toEqual(unknownError)
        expect(yield* failureOf(Stream.runDrain(statement.stream))).toEqual(unknownError)
        expect(singleValue(yield* exact(statement))).toBe(2n ** 53n + 1n)
        expect(singleValue(yield* exact(statement.unprepared))).toBe(2n ** 53n + 1n)
        expect(yield* exact(statement.values)).toEqual([[2n ** 53n + 1n]])
        expect(yield* exact(statement.valuesUnprepared)).toEqual([[2n ** 53n + 1n]])
        expect(yield* exact(Stream.runCollect(statement.stream))).toHaveLength(1)
      }
    })
  )

  it.effect("returns objects or arrays, with numbers or bigints, from one statement in any order", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      const statement = sql`SELECT 1 AS a`
      const exact = Effect.provideService(SqlClient.SafeIntegers, true)
      const readings = [
        [statement, [{ a: 1 }]],
        [statement.values, [[1]]],
        [statement.raw, [{ a: 1 }]],
        [exact(statement), [{ a: 1n }]],
        [exact(statement.values), [[1n]]],
        [exact(statement.raw), [{ a: 1n }]]
      ] as const
      for (const first of readings) {
        for (const [read, expected] of [first, ...readings, first]) expect(yield* read).toEqual(expected)
      }
    })
  )

  it.effect("returns new columns from a cached statement after a schema change", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      yield* createTable(sql)
      yield* sql`INSERT INTO t VALUES (1)`
      expect(yield* sql`SELECT * FROM t`).toEqual([{ a: 1 }])
      yield* sql`ALTER TABLE t ADD COLUMN b DEFAULT 2`
      expect(yield* sql`SELECT * FROM t`).toEqual([{ a: 1, b: 2 }])
    })
  )

  it.effect("prepares each statement once, also those that begin and end transactions", () =>
    Effect.gen(function* () {
      const prepare = vi.spyOn(DatabaseSync.prototype, "prepare")
      yield* Effect.addFinalizer(() => Effect.sync(() => prepare.mockRestore()))
      const sql = yield* inMemory
      const work = sql.withTransaction(sql`SELECT 1`)
      yield* work
      prepare.mockClear()
      yield* work
      expect(prepare).not.toHaveBeenCalled()
      yield* sql`SELECT 2`
      expect(prepare).toHaveBeenCalledTimes(1)
    })
  )
})

describe("SqliteClient (errors)", () => {
  it.effect("distinguishes constraint violations, syntax errors and surplus parameters", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      yield* sql`CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE NOT NULL, c REFERENCES t)`
      yield* sql`INSERT INTO t VALUES (1, 'a', 1)`
      const unique = sql`INSERT INTO t VALUES (2, 'a', 1)`
      expect(yield* failureOf(unique)).toEqual({ reason: "UniqueViolation", errno: 2067, isRetryable: false })
      expect(yield* Effect.flip(unique)).toMatchObject({
        reason: { constraint: "t.b", operation: "execute" }
      })
      const constraint = { reason: "ConstraintError", isRetryable: false }
      expect(yield* failureOf(sql`INSERT INTO t VALUES (1, 'b', 1)`)).toEqual({ ...constraint, errno: 1555 })
      expect(yield* failureOf(sql`INSERT INTO t VALUES (2, NULL, 1)`)).toEqual({ ...constraint, errno: 1299 })
      expect(yield* failureOf(sql`INSERT INTO t VALUES (2, 'b', 9)`)).toEqual({ ...constraint, errno: 787 })
      const unknown = { reason: "UnknownError", isRetryable: false }
      expect(yield* failureOf(sql`SELEKT`)).toEqual({ ...unknown, errno: 1 })
      expect(yield* failureOf(sql.unsafe("SELECT ?", [1, 2]))).toEqual({ ...unknown, errno: 25 })
      expect((yield* Effect.flip(sql`SELEKT`)).message).toContain("syntax error")
      expect(yield* sql`SELECT a FROM t`).toEqual([{ a: 1 }])
    })
  )

  it.effect("fails a write to a full database, and changes nothing; writes succeed once there is space", () =>
    Effect.gen(function* () {
      const sql = yield* openClient(yield* newFile)
      yield* sql`CREATE TABLE t (a BLOB)`
      yield* sql`PRAGMA max_page_count = 10`
      const insert = sql`INSERT INTO t VALUES (zeroblob(20000))`
      yield* insert
      const full = { reason: "UnknownError", errno: 13, isRetryable: false }
      expect(yield* failureOf(insert)).toEqual(full)
      expect(
        yield* failureOf(
          sql.withTransaction(Effect.andThen(sql`DELETE FROM t`, insert).pipe(Effect.andThen(insert)))
        )
      ).toEqual(full)
      expect(yield* count(sql)).toBe(1)
      yield* sql`PRAGMA max_page_count = 1000`
      yield* insert
      expect(yield* count(sql)).toBe(2)
    })
  )

  it.effect("rejects writes if it is read-only", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* createTable(yield* openClient(filename))
      const sql = yield* openClient(filename, { readonly: true })
      const readonly = { reason: "UnknownError", errno: 8, isRetryable: false }
      expect(yield* failureOf(sql`INSERT INTO t VALUES (1)`)).toEqual(readonly)
      expect(yield* count(sql)).toBe(0)
    })
  )

  it.effect("fails to read a damaged file, with SQLite's error for a corrupt file", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* Effect.scoped(Effect.flatMap(openClient(filename), createTable))
      const bytes = readFileSync(filename)
      writeFileSync(
        filename,
        Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x55)])
      )
      const corrupt = { reason: "UnknownError", errno: 11, isRetryable: false }
      expect(yield* failureOf(count(yield* openClient(filename)))).toEqual(corrupt)
    })
  )

  it("fails a write with an I/O error when the file cannot grow; later writes succeed", async () => {
    const path = mkdtempSync(join(tmpdir(), "sqlite-client-"))
    try {
      const program = `
        import * as Effect from "effect/Effect"
        import * as SqlClient from "effect/sql/SqlClient"
        import * as SqliteClient from "./SqliteClient.ts"
        const use = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql\`CREATE TABLE t (a BLOB)\`
          const { isRetryable, reason } = yield* Effect.flip(sql\`INSERT INTO t VALUES (zeroblob(1000000))\`)
          const rows = yield* sql\`SELECT count(*) AS count FROM t\`
          yield* sql\`INSERT INTO t VALUES (1)\`
          console.log(JSON.stringify([reason._tag, reason.cause.errno, isRetryable, rows]))
        })
        const filename = ${JSON.stringify(join(path, "test.db"))}
        await Effect.runPromise(Effect.provide(use, SqliteClient.layer({ filename })))`
      const script = `trap "" XFSZ; ulimit -f 500; exec "$0" --input-type=module -e "$1"`
      const child = spawn("sh", ["-c", script, process.execPath, program], {
        cwd: import.meta.dirname,
        stdio: ["ignore", "pipe", "inherit"],
        timeout: 120_000
      })
      const chunks: Array<string> = []
      for await (const chunk of child.stdout) chunks.push(String(chunk))
      expect(JSON.parse(chunks.join(""))).toEqual(["UnknownError", 778, false, [{ count: 0 }]])
    } finally {
      rmSync(path, { recursive: true, force: true })
    }
  })
})

describe("SqliteClient (two clients for one file)", () => {
  it.effect("fails a second writer immediately with a retryable error; readers see the last commit", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const [first, second] = [yield* openClient(filename), yield* openClient(filename)]
      yield* createTable(first)
      yield* first`INSERT INTO t VALUES (1)`
      yield* first.withTransaction(
        Effect.gen(function* () {
          yield* first`INSERT INTO t VALUES (2)`
          expect(yield* count(first)).toBe(2)
          expect(yield* count(second)).toBe(1)
          expect(yield* failureOf(second`INSERT INTO t VALUES (3)`)).toEqual(locked)
          const immediate = Effect.provideService(
            second.withTransaction(second`SELECT 1`),
            SqlClient.BeginTransaction,
            "BEGIN IMMEDIATE"
          )
          expect(yield* failureOf(immediate)).toEqual(locked)
        })
      )
      expect(yield* count(second)).toBe(2)
      yield* second`INSERT INTO t VALUES (3)`
      expect(yield* count(first)).toBe(3)
    })
  )

  it.effect("rejects a write in a transaction with an outdated snapshot", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const [first, second] = [yield* openClient(filename), yield* openClient(filename)]
      yield* createTable(first)
      const outdatedWrite = first.withTransaction(
        count(first).pipe(
          Effect.andThen(second`INSERT INTO t VALUES (1)`),
          Effect.andThen(first`INSERT INTO t VALUES (2)`)
        )
      )
      expect(yield* failureOf(outdatedWrite)).toEqual({ ...locked, errno: 517 })
      expect(yield* count(first)).toBe(1)
    })
  )
})

describe("SqliteClient (transactions)", () => {
  it.effect("rolls back a transaction after a failure, a defect or an interruption", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      yield* createTable(sql)
      const insert = sql`INSERT INTO t VALUES (1)`
      for (const ending of [Effect.fail("no"), Effect.die("bug"), Effect.interrupt]) {
        const exit = yield* Effect.exit(sql.withTransaction(Effect.andThen(insert, ending)))
        expect(Exit.isFailure(exit)).toBe(true)
        expect(yield* count(sql)).toBe(0)
      }
      const inserted = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        sql.withTransaction(
          insert.pipe(Effect.andThen(Deferred.succeed(inserted, undefined)), Effect.andThen(Effect.never))
        )
      )
      yield* Deferred.await(inserted)
      yield* Fiber.interrupt(fiber)
      expect(yield* count(sql)).toBe(0)
      yield* sql.withTransaction(insert)
      expect(yield* count(sql)).toBe(1)
    })
  )

  it.effect("rolls back a failed nested transaction, but not its outer transaction", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      yield* createTable(sql)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO t VALUES (1)`
          for (let round = 0; round < 2; round++) {
            const inner = sql.withTransaction(
              Effect.andThen(sql`INSERT INTO t VALUES (2)`, Effect.fail("no"))
            )
            expect(yield* Effect.flip(inner)).toBe("no")
          }
          yield* sql.withTransaction(sql`INSERT INTO t VALUES (3)`)
          expect(yield* failureOf(sql`RELEASE effect_sql_1`)).toEqual({ ...unknownError, errno: 1 })
        })
      )
      expect(yield* sql`SELECT a FROM t`.values).toEqual([[1], [3]])
    })
  )

  it.effect("hides the uncommitted changes of a transaction from other fibers", () =>
    Effect.gen(function* () {
      const sql = yield* openClient(yield* newFile)
      yield* createTable(sql)
      // Inserts two rows, or rolls back every third time; the number of rows is odd only within the transaction.
      const write = (index: number) =>
        sql
          .withTransaction(
            sql`INSERT INTO t DEFAULT VALUES`.pipe(
              Effect.andThen(Effect.yieldNow),
              Effect.andThen(sql`INSERT INTO t DEFAULT VALUES`),
              Effect.andThen(index % 3 === 0 ? Effect.fail("no") : Effect.void)
            )
          )
          .pipe(Effect.ignore)
      const read = Effect.andThen(Effect.yieldNow, count(sql))
      const stream = Effect.map(Stream.runCollect(sql`SELECT a FROM t`.stream), (rows) => rows.length)
      const seen = yield* Effect.forEach(
        Array.from({ length: 300 }, (_, index) => index),
        (index) => (index % 3 === 0 ? Effect.as(write(index / 3), 0) : index % 3 === 1 ? read : stream),
        { concurrency: "unbounded" }
      )
      expect(seen.filter((rows) => typeof rows !== "number" || rows % 2 === 1)).toEqual([])
      expect(new Set(seen).size).toBeGreaterThan(5)
      expect(yield* count(sql)).toBe(2 * 66)
    })
  )

  it.effect("begins a transaction in the given mode", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const sql = yield* openClient(filename)
      const other = yield* openOtherProgram(filename)
      yield* createTable(sql)
      const tryToWrite = Effect.sync(() => {
        try {
          other.exec("INSERT INTO t DEFAULT VALUES")
          return "written"
        } catch {
          return "locked"
        }
      })
      const begin = Effect.provideService(SqlClient.BeginTransaction, "BEGIN IMMEDIATE")
      expect(yield* sql.withTransaction(tryToWrite)).toBe("written")
      expect(yield* begin(sql.withTransaction(sql.withTransaction(tryToWrite)))).toBe("locked")
      expect(yield* tryToWrite).toBe("written")
    })
  )

  it.effect("rolls back a transaction after a failed COMMIT", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const sql = yield* openClient(filename)
      yield* sql`CREATE TABLE t (a INTEGER PRIMARY KEY, b REFERENCES t DEFERRABLE INITIALLY DEFERRED)`
      const orphan = sql.withTransaction(sql`INSERT INTO t VALUES (1, 99)`)
      for (let round = 0; round < 2; round++) {
        expect(yield* failureOf(orphan)).toEqual({
          reason: "ConstraintError",
          errno: 787,
          isRetryable: false
        })
        expect(yield* count(sql)).toBe(0)
      }
      // Without the write-ahead log, a reader blocks a COMMIT.
      yield* sql`PRAGMA journal_mode = DELETE`
      const other = yield* openOtherProgram(filename)
      other.exec("BEGIN; SELECT * FROM t")
      const insert = sql.withTransaction(sql`INSERT INTO t VALUES (1, 1)`)
      for (let round = 0; round < 2; round++) {
        expect(yield* failureOf(insert)).toEqual(locked)
        expect(yield* count(sql)).toBe(0)
      }
      other.exec("COMMIT")
      yield* insert
      expect(yield* count(sql)).toBe(1)
    })
  )
})

describe("SqliteClient (streams)", () => {
  it.effect("streams every row in order, and fails when a row cannot be read or the SQL is invalid", () =>
    Effect.gen(function* () {
      const sql = yield* inMemory
      const rows = yield* Stream.runCollect(sql.unsafe<{ n: number }>(FIRST_100_000).stream)
      expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 100_000 }, (_, index) => index + 1))
      const numbers = sql.unsafe(
        `SELECT CASE n WHEN 250 THEN 9007199254740993 ELSE n END FROM (${FIRST_100_000})`
      )
      expect(yield* failureOf(Stream.runDrain(numbers.stream))).toEqual(unknownError)
      expect(yield* failureOf(Stream.runDrain(sql`SELEKT`.stream))).toEqual({ ...unknownError, errno: 1 })
    })
  )
})

describe("closing a client", () => {
  it.effect("checkpoints the write-ahead log, and makes later calls fail", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const scope = yield* Scope.make()
      const sql = yield* Scope.provide(openClient(filename), scope)
      yield* createTable(sql)
      expect(existsSync(`${filename}-wal`)).toBe(true)
      yield* Scope.close(scope, Exit.void)
      expect(existsSync(`${filename}-wal`)).toBe(false)
      for (const use of [
        createTable(sql),
        createTable(sql).values,
        createTable(sql).unprepared,
        createTable(sql).raw
      ]) {
        expect(yield* failureOf<unknown, never>(use)).toEqual(unknownError)
      }
      expect(yield* failureOf(Stream.runDrain(sql`SELECT 1`.stream))).toEqual(unknownError)
      expect(yield* failureOf(sql.withTransaction(Effect.void))).toEqual(unknownError)
    })
  )

  it.effect("makes a transaction in progress fail", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const scope = yield* Scope.make()
      const sql = yield* Scope.provide(openClient(filename), scope)
      yield* createTable(sql)
      const close = Scope.close(scope, Exit.void)
      expect(
        yield* failureOf(sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (1)`, close)))
      ).toEqual(unknownError)
      expect(yield* count(yield* openClient(filename))).toBe(0)
    })
  )
})
