import * as fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as Databases from "./Databases.fixture.ts"
import * as Nodes from "./Nodes.fixture.ts"

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

describe("Inserts in SQLite", () => {
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
})
