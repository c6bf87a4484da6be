/** Tests a SQLite store whose database, -wal or -shm file is removed, replaced or truncated. */
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { expect, it, onTestFinished } from "vitest"
import { launch } from "../cli/Serve.fixture.ts"
import * as Databases from "./Databases.fixture.ts"
import * as SqliteClient from "./SqliteClient.ts"
import { MAX_LOG_BYTES } from "./SqliteConnection.ts"
import { RECHECK_MS } from "./SqliteFiles.ts"

const operationsOn = (filename: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const insert = (name: string) => sql.withTransaction(sql`INSERT INTO animals VALUES (${name})`)
    const read = Effect.provideService(
      sql.unsafe("SELECT count(*) FROM animals").values,
      SqlClient.SafeIntegers,
      true
    )
    return { sql, insert, read, filename }
  })

type OpenDatabase = Effect.Success<ReturnType<typeof operationsOn>>

const useDatabase = async (
  use: (opened: OpenDatabase) => Effect.Effect<void, unknown>,
  synchronous: "FULL" | "NORMAL" = "FULL"
) => {
  const filename = (await Databases.createForTest(Databases.sqlite)).address.slice("sqlite:".length)
  await Effect.gen(function* () {
    const opened = yield* operationsOn(filename)
    yield* opened.sql`CREATE TABLE animals (name TEXT)`
    for (let index = 0; index < 20; index++) yield* opened.insert("x".repeat(1_000))
    yield* use(opened)
  }).pipe(Effect.provide(SqliteClient.layer({ filename, synchronous })), Effect.runPromise)
  return filename
}

const failureOf = (effect: Effect.Effect<unknown, unknown>) => Effect.map(Effect.flip(effect), String)

const countOf = (filename: string): unknown => {
  const database = new DatabaseSync(filename)
  expect(database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }])
  const [row] = database.prepare("SELECT count(*) AS count FROM animals").all()
  database.close()
  return row?.count
}

const waitForRecheck = Effect.promise(() => sleep(RECHECK_MS + 20))

/** Replaces the file with a copy under another inode. */
const replace = (filename: string): void => {
  fs.copyFileSync(filename, `${filename}.copy`)
  fs.renameSync(`${filename}.copy`, filename)
}

for (const synchronous of ["FULL", "NORMAL"] as const) {
  const damagedFiles: ReadonlyArray<readonly [string, (filename: string) => void, string]> = [
    ["removed -wal", (filename) => fs.rmSync(`${filename}-wal`), "the -wal file of the database was moved"],
    [
      "moved -wal",
      (filename) => fs.renameSync(`${filename}-wal`, `${filename}-old`),
      "the -wal file of the database was moved"
    ],
    ["replaced -wal", (filename) => replace(`${filename}-wal`), "the -wal file of the database was moved"],
    [
      "emptied -wal",
      (filename) => fs.truncateSync(`${filename}-wal`),
      "the -wal file of the database was truncated"
    ],
    [
      "shortened -wal",
      (filename) => fs.truncateSync(`${filename}-wal`, 20_000),
      "the -wal file of the database was truncated"
    ]
  ]
  it.each(damagedFiles)(
    `a %s file makes all later transactions and reads fail (synchronous = ${synchronous})`,
    async (_, damage, reason) => {
      await useDatabase(
        ({ filename, insert, read }) =>
          Effect.gen(function* () {
            damage(filename)
            for (let count = 0; count < 3; count++) expect(yield* failureOf(insert("lost"))).toContain(reason)
            yield* waitForRecheck
            expect(yield* failureOf(read)).toContain(reason)
          }),
        synchronous
      )
    }
  )

  it.each([
    ["removed", (filename: string) => fs.rmSync(filename)],
    ["replaced", replace]
  ] as const)(
    `a %s -shm file makes transactions and reads fail within ${RECHECK_MS} ms (synchronous = ${synchronous})`,
    async (_, damage) => {
      await useDatabase(
        ({ filename, insert, read }) =>
          Effect.gen(function* () {
            damage(`${filename}-shm`)
            yield* waitForRecheck
            const reason = "the -shm file of the database was moved, removed or replaced"
            expect(yield* failureOf(read)).toContain(reason)
            expect(yield* failureOf(insert("lost"))).toContain(reason)
          }),
        synchronous
      )
    }
  )
}

it("earlier commits are in the database file once the removal of the -wal file is detected", async () => {
  await useDatabase(({ filename, insert }) =>
    Effect.gen(function* () {
      fs.rmSync(`${filename}-wal`)
      yield* failureOf(insert("lost"))
      // As after a crash: only the database file remains.
      fs.copyFileSync(filename, `${filename}.crashed`)
      expect(countOf(`${filename}.crashed`)).toBe(20)
    })
  )
})

it("earlier commits are in the database file once the connection closes, even after the removal of the -wal file", async () => {
  const filename = await useDatabase(({ filename: opened }) => Effect.sync(() => fs.rmSync(`${opened}-wal`)))
  expect(countOf(filename)).toBe(20)
})

it("only the commits after the last checkpoint are lost when the -wal file is truncated", async () => {
  const filename = await useDatabase(({ filename: opened, insert }) =>
    Effect.gen(function* () {
      const sql = yield* Effect.sync(() => new DatabaseSync(opened))
      sql.exec("PRAGMA wal_checkpoint(PASSIVE)")
      yield* insert("after the checkpoint")
      fs.truncateSync(`${opened}-wal`)
      yield* failureOf(insert("lost"))
      sql.close()
    })
  )
  // Commits that were not checkpointed are lost with the log.
  expect(countOf(filename)).toBe(20)
})

