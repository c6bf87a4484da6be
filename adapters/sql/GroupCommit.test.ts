import * as fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as Databases from "./Databases.fixture.ts"
import { asEffect } from "./GroupCommit.fixture.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as Nodes from "./Nodes.fixture.ts"
import type * as SqlScript from "./SqlScript.ts"

const insertAll = function* (ids: ReadonlyArray<number>): SqlScript.Steps<ReadonlyArray<Exit.Exit<number>>> {
  for (const id of ids) yield ["INSERT INTO writes VALUES (?)", [id]]
  return ids.map((id) => Exit.succeed(id))
}

/** Creates a file with an empty table, a client, and a connection that simulates another program. */
const setUp = Effect.gen(function* () {
  const database = yield* Databases.sqlite.create
  const filename = database.address.slice("sqlite:".length)
  const sql = yield* Nodes.openClient(database)
  yield* sql`CREATE TABLE writes (id INTEGER UNIQUE)`
  const other = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(filename, { timeout: 0 })),
    (other) => Effect.sync(() => other.close())
  )
  const stored = () =>
    other
      .prepare("SELECT id FROM writes ORDER BY rowid")
      .all()
      .map(({ id }) => id)
  const groups: Array<ReadonlyArray<number>> = []
  const submit = yield* GroupCommit.make(sql, function* (ids: ReadonlyArray<number>) {
    groups.push(ids)
    return yield* insertAll(ids)
  })
  return { database, filename, sql, other, stored, groups, submit: asEffect(submit) }
})

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

/** Counts the transactions in a write-ahead log: the last frame of each contains the size of the database. */
const commitsIn = (log: Buffer): number => {
  const HEADER = 32
  const FRAME_HEADER = 24
  const pageSize = log.readUInt32BE(8)
  const salt = log.readBigUInt64BE(16)
  let commits = 0
  for (
    let offset = HEADER;
    offset + FRAME_HEADER + pageSize <= log.length;
    offset += FRAME_HEADER + pageSize
  ) {
    // Frames from before the last checkpoint have a different salt.
    if (log.readBigUInt64BE(offset + 8) !== salt) break
    if (log.readUInt32BE(offset + 4) > 0) commits++
  }
  return commits
}

