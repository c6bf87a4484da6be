/** Tests a client whose writes run in a worker thread: transactions, groups, the end of the thread, and closing. */
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import type { Worker } from "node:worker_threads"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import * as Databases from "./Databases.fixture.ts"
import { asEffect } from "./GroupCommit.fixture.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import { IDLE_TRANSACTION_MS } from "./SqliteWorkerQueue.ts"
import * as SqliteWorkerThread from "./SqliteWorkerThread.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const INSERT = "INSERT INTO writes VALUES (?) RETURNING id"

const pause = (ms: number) => Effect.promise(() => sleep(ms))

const newFile = Effect.map(Databases.sqlite.create, ({ address }) => address.slice("sqlite:".length))

const setUpOn = Effect.fnUntraced(function* (filename: string) {
  const workers: Array<Worker> = []
  const { durable: sql, quick } = yield* SqliteWorkerClient.make(filename, (data) => {
    const worker = SqliteWorkerThread.start(data)
    workers.push(worker)
    return worker
  })
  yield* sql`CREATE TABLE writes (id INTEGER UNIQUE)`
  const other = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(filename, { timeout: 0 })),
    (other) => Effect.sync(() => other.close())
  )
  const group = yield* sql.groups<number, unknown>({
    encode: (ids) => ({ kind: "statement", sql: INSERT, params: ids.map((id) => [id]) }),
    decode: (results, index) => results[index]
  })
  return {
    filename,
    sql,
    quick,
    other,
    workers,
    group: asEffect(group),
    insert: (id: number) => sql.unsafe(INSERT, [id]),
    stored: () =>
      other
        .prepare("SELECT id FROM writes ORDER BY rowid")
        .all()
        .map(({ id }) => id)
  }
}, Effect.provide(Reactivity.layer))

const setUp = Effect.flatMap(newFile, setUpOn)

const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

const waitUntilEqual = <A>(value: () => A, expected: A) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 400 && value() !== expected; tries++) yield* pause(5)
    expect(value()).toEqual(expected)
  })

