import * as fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as SqlClient from "effect/sql/SqlClient"
import { isSqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import * as Databases from "./Databases.fixture.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const readTotal = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ readonly n: unknown }>`SELECT n FROM counter`, ([row]) => Number(row?.n))

/** Reads and then writes, with a yield in between. */
const increment = (sql: SqlClient.SqlClient, extraSteps = 0) =>
  Effect.gen(function* () {
    const n = yield* readTotal(sql)
    for (let step = 0; step < extraSteps; step++) yield* Effect.void
    yield* sql`UPDATE counter SET n = ${n + 1}`
    return n
  })

const setUp = (kind: Databases.Kind, clients: number) =>
  Effect.gen(function* () {
    const database = yield* kind.create
    const [sql, ...others] = yield* Effect.all(
      Array.from({ length: clients }, () => Nodes.openClient(database))
    )
    if (sql === undefined) throw new Error("no client was opened")
    yield* sql`CREATE TABLE counter (n integer NOT NULL CHECK (n <> -1))`
    yield* sql`INSERT INTO counter VALUES (0)`
    return { database, sql, others }
  })

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "WriteTransaction.run", () => {
    it.effect("returns the result of the work after the commit", () =>
      Effect.gen(function* () {
        const { others, sql } = yield* setUp(kind, 2)
        expect(yield* WriteTransaction.run(sql, increment(sql))).toBe(0)
        for (const other of others) expect(yield* readTotal(other)).toBe(1)
      })
    )

    it.effect("rolls back work that fails or has a defect, without a retry", () =>
      Effect.gen(function* () {
        const { sql } = yield* setUp(kind, 1)
        let attempts = 0
        const failing = Effect.suspend(() => {
          attempts++
          return Effect.andThen(sql`UPDATE counter SET n = 5`, sql`UPDATE counter SET n = -1`)
        })
        const error = yield* Effect.flip(WriteTransaction.run(sql, failing))
        expect(error.reason._tag).toBe("ConstraintError")
        const dying = Effect.andThen(sql`UPDATE counter SET n = 5`, Effect.die("a bug"))
        expect(yield* Effect.exit(WriteTransaction.run(sql, dying))).toEqual(Exit.die("a bug"))
        expect([attempts, yield* readTotal(sql)]).toEqual([1, 0])
      })
    )

    it.effect("runs the work on one connection; only this connection sees the uncommitted changes", () =>
      Effect.gen(function* () {
        const { others, sql } = yield* setUp(kind, 2)
        const seen = yield* WriteTransaction.run(
          sql,
          Effect.gen(function* () {
            yield* sql`UPDATE counter SET n = 7`
            return yield* Effect.forEach([sql, ...others], readTotal)
          })
        )
        expect(seen).toEqual([7, 0])
      })
    )
  })
}

/** Opens a write transaction that simulates another program. */
const lock = (database: Databases.Database) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const other = new DatabaseSync(database.address.slice("sqlite:".length), { timeout: 0 })
      other.exec("BEGIN IMMEDIATE")
      return other
    }),
    (other) => Effect.sync(() => other.close())
  )

describe("WriteTransaction on SQLite", () => {
  it.effect("loses no increment when four connections concurrently read and then write", () =>
    Effect.gen(function* () {
      const { others, sql } = yield* setUp(Databases.sqlite, 4)
      const seen = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => [sql, ...others][index % 4] ?? sql),
        (client) => WriteTransaction.run(client, increment(client)),
        { concurrency: "unbounded" }
      )
      expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n))
    })
  )

  it.effect("fails `immediate` with a lock error while another process writes", () =>
    Effect.gen(function* () {
      const { database, sql } = yield* setUp(Databases.sqlite, 1)
      const violation = yield* Effect.flip(sql`UPDATE counter SET n = -1`)
      expect(WriteTransaction.isLocked(violation)).toBe(false)
      yield* lock(database)
      const error = yield* Effect.flip(WriteTransaction.immediate(sql, increment(sql)))
      expect(WriteTransaction.isLocked(error)).toBe(true)
    })
  )

  it.effect("waits for another process, with short pauses at first and 25 ms pauses later", () =>
    Effect.gen(function* () {
      const { database, sql } = yield* setUp(Databases.sqlite, 1)
      const other = yield* lock(database)
      const waiting = yield* Effect.forkChild(WriteTransaction.run(sql, increment(sql)), {
        startImmediately: true
      })
      yield* TestClock.adjust(2_000)
      expect(waiting.pollUnsafe()).toBeUndefined()
      other.exec("UPDATE counter SET n = 5; COMMIT")
      yield* TestClock.adjust(25)
      // The write of the other process is not lost.
      expect(yield* Fiber.join(waiting)).toBe(5)
      expect(yield* readTotal(sql)).toBe(6)

      other.exec("BEGIN IMMEDIATE")
      const eager = yield* Effect.forkChild(WriteTransaction.run(sql, increment(sql)), {
        startImmediately: true
      })
      other.exec("COMMIT")
      yield* TestClock.adjust(1)
      expect(yield* Fiber.join(eager)).toBe(6)
    })
  )

  it.effect("stores nothing when it is interrupted while it waits", () =>
    Effect.gen(function* () {
      const { database, sql } = yield* setUp(Databases.sqlite, 1)
      const other = yield* lock(database)
      const waiting = yield* Effect.forkChild(WriteTransaction.run(sql, increment(sql)), {
        startImmediately: true
      })
      yield* TestClock.adjust(100)
      yield* Fiber.interrupt(waiting)
      other.exec("COMMIT")
      yield* TestClock.adjust(100)
      expect(yield* readTotal(sql)).toBe(0)
    })
  )

  it.effect("runs long transactions on two connections of this process without lock errors", () =>
    Effect.gen(function* () {
      const { others, sql } = yield* setUp(Databases.sqlite, 2)
      const [second] = others
      if (second === undefined) throw new Error("a client is missing")
      // One attempt each: the database is never locked, because the transactions do not interleave.
      const longWork = (client: SqlClient.SqlClient) =>
        Effect.repeat(WriteTransaction.immediate(client, increment(client, 5_000)), { times: 4 })
      yield* Effect.all([longWork(sql), longWork(second)], { concurrency: "unbounded" })
      expect(yield* readTotal(sql)).toBe(10)
    })
  )
})