describe("GroupCommit", () => {
  it.effect("commits 64 concurrent writes in at most two transactions", () =>
    Effect.gen(function* () {
      const { filename, groups, stored, submit } = yield* setUp
      const commits = () => commitsIn(fs.readFileSync(`${filename}-wal`))
      const before = commits()
      yield* Effect.forEach(numbers(64), submit, { concurrency: "unbounded" })
      expect(stored()).toEqual(numbers(64))
      expect(groups.length).toBeLessThanOrEqual(2)
      expect(commits() - before).toBe(groups.length)
      yield* submit(64)
      expect(commits() - before).toBe(groups.length)
    })
  )

  it.effect(
    "commits 64 concurrent inserts in at most two transactions, and 64 inserts in sequence in 64",
    () =>
      Effect.gen(function* () {
        const database = yield* Databases.sqlite.create
        const { insert } = Context.get(yield* Nodes.openNode(database), PetRepository)
        const log = `${database.address.slice("sqlite:".length)}-wal`
        const commits = () => commitsIn(fs.readFileSync(log))
        const add = (index: number) => insert({ name: `${index}`, categoryId: 1n, status: "sold" })
        let before = commits()
        const pets = yield* Effect.forEach(numbers(64), add, { concurrency: "unbounded" })
        expect(commits() - before).toBeLessThanOrEqual(2)
        expect(pets.map(({ id, name }) => [id, name])).toEqual(
          numbers(64).map((n) => [BigInt(n + 1), `${n}`])
        )
        before = commits()
        yield* Effect.forEach(numbers(64), add)
        expect(commits() - before).toBe(64)
      })
  )

  it.effect("creates groups of at most 512 writes, in order of submission", () =>
    Effect.gen(function* () {
      const { groups, stored, submit } = yield* setUp
      yield* Effect.forEach(numbers(1_300), submit, { concurrency: "unbounded", discard: true })
      expect(stored()).toEqual(numbers(1_300))
      expect(Math.max(...groups.map((group) => group.length))).toBe(512)
      expect(groups.length).toBeLessThanOrEqual(4)
    })
  )

  it.effect("commits each write in one of the next two groups while 20 writers keep writing", () =>
    Effect.gen(function* () {
      const { groups, submit } = yield* setUp
      let maxGroupsWaited = 0
      const writer = (firstId: number) =>
        Effect.forEach(numbers(40), (index) =>
          Effect.suspend(() => {
            const groupsBefore = groups.length
            const id = firstId + index
            return Effect.map(submit(id), () => {
              maxGroupsWaited = Math.max(
                maxGroupsWaited,
                groups.findIndex((group) => group.includes(id)) - groupsBefore
              )
            })
          })
        )
      yield* Effect.forEach(numbers(20), (index) => writer(1_000 * index), { concurrency: "unbounded" })
      expect(groups.flat()).toHaveLength(800)
      expect(maxGroupsWaited).toBeLessThanOrEqual(1)
    })
  )

  it.effect("fails the whole group of a rejected write, and stores nothing; later groups succeed", () =>
    Effect.gen(function* () {
      const { stored, submit } = yield* setUp
      yield* submit(1)
      const exits = yield* Effect.forEach([2, 1, 3], (id) => Effect.exit(submit(id)), {
        concurrency: "unbounded"
      })
      const reasons = exits.map((exit) =>
        Exit.isFailure(exit)
          ? exit.cause.reasons.map((reason) => Cause.isFailReason(reason) && reason.error.reason._tag)
          : []
      )
      expect(reasons).toEqual([["UniqueViolation"], ["UniqueViolation"], ["UniqueViolation"]])
      expect(stored()).toEqual([1])
      expect(yield* submit(4)).toBe(4)
      expect(stored()).toEqual([1, 4])
    })
  )

  it.effect("fails the whole group, and stores nothing, when COMMIT fails", () =>
    Effect.gen(function* () {
      const { other, sql, stored } = yield* setUp
      other.exec(`
        CREATE TABLE owners (id INTEGER PRIMARY KEY);
        DROP TABLE writes;
        CREATE TABLE writes (id INTEGER REFERENCES owners (id) DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO owners VALUES (1), (2)`)
      const write = asEffect(yield* GroupCommit.make(sql, insertAll))
      const exits = yield* Effect.forEach([1, 9, 2], (id) => Effect.exit(write(id)), {
        concurrency: "unbounded"
      })
      expect(exits.map(Exit.isFailure)).toEqual([true, true, true])
      expect(stored()).toEqual([])
      yield* write(2)
      expect(stored()).toEqual([2])
    })
  )

  it.effect("fails a write with a defect when its group returns no result for it", () =>
    Effect.gen(function* () {
      const { sql } = yield* setUp
      const submit = yield* GroupCommit.make(sql, function* () {
        yield ["SELECT 1", []]
        return [Exit.succeed(1)]
      })
      const exits = yield* Effect.forEach([1, 2], (id) => Effect.exit(asEffect(submit)(id)), {
        concurrency: "unbounded"
      })
      expect(exits.map(Exit.isSuccess)).toEqual([true, false])
    })
  )

  it.effect("waits while another process writes, and then commits all waiting writes in one group", () =>
    Effect.gen(function* () {
      const { groups, other, stored, submit } = yield* setUp
      other.exec("BEGIN IMMEDIATE")
      const writers: Array<Fiber.Fiber<number, unknown>> = []
      for (const id of numbers(30)) {
        writers.push(yield* fork(submit(id)))
        yield* TestClock.adjust(7)
      }
      expect(groups).toEqual([])
      expect(writers.filter((writer) => writer.pollUnsafe() !== undefined)).toEqual([])
      other.exec("INSERT INTO writes VALUES (100); COMMIT")
      yield* TestClock.adjust(25)
      yield* Effect.forEach(writers, Fiber.join)
      expect(stored()).toEqual([100, ...numbers(30)])
      expect(groups).toHaveLength(1)
    })
  )

  it.effect("fails writes that wait for another process at their timeout, and never stores them", () =>
    Effect.gen(function* () {
      const database = yield* Databases.sqlite.create
      const { insert } = Context.get(yield* Nodes.openNode(database, { timeoutMs: 1_000 }), PetRepository)
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(database.address.slice("sqlite:".length), { timeout: 0 })),
        (other) => Effect.sync(() => other.close())
      )
      const add = (name: string) => insert({ name, categoryId: 1n, status: "sold" })
      other.exec("BEGIN IMMEDIATE")
      const earlyWrites = yield* Effect.forEach(numbers(10), (id) => fork(Effect.flip(add(`early ${id}`))))
      yield* TestClock.adjust(500)
      const lateWrite = yield* fork(add("late"))
      yield* TestClock.adjust(499)
      expect(earlyWrites.map((write) => write.pollUnsafe())).toEqual(earlyWrites.map(() => undefined))
      yield* TestClock.adjust(1)
      const failures = yield* Effect.forEach(earlyWrites, Fiber.join)
      expect(failures.map(({ retryable }) => retryable)).toEqual(earlyWrites.map(() => true))
      other.exec("COMMIT")
      yield* TestClock.adjust(25)
      expect((yield* Fiber.join(lateWrite)).name).toBe("late")
      yield* TestClock.adjust(60_000)
      expect(other.prepare("SELECT name FROM pets").all()).toEqual([{ name: "late" }])
    })
  )

  it.effect(
    "does not store a write that is interrupted while it waits for a transaction of this process",
    () =>
      Effect.gen(function* () {
        const { sql, stored, submit } = yield* setUp
        const opened = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const transaction = yield* fork(
          sql.withTransaction(Effect.andThen(Deferred.succeed(opened, undefined), Deferred.await(release)))
        )
        yield* Deferred.await(opened)
        const [first, second, third] = yield* Effect.all([fork(submit(1)), fork(submit(2)), fork(submit(3))])
        yield* TestClock.adjust(100)
        yield* Fiber.interrupt(second)
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(transaction)
        expect(yield* Fiber.join(first)).toBe(1)
        expect(yield* Fiber.join(third)).toBe(3)
        expect(stored()).toEqual([1, 3])
      })
  )
})