describe("SqliteWorkerClient", () => {
  it.live("reads every acknowledged write, outside and inside transactions", () =>
    Effect.gen(function* () {
      const { insert, quick, sql } = yield* setUp
      for (let id = 0; id < 200; id++) {
        yield* insert(id)
        expect(yield* sql`SELECT max(id) AS id FROM writes`).toEqual([{ id }])
        expect(sql.read("SELECT max(id) FROM writes", [])).toEqual(Exit.succeed([[BigInt(id)]]))
      }
      const rows = yield* sql.withTransaction(
        Effect.andThen(insert(1_000), sql`SELECT count(*) AS n FROM writes`)
      )
      expect(rows).toEqual([{ n: 201 }])
      // The connection for reads rejects writes.
      expect(sql.read("INSERT INTO writes VALUES (5000)", [])).toMatchObject({ _tag: "Failure" })
      expect(yield* quick`SELECT count(*) AS n FROM writes`).toEqual([{ n: 201 }])
    })
  )

  it.live("rolls back failed and interrupted transactions, including nested ones", () =>
    Effect.gen(function* () {
      const { insert, sql, stored } = yield* setUp
      yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(1), Effect.die("a bug"))))
      const interrupted = yield* fork(sql.withTransaction(Effect.andThen(insert(2), Effect.never)))
      yield* pause(50)
      yield* Fiber.interrupt(interrupted)
      yield* sql.withTransaction(
        Effect.andThen(
          insert(3),
          Effect.exit(sql.withTransaction(Effect.andThen(insert(4), Effect.die("a bug"))))
        )
      )
      const failed = yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(5), insert(3))))
      expect(Exit.isFailure(failed)).toBe(true)
      expect(stored()).toEqual([3])
    })
  )

  it.live("runs groups, statements and transactions only after an open transaction ends", () =>
    Effect.gen(function* () {
      const { group, insert, quick, sql, stored } = yield* setUp
      const transaction = yield* fork(
        sql.withTransaction(Effect.andThen(insert(1), Effect.andThen(pause(200), insert(2))))
      )
      yield* pause(50)
      const waitingFibers = [
        yield* fork(group(3)),
        yield* fork(insert(4)),
        yield* fork(quick.withTransaction(quick.unsafe(INSERT, [5])))
      ]
      yield* pause(50)
      expect(waitingFibers.map((fiber) => fiber.pollUnsafe())).toEqual(waitingFibers.map(() => undefined))
      yield* Fiber.join(transaction)
      yield* Effect.forEach(waitingFibers, Fiber.join)
      expect(stored().slice(0, 2)).toEqual([1, 2])
      expect(stored().sort()).toEqual([1, 2, 3, 4, 5])
    })
  )

  it.live("rolls back a transaction that is idle for too long, and fails its later statements", () =>
    Effect.gen(function* () {
      const { insert, other, sql, stored } = yield* setUp
      const idle = yield* fork(
        Effect.exit(
          sql.withTransaction(
            Effect.andThen(insert(1), Effect.andThen(pause(IDLE_TRANSACTION_MS + 300), insert(2)))
          )
        )
      )
      yield* pause(100)
      expect(() => other.exec("BEGIN IMMEDIATE")).toThrow("locked")
      yield* pause(IDLE_TRANSACTION_MS)
      other.exec("INSERT INTO writes VALUES (9)")
      const exit = yield* Fiber.join(idle)
      expect(Exit.isFailure(exit) && String(exit.cause)).toContain("was rolled back")
      yield* insert(3)
      expect(stored()).toEqual([9, 3])
    })
  )

  it.live("waits while another process writes, and never executes a write withdrawn during the wait", () =>
    Effect.gen(function* () {
      const { group, insert, other, stored } = yield* setUp
      for (let round = 0; round < 10; round++) {
        const id = round * 10
        other.exec("BEGIN IMMEDIATE")
        const first = yield* fork(group(id))
        const withdrawn = yield* fork(group(id + 1))
        const single = yield* fork(insert(id + 2))
        yield* pause(round)
        yield* Fiber.interrupt(withdrawn)
        // There is no pause before COMMIT, because the worker may wake up at any moment.
        other.exec("COMMIT")
        yield* Fiber.join(first)
        yield* Fiber.join(single)
      }
      expect(stored().filter((id) => Number(id) % 10 === 1)).toEqual([])
      expect(stored()).toHaveLength(20)
    })
  )

  it.live("fails all writes of a failed group, and stores none of them", () =>
    Effect.gen(function* () {
      const { group, stored } = yield* setUp
      yield* group(1)
      const ids = [2, 3, 1, 4, 5]
      const exits = yield* Effect.forEach(ids, (id) => Effect.exit(group(id)), { concurrency: "unbounded" })
      const acknowledged = ids.filter((_, index) => exits[index]?._tag === "Success")
      // At most the first write is in a separate group.
      expect(acknowledged.length).toBeLessThanOrEqual(1)
      expect(stored()).toEqual([1, ...acknowledged])
      yield* group(6)
      expect(stored()).toEqual([1, ...acknowledged, 6])
    })
  )

  it.live("restarts a terminated thread; its calls in progress fail, and its locks are released", () =>
    Effect.gen(function* () {
      const { group, insert, other, sql, stored, workers } = yield* setUp
      yield* group(1)
      const transaction = yield* fork(
        Effect.exit(sql.withTransaction(Effect.andThen(insert(2), Effect.never)))
      )
      yield* pause(100)
      const pending = yield* Effect.forEach([3, 4], (id) => fork(Effect.exit(group(id))))
      yield* pause(50)
      yield* Effect.promise(async () => void (await workers[0]?.terminate()))
      for (const fiber of pending) {
        const exit = yield* Fiber.join(fiber)
        expect(Exit.isFailure(exit) && String(exit.cause)).toContain("SQLite has ended")
      }
      yield* Fiber.interrupt(transaction)
      yield* waitUntilEqual(() => workers.length, 2)
      const retried = yield* Effect.retry(group(5), { times: 200, schedule: Schedule.spaced("10 millis") })
      expect(retried).toEqual([[5n]])
      yield* sql.withTransaction(insert(6))
      other.exec("INSERT INTO writes VALUES (7)")
      expect(stored()).toEqual([1, 5, 6, 7])
    })
  )

  it.live("completes the group in progress before it closes, and leaves only the database file", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const ids = Array.from({ length: 1_500 }, (_, id) => id)
      const writes = yield* Effect.scoped(
        Effect.gen(function* () {
          const { group } = yield* setUpOn(filename)
          return yield* Effect.forkDetach(
            Effect.forEach(ids, (id) => Effect.exit(group(id)), { concurrency: "unbounded" }),
            { startImmediately: true }
          )
        })
      )
      expect(fs.readdirSync(path.dirname(filename))).toEqual([path.basename(filename)])
      const exits = yield* Fiber.join(writes)
      const acknowledged = ids.filter((id) => exits[id]?._tag === "Success")
      expect(acknowledged.length).toBeGreaterThan(0)
      const database = new DatabaseSync(filename)
      const stored = database.prepare("SELECT id FROM writes").all()
      database.close()
      expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged))
    })
  )

  it.live("rejects parameters that cannot be sent to the thread or stored; later statements succeed", () =>
    Effect.gen(function* () {
      const { insert, other, sql } = yield* setUp
      for (const value of [() => 1, Symbol("s"), undefined, Number.NaN, "\0", "\ud800", {}]) {
        const exit = yield* Effect.exit(sql.unsafe(INSERT, [value]))
        expect(Exit.isFailure(exit)).toBe(true)
      }
      const min = -(2n ** 63n)
      expect(
        yield* Effect.provideService(sql.unsafe(INSERT, [min]).values, SqlClient.SafeIntegers, true)
      ).toEqual([[min]])
      yield* WriteTransaction.run(sql, insert(1))
      expect(other.prepare("SELECT CAST(id AS TEXT) AS id FROM writes ORDER BY rowid").all()).toEqual([
        { id: `${min}` },
        { id: "1" }
      ])
    })
  )
})