it("transactions succeed again after a moved -wal file is moved back", async () => {
  await useDatabase(({ filename, insert, read }) =>
    Effect.gen(function* () {
      fs.renameSync(`${filename}-wal`, `${filename}-moved`)
      yield* failureOf(insert("lost"))
      fs.renameSync(`${filename}-moved`, `${filename}-wal`)
      yield* insert("stored")
      expect(yield* read).toEqual([[21n]])
    })
  )
})

it("transactions succeed after checkpoints by other connections truncate the -wal file", async () => {
  await useDatabase(({ filename, insert, read }) =>
    Effect.gen(function* () {
      const other = new DatabaseSync(filename)
      onTestFinished(() => other.close())
      for (const mode of ["TRUNCATE", "RESTART", "FULL", "PASSIVE", "TRUNCATE"]) {
        other.exec(`PRAGMA wal_checkpoint(${mode})`)
        yield* insert("a")
        other.exec(
          `PRAGMA journal_size_limit = 0; PRAGMA wal_checkpoint(${mode}); INSERT INTO animals VALUES ('b')`
        )
        yield* insert("c")
        yield* waitForRecheck
        yield* read
      }
      expect(yield* read).toEqual([[35n]])
    })
  )
})

it("the -wal file shrinks after a reader that kept a snapshot has gone", async () => {
  await useDatabase(({ filename, insert, read }) =>
    Effect.gen(function* () {
      const reader = new DatabaseSync(filename)
      reader.exec("BEGIN; SELECT count(*) FROM animals")
      const size = () => fs.statSync(`${filename}-wal`).size
      const text = "x".repeat(100_000)
      for (let count = 0; count < 150; count++) yield* insert(text)
      expect(size()).toBeGreaterThan(2 * MAX_LOG_BYTES)
      expect(reader.prepare("SELECT count(*) AS count FROM animals").get()).toEqual({ count: 20 })
      reader.close()
      // The first commit lets SQLite move the log into the database, and the second one starts it again.
      for (const name of ["a", "b"]) yield* insert(name)
      expect(size()).toBeLessThanOrEqual(MAX_LOG_BYTES)
      yield* waitForRecheck
      yield* insert("c")
      expect(yield* read).toEqual([[173n]])
    })
  )
})

it("the removal of the -wal file is detected if the database is opened through a symbolic link", async () => {
  const filename = (await Databases.createForTest(Databases.sqlite)).address.slice("sqlite:".length)
  const directory = path.join(path.dirname(filename), "elsewhere")
  fs.mkdirSync(directory)
  fs.symlinkSync(filename, path.join(directory, "link.db"))
  await Effect.gen(function* () {
    const { insert, sql } = yield* operationsOn(filename)
    yield* sql`CREATE TABLE animals (name TEXT)`
    yield* insert("a")
    fs.rmSync(`${filename}-wal`)
    expect(yield* failureOf(insert("lost"))).toContain("the -wal file")
  }).pipe(
    Effect.provide(SqliteClient.layer({ filename: path.join(directory, "link.db") })),
    Effect.runPromise
  )
})

it("a server returns 503 after its -wal file is removed, and loses no acknowledged write", async () => {
  const filename = (await Databases.createForTest(Databases.sqlite)).address.slice("sqlite:".length)
  const database = ["--database", `sqlite:${filename}`]
  const serve = async (...flags: ReadonlyArray<string>) => {
    const { child, ended, stdout } = launch(["serve", "--json", "--port", "0", ...database, ...flags], {}, {})
    onTestFinished(async () => {
      child.kill("SIGKILL")
      await ended
    })
    const [, url = ""] = await stdout.waitFor(/"url":"([^"]+)".*\n/)
    return { child, ended, stdout, url }
  }
  const first = await serve("--issue-key", "Enterprise:perMinute=1000000,perDay=1000000")
  const [, key = ""] = await first.stdout.waitFor(/"key":"([^"]+)"/)
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
  const create = async (url: string): Promise<number> =>
    (await fetch(`${url}/pets`, { method: "POST", headers, body: '{"name":"Rex","categoryId":1}' })).status
  const statuses: Array<number> = []
  const creating = Array.from({ length: 8 }, async () => {
    for (let count = 0; count < 20; count++) statuses.push(await create(first.url))
  })
  while (statuses.length < 40) await sleep(1)
  fs.rmSync(`${filename}-wal`)
  await Promise.all(creating)
  expect(new Set(statuses)).toEqual(new Set([201, 503]))
  expect(await create(first.url)).toBe(503)
  expect((await fetch(`${first.url}/pets`, { headers })).status).toBe(503)
  expect((await fetch(new URL("/readyz", first.url))).status).toBe(503)
  // Simulates a crash and a restart.
  first.child.kill("SIGKILL")
  await first.ended
  const second = await serve()
  const listed = await fetch(`${second.url}/pets?limit=100`, { headers })
  expect(listed.status).toBe(200)
  const stored = countStored(filename)
  expect(stored).toBeGreaterThanOrEqual(statuses.filter((status) => status === 201).length)
  expect(await create(second.url)).toBe(201)
})

const countStored = (filename: string): number => {
  const database = new DatabaseSync(filename)
  const [row] = database.prepare("SELECT count(*) AS count FROM pets").all()
  database.close()
  return Number(row?.count)
}
