import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { DatabaseSync } from "node:sqlite"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as CopiedTables from "./CopiedTables.ts"
import { type Database, describeOn, kinds, sqlite } from "./Databases.fixture.ts"
import * as Migrations from "./Migrations.ts"
import { openClient, openNode } from "./Nodes.fixture.ts"
import * as Sql from "./Sql.ts"
import * as SqliteClient from "./SqliteClient.ts"

const migrate = (sql: SqlClient.SqlClient, migrations = Migrations.migrations) =>
  Effect.provideService(Migrations.migrateTo(migrations), SqlClient.SqlClient, sql)

/** Returns the tables, columns, indexes and functions of the database, one per line, without the name of a test. */
const readSchema = (sql: SqlClient.SqlClient): Effect.Effect<ReadonlyArray<string>, SqlError> => {
  const statement = sql.onDialectOrElse({
    pg: () => `
      SELECT table_name || '.' || column_name || ' ' || data_type AS line
      FROM information_schema.columns WHERE table_schema = current_schema()
      UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
      UNION ALL SELECT 'function ' || routine_name FROM information_schema.routines
      WHERE routine_schema = current_schema()`,
    orElse: () => "SELECT type || ' ' || name || ': ' || coalesce(sql, '') AS line FROM sqlite_schema"
  })
  return Effect.map(sql.unsafe<{ readonly line: string }>(`${statement} ORDER BY line`), (rows) =>
    rows.map(({ line }) => line.replaceAll(/animal_store_test_\w+/g, "schema"))
  )
}

/** Returns the records of migrations that were applied in order. */
const recordsOf = (migrations: ReadonlyArray<Migrations.Migration>) =>
  migrations.map(({ name }, index) => `${index + 1} ${name}`)

/** The migrations that are applied to a new database. */
const ALL = recordsOf(Migrations.migrations)

const madeUp = (name: string, text: string): Migrations.Migration => ({
  name,
  texts: { sqlite: [text], postgres: [text] }
})

/** Later versions of the schema; each needs the one before. */
const upgraded = [
  ...Migrations.migrations,
  madeUp("visits", "CREATE TABLE visits (pet_id INTEGER PRIMARY KEY)"),
  madeUp("notes", "ALTER TABLE visits ADD COLUMN note TEXT"),
  madeUp("notes_of_keys", "ALTER TABLE api_keys ADD COLUMN note TEXT")
]

/** Returns the contents of all tables. */
const readContents = (sql: SqlClient.SqlClient) =>
  Effect.forEach([...CopiedTables.copied, ...CopiedTables.uncopied], (table) =>
    Effect.provideService(sql`SELECT * FROM ${sql(table)} ORDER BY 1`, SqlClient.SafeIntegers, true)
  )

/** The applied migrations, without the hashes of their statements. */
const readAppliedMigrations = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly id: unknown; readonly name: string }>`
      SELECT migration_id AS id, name FROM animal_store_migrations ORDER BY migration_id`,
    (rows) => rows.map(({ id, name }) => `${id} ${name.replace(/ [0-9a-f]{16}$/, "")}`)
  )

const createRecords = (sql: SqlClient.SqlClient) =>
  sql`CREATE TABLE animal_store_migrations (
    migration_id integer PRIMARY KEY, created_at timestamp DEFAULT current_timestamp NOT NULL, name text NOT NULL)`

const insertRow = (database: Database) =>
  Effect.scoped(
    Effect.gen(function* () {
      const node = yield* openNode(database)
      yield* Context.get(node, PetRepository).insert({ name: "Rex", categoryId: 1n, status: "sold" })
    })
  )

const rejectionOf = (sql: SqlClient.SqlClient, migrations = Migrations.migrations) =>
  Effect.map(Effect.flip(migrate(sql, migrations)), (error) => {
    expect(error._tag).toBe("DatabaseUnusable")
    expect(error.message).toBe(`database: ${error.reason}`)
    expect(error.message).not.toMatch(/[\r\n]/)
    return error.reason
  })

