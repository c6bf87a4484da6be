/** Tests a client whose writes run in a worker thread: scripts, groups, the end of the thread, and closing. */
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
import { CallObserver } from "../storage/CallObserver.ts"
import * as Databases from "./Databases.fixture.ts"
import { asEffect } from "./SqliteThread.fixture.ts"
import * as SqliteThread from "./SqliteThread.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import type * as SqlScript from "./SqlScript.ts"

const INSERT = "INSERT INTO writes VALUES (?) RETURNING id"

const pause = (ms: number) => Effect.promise(() => sleep(ms))

const newFile = Effect.map(Databases.sqlite.create, ({ address }) => address.slice("sqlite:".length))

const setUpOn = Effect.fnUntraced(function* (filename: string) {
  const workers: Array<Worker> = []
  const sql = yield* SqliteWorkerClient.make(filename, (data) => {
    const worker = SqliteThread.start(data)
    workers.push(worker)
    return worker
  })
  yield* sql`CREATE TABLE writes (id INTEGER UNIQUE)`
  const other = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(filename, { timeout: 0 })),
    (other) => Effect.sync(() => other.close())
  )
  const group = asEffect(sql.submit.groups)
  return {
    filename,
    sql,
    other,
    workers,
    group: (id: number) => Effect.map(group([[INSERT, [id]]]), ({ rows }) => rows),
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
  it.live("reads every acknowledged write", () =>
    Effect.gen(function* () {
      const { insert, sql } = yield* setUp
      for (let id = 0; id < 200; id++) {
        yield* insert(id)
        expect(yield* sql`SELECT max(id) AS id FROM writes`).toEqual([{ id }])
        expect(sql.read("SELECT max(id) FROM writes", [])).toEqual(Exit.succeed([[BigInt(id)]]))
      }
      // The connection for reads rejects writes.
      expect(sql.read("INSERT INTO writes VALUES (5000)", [])).toMatchObject({ _tag: "Failure" })
    })
  )

  it.live("executes a script completely or not at all, and only while the expected rows are stored", () =>
    Effect.gen(function* () {
      const { sql, stored } = yield* setUp
      const max = (id: bigint): SqlScript.Statement => ["SELECT max(id) FROM writes", [], [[id]]]
      expect(
        yield* sql.execute([
          [INSERT, [1]],
          [INSERT, [2]]
        ])
      ).toEqual({ isComplete: true, rows: [[2n]] })
      const outdated = yield* sql.execute([max(1n), [INSERT, [3]]])
      expect(outdated).toEqual({ isComplete: false, rows: [[2n]] })
      const failed = yield* Effect.exit(sql.execute([max(2n), [INSERT, [3]], [INSERT, [1]]]))
      expect(Exit.isFailure(failed)).toBe(true)
      expect(yield* sql.execute([max(2n), [INSERT, [4]]])).toEqual({ isComplete: true, rows: [[4n]] })
      expect(yield* sql.rehearse([[INSERT, [5]]])).toEqual({ isComplete: true, rows: [[5n]] })
      expect(Exit.isFailure(yield* Effect.exit(sql.rehearse([[INSERT, [4]]])))).toBe(true)
      expect(stored()).toEqual([1, 2, 4])
    })
  )

  it.live("waits while another process writes, and never executes a write withdrawn during the wait", () =>
    Effect.gen(function* () {
      const { group, insert, other, stored } = yield* setUp
      for (let round = 0; round < 10; round++) {
        const id = round * 10
        // After a group of two, the next calls wait for the end of the turn, and then share a group.
        yield* Effect.forEach([5, 6, 7], (offset) => group(id + offset), { concurrency: "unbounded" })
        other.exec("BEGIN IMMEDIATE")
        const sent = yield* Effect.forEach([0, 1], (offset) => fork(group(id + offset)))
        yield* pause(round)
        const queued = yield* Effect.forEach([2, 3], (offset) => fork(group(id + offset)))
        const single = yield* fork(insert(id + 4))
        yield* pause(round)
        for (const [, withdrawn] of [sent, queued])
          if (withdrawn !== undefined) yield* Fiber.interrupt(withdrawn)
        // There is no pause before COMMIT, because the worker may wake up at any moment.
        other.exec("COMMIT")
        for (const [kept] of [sent, queued]) if (kept !== undefined) yield* Fiber.join(kept)
        yield* Fiber.join(single)
      }
      expect(stored().filter((id) => [1, 3].includes(Number(id) % 10))).toEqual([])
      expect(stored()).toHaveLength(60)
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

  it.live("fails the whole group, and stores nothing, when COMMIT fails", () =>
    Effect.gen(function* () {
      const { group, other, stored } = yield* setUp
      other.exec(`
        CREATE TABLE owners (id INTEGER PRIMARY KEY);
        DROP TABLE writes;
        CREATE TABLE writes (id INTEGER REFERENCES owners (id) DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO owners VALUES (1), (2)`)
      expect(Exit.isFailure(yield* Effect.exit(group(9)))).toBe(true)
      expect(stored()).toEqual([])
      yield* group(2)
      expect(stored()).toEqual([2])
    })
  )

  it.live("creates groups of at most 512 writes, in order of submission", () => {
    const groups: Array<number> = []
    const ids = Array.from({ length: 1_300 }, (_, id) => id)
    return Effect.gen(function* () {
      const { group, stored } = yield* setUp
      yield* Effect.forEach(ids, group, { concurrency: "unbounded", discard: true })
      expect(stored()).toEqual(ids)
      expect(Math.max(...groups)).toBe(512)
      expect(groups.length).toBeLessThanOrEqual(6)
    }).pipe(
      Effect.provideService(CallObserver, {
        observe: () => (call) => call,
        committed: (calls) => void groups.push(calls)
      })
    )
  })

  it.live("restarts a terminated thread; its calls in progress fail, and its locks are released", () =>
    Effect.gen(function* () {
      const { group, insert, other, stored, workers } = yield* setUp
      yield* group(1)
      other.exec("BEGIN IMMEDIATE")
      const pending = yield* Effect.forEach([2, 3, 4], (id) => fork(Effect.exit(group(id))))
      yield* pause(50)
      yield* Effect.promise(async () => void (await workers[0]?.terminate()))
      for (const fiber of pending) {
        const exit = yield* Fiber.join(fiber)
        expect(Exit.isFailure(exit) && String(exit.cause)).toContain("SQLite has ended")
      }
      other.exec("COMMIT")
      yield* waitUntilEqual(() => workers.length, 2)
      const retried = yield* Effect.retry(group(5), { times: 200, schedule: Schedule.spaced("10 millis") })
      expect(retried).toEqual([[5n]])
      yield* insert(6)
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
      yield* insert(1)
      expect(other.prepare("SELECT CAST(id AS TEXT) AS id FROM writes ORDER BY rowid").all()).toEqual([
        { id: `${min}` },
        { id: "1" }
      ])
    })
  )
})