describe("WriteTransaction.runSteps on SQLite", () => {
  const max = 2n ** 63n - 1n

  it.effect("passes the rows of each statement to the next step, with exact integers", () =>
    Effect.gen(function* () {
      const { sql } = yield* setUp(Databases.sqlite, 1)
      let starts = 0
      const seen = yield* WriteTransaction.runSteps(sql, function* () {
        starts++
        const [before] = yield ["SELECT n, ? FROM counter", [max]]
        const [after] = yield ["UPDATE counter SET n = n + ? RETURNING n", [7n]]
        return [before, after]
      })
      expect(seen).toEqual([[0n, max], [7n]])
      expect(starts).toBe(1)
      expect(yield* readTotal(sql)).toBe(7)
    })
  )

  it.effect("stores no write of steps that fail or have a defect", () =>
    Effect.gen(function* () {
      const { sql } = yield* setUp(Databases.sqlite, 1)
      const failing = WriteTransaction.runSteps(sql, function* () {
        yield ["UPDATE counter SET n = 5", []]
        yield ["UPDATE counter SET n = -1", []]
      })
      expect((yield* Effect.flip(failing)).reason._tag).toBe("ConstraintError")
      const dying = WriteTransaction.runSteps(sql, function* () {
        yield ["UPDATE counter SET n = 5", []]
        throw new Error("a bug")
      })
      const exit = yield* Effect.exit(dying)
      expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
      expect(yield* readTotal(sql)).toBe(0)
    })
  )

  it.effect("does not start the steps when the file was removed or while another process writes", () =>
    Effect.gen(function* () {
      const { database, sql } = yield* setUp(Databases.sqlite, 1)
      let starts = 0
      const steps = WriteTransaction.runSteps(sql, function* () {
        starts++
        yield ["UPDATE counter SET n = 5", []]
      })
      const other = yield* lock(database)
      const waiting = yield* Effect.forkChild(steps, { startImmediately: true })
      yield* TestClock.adjust(100)
      expect(starts).toBe(0)
      yield* Fiber.interrupt(waiting)
      other.exec("COMMIT")
      yield* Effect.sync(() => fs.rmSync(database.address.slice("sqlite:".length)))
      expect(String((yield* Effect.flip(steps)).reason.cause)).toContain("moved, removed or replaced")
      expect(starts).toBe(0)
    })
  )
})

Databases.describeOn(Databases.postgres, "WriteTransaction.transact", () => {
  it.effect("fails with a SqlError if the connection ends within the transaction", () =>
    Effect.gen(function* () {
      const sql = yield* Nodes.openClient(yield* Databases.postgres.create)
      const endConnection = sql`SELECT pg_terminate_backend(pg_backend_pid())`
      const error = yield* Effect.flip(WriteTransaction.transact(sql, endConnection))
      expect(isSqlError(error)).toBe(true)
      // If this is no longer a defect, `transact` can be removed.
      const exit = yield* Effect.exit(sql.withTransaction(endConnection))
      expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
    })
  )

  it.effect("keeps the errors and defects of the work", () =>
    Effect.gen(function* () {
      const sql = yield* Nodes.openClient(yield* Databases.postgres.create)
      expect(yield* Effect.flip(WriteTransaction.transact(sql, Effect.fail("no")))).toBe("no")
      expect(yield* Effect.exit(WriteTransaction.transact(sql, Effect.die("a bug")))).toEqual(
        Exit.die("a bug")
      )
      expect(yield* WriteTransaction.transact(sql, Effect.succeed(1))).toBe(1)
    })
  )
})