const openProcess = fileURLToPath(new URL("./OpenProcess.fixture.ts", import.meta.url))

/** Maximum lifetime of a process in milliseconds, so that no process outlives a failed test. */
const LIFETIME_MS = 180_000

/** Starts a process that opens the database on command. */
const startProcess = (address: string) => {
  const child = spawn(process.execPath, [openProcess, address], {
    stdio: ["pipe", "pipe", "pipe"],
    timeout: LIFETIME_MS,
    killSignal: "SIGKILL"
  })
  const ready = once(child.stdout, "data")
  const exited = Promise.all([once(child, "close"), text(child.stderr)])
  return {
    ready,
    open: async () => {
      const output = text(child.stdout)
      child.stdin.end()
      const [[code], stderr] = await exited
      return { code, stderr, issued: await output }
    }
  }
}

for (const kind of kinds) {
  describeOn(kind, "Migrations.migrate", () => {
    it.live("creates the same schema for ten concurrent nodes as for a single node", () =>
      Effect.gen(function* () {
        const [openedByOne, openedByTen] = [yield* kind.create, yield* kind.create]
        yield* openNode(openedByOne)
        yield* Effect.forEach(Array.from({ length: 10 }), () => openNode(openedByTen), {
          concurrency: "unbounded",
          discard: true
        })
        const [one, ten] = [yield* openClient(openedByOne), yield* openClient(openedByTen)]
        expect(yield* readAppliedMigrations(ten)).toEqual(ALL)
        expect(yield* readSchema(ten)).toEqual(yield* readSchema(one))
      })
    )

    it.live(
      "succeeds in three concurrent processes; exactly one of them issues the first key",
      () =>
        Effect.gen(function* () {
          const database = yield* kind.create
          const processes = Array.from({ length: 3 }, () => startProcess(database.address))
          yield* Effect.promise(() => Promise.all(processes.map(({ ready }) => ready)))
          const exits = yield* Effect.promise(() => Promise.all(processes.map(({ open }) => open())))
          expect(exits.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
            exits.map(() => ({ code: 0, stderr: "" }))
          )
          expect(exits.filter(({ issued }) => issued !== "")).toHaveLength(1)
          const sql = yield* openClient(database)
          expect(yield* readAppliedMigrations(sql)).toEqual(ALL)
          expect(yield* sql`SELECT id FROM api_keys`).toEqual([
            { id: exits.map(({ issued }) => issued).join("") }
          ])
        }),
      LIFETIME_MS + 10_000
    )

    it.live("changes nothing when it runs again", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        yield* insertRow(database)
        const sql = yield* openClient(database)
        const before = [yield* readSchema(sql), yield* readContents(sql)]
        expect(before[0]?.length).toBeGreaterThan(5)
        yield* migrate(sql)
        yield* Effect.scoped(openNode(database))
        expect([yield* readSchema(sql), yield* readContents(sql)]).toEqual(before)
      })
    )

    it.live("rejects a database with a newer schema, and does not change it", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        yield* insertRow(database)
        const sql = yield* openClient(database)
        yield* migrate(sql, upgraded)
        const before = [yield* readSchema(sql), yield* readContents(sql)]
        const reason = yield* rejectionOf(sql)
        expect(reason).toBe(
          `it was made by a newer animal-store (schema ${upgraded.length}, this one supports ${ALL.length}); use that version`
        )
        expect((yield* Effect.flip(Effect.scoped(openNode(database)))).reason).toBe(reason)
        expect([yield* readSchema(sql), yield* readContents(sql)]).toEqual(before)
      })
    )

    it.live("rejects a database of a development version, whatever its schema, and does not change it", () =>
      Effect.gen(function* () {
        for (const [version, first] of [
          [1, "first"],
          [2, "first"],
          [10, "first"],
          // The name of the release, with other statements than those of the release.
          [1, "0.1.0"],
          [1, "0.1.0 0000000000000000"]
        ] as const) {
          const sql = yield* openClient(yield* kind.create)
          yield* createRecords(sql)
          for (let id = 1; id <= version; id++) {
            yield* sql`INSERT INTO animal_store_migrations (migration_id, name) VALUES (${id}, ${id === 1 ? first : "other"})`
          }
          const before = yield* readSchema(sql)
          const reason =
            "it was made by a development version of animal-store; export its animals with that version ('animal-store export') and import them into a new database"
          expect(yield* rejectionOf(sql)).toBe(reason)
          const check = Effect.provideService(Migrations.check, SqlClient.SqlClient, sql)
          expect((yield* Effect.flip(check)).reason).toBe(reason)
          expect(yield* readSchema(sql)).toEqual(before)
        }
      })
    )

    it.live("changes nothing in a database with a table of another program", () =>
      Effect.gen(function* () {
        for (const table of ["pets", "copies"]) {
          const sql = yield* openClient(yield* kind.create)
          yield* sql`CREATE TABLE ${sql(table)} (whose INTEGER)`
          const before = yield* readSchema(sql)
          expect(yield* rejectionOf(sql)).toBe(
            `it belongs to another program: it has the table ${table}, but no animal store; use another database`
          )
          expect(yield* readSchema(sql)).toEqual(before)
          yield* sql`DROP TABLE ${sql(table)}`
          yield* sql`CREATE TABLE animals (whose INTEGER)`
          yield* migrate(sql)
          expect(yield* readAppliedMigrations(sql)).toEqual(ALL)
        }
      })
    )

    it.live("leaves no partial schema when it fails because a table already exists", () =>
      Effect.gen(function* () {
        for (const table of ["pets", "settings"]) {
          const sql = yield* openClient(yield* kind.create)
          yield* createRecords(sql)
          yield* sql`CREATE TABLE ${sql(table)} (whose INTEGER)`
          const before = yield* readSchema(sql)
          expect(yield* rejectionOf(sql)).toMatch(new RegExp(`\\b${table}\\b.* already exists`))
          expect(yield* readSchema(sql)).toEqual(before)
          expect(yield* readAppliedMigrations(sql)).toEqual([])
          yield* sql`DROP TABLE ${sql(table)}`
          yield* migrate(sql)
          expect(yield* readAppliedMigrations(sql)).toEqual(ALL)
        }
      })
    )

    it.live("rejects a new read-only database; the stores reject a migrated one", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const sql = yield* openClient(database)
        const reader = readOnlyClient(database)
        expect(yield* rejectionOf(yield* openClient({ ...database, client: reader }))).toMatch(/read-?only/)
        expect(yield* readSchema(sql)).toEqual([])
        yield* migrate(sql)
        const before = [yield* readSchema(sql), yield* readContents(sql)]
        const stores = Sql.layer().pipe(Layer.provide([reader, SecureRandom.layerWebCrypto]))
        const error = yield* Effect.flip(Effect.scoped(Layer.build(stores)))
        expect(error._tag).toBe("DatabaseUnusable")
        expect(error.message).toMatch(/^database: .*read-?only.*$/)
        expect([yield* readSchema(sql), yield* readContents(sql)]).toEqual(before)
      })
    )
  })
}

const readOnlyClient = (database: Database) => {
  const url = new URL(database.address)
  if (url.protocol === "sqlite:") return SqliteClient.layer({ filename: fileOf(database), readonly: true })
  url.searchParams.set("options", `${url.searchParams.get("options")} -cdefault_transaction_read_only=on`)
  return PgClient.layer({ url: Redacted.make(url.href) })
}

const fileOf = ({ address }: Database): string => address.slice("sqlite:".length)

describe("the migration", () => {
  // Databases of a released version were created with these statements; changed statements would create a different
  // schema with the same version.
  const hashes = [["0.1.0", "687e0dcaf1b2bc46", "4296137c72137855"]] as const

  it("has its hashes here", () => {
    expect(hashes.map(([name]) => name)).toEqual(Migrations.migrations.map(({ name }) => name))
  })

  it.each(hashes)("%s has not changed", (migration, ...expected) => {
    const hash = (texts: ReadonlyArray<string> = []) =>
      createHash("sha256").update(texts.join("\n;\n")).digest("hex").slice(0, 16)
    const texts = Migrations.migrations.find(({ name }) => name === migration)?.texts
    expect([hash(texts?.sqlite), hash(texts?.postgres)]).toEqual(expected)
  })
})

for (const kind of kinds) {
  describeOn(kind, "a database of an earlier version", () => {
    /** Opens a database to which only the first migrations were applied, with an animal in it. */
    const openEarlier = (version: number) =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const sql = yield* openClient(database)
        yield* migrate(sql, upgraded.slice(0, version))
        yield* sql`INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 'sold')`
        return { database, sql, rows: yield* sql`SELECT * FROM pets` }
      })

    it.live("gets the schema of a new one and keeps its rows, also when ten nodes migrate it", () =>
      Effect.gen(function* () {
        const schema = yield* readSchema((yield* openEarlier(upgraded.length)).sql)
        for (let version = 1; version < upgraded.length; version++) {
          const { database, rows, sql } = yield* openEarlier(version)
          expect(yield* readSchema(sql)).not.toEqual(schema)
          const nodes = yield* Effect.replicateEffect(openClient(database), 10)
          yield* Effect.forEach(nodes, (node) => migrate(node, upgraded), { concurrency: "unbounded" })
          expect(yield* readSchema(sql)).toEqual(schema)
          expect(yield* readAppliedMigrations(sql)).toEqual(recordsOf(upgraded))
          expect(yield* sql`SELECT * FROM pets`).toEqual(rows)
        }
      })
    )

    it.live("stays as it was if one of the migrations fails", () =>
      Effect.gen(function* () {
        const { rows, sql } = yield* openEarlier(ALL.length)
        const before = yield* readSchema(sql)
        const failing = [...upgraded, madeUp("failing", "CREATE TABLE pets (id INTEGER)")]
        expect(yield* rejectionOf(sql, failing)).toMatch(/pets.* already exists/)
        expect(yield* readSchema(sql)).toEqual(before)
        expect(yield* readAppliedMigrations(sql)).toEqual(ALL)
        expect(yield* sql`SELECT * FROM pets`).toEqual(rows)
      })
    )
  })
}

describe("Migrations.migrate while another process writes to the SQLite database", () => {
  const startWhileLocked = Effect.gen(function* () {
    const database = yield* sqlite.create
    const client = SqliteClient.layer({ filename: fileOf(database), busyTimeoutMs: 0 })
    const sql = yield* openClient({ ...database, client })
    const otherProcess = yield* Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(fileOf(database))),
      (other) => Effect.sync(() => other.close())
    )
    otherProcess.exec("BEGIN IMMEDIATE")
    return { migration: yield* Effect.forkChild(Effect.exit(migrate(sql))), sql, otherProcess }
  })

  it.effect("waits until the other process ends its transaction", () =>
    Effect.gen(function* () {
      const { migration, sql, otherProcess } = yield* startWhileLocked
      yield* TestClock.adjust("29 seconds")
      expect(migration.pollUnsafe()).toBeUndefined()
      otherProcess.exec("COMMIT")
      yield* TestClock.adjust("20 millis")
      expect((yield* Fiber.join(migration))._tag).toBe("Success")
      expect(yield* readAppliedMigrations(sql)).toEqual(ALL)
    })
  )

  it.effect("fails after thirty seconds", () =>
    Effect.gen(function* () {
      const { migration } = yield* startWhileLocked
      yield* TestClock.adjust("30 seconds")
      const exit = yield* Fiber.join(migration)
      expect(yield* Effect.flip(exit)).toMatchObject({
        _tag: "DatabaseUnusable",
        reason: "it does not respond, or another process keeps it locked"
      })
    })
  )
})
