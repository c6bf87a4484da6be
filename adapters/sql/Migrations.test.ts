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
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { type Database, describeOn, kinds, sqlite } from "./Databases.fixture.ts"
import * as Migrations from "./Migrations.ts"
import * as Accounts from "./migrations/Accounts.ts"
import * as Batches from "./migrations/Batches.ts"
import * as Costs from "./migrations/Costs.ts"
import * as First from "./migrations/First.ts"
import * as IdempotentInserts from "./migrations/IdempotentInserts.ts"
import * as IdempotentResponses from "./migrations/IdempotentResponses.ts"
import * as KeyAdministration from "./migrations/KeyAdministration.ts"
import * as Slots from "./migrations/Slots.ts"
import * as Transfers from "./migrations/Transfers.ts"
import { openClient, openNode } from "./Nodes.fixture.ts"
import * as Sql from "./Sql.ts"
import * as SqliteClient from "./SqliteClient.ts"

const migrate = (sql: SqlClient.SqlClient) =>
  Effect.provideService(Migrations.migrate, SqlClient.SqlClient, sql)

/** Returns the tables, columns, indexes and functions of the database, one per line. */
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
    rows.map(({ line }) => line)
  )
}

const TABLES = [
  "animal_store_migrations",
  "api_key_secrets",
  "api_keys",
  "key_events",
  "copies",
  "idempotent_inserts",
  "imports",
  "pets",
  "rate_limits",
  "settings"
]

/** The migrations that are applied to a new database. */
const ALL = Migrations.migrations.map(({ name }, index) => `${index + 1} ${name}`)

/** Returns the contents of all tables. */
const readContents = (sql: SqlClient.SqlClient) =>
  Effect.forEach(TABLES, (table) =>
    Effect.provideService(sql`SELECT * FROM ${sql(table)} ORDER BY 1`, SqlClient.SafeIntegers, true)
  )

const readAppliedMigrations = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly id: unknown; readonly name: string }>`
      SELECT migration_id AS id, name FROM animal_store_migrations ORDER BY migration_id`,
    (rows) => rows.map(({ id, name }) => `${id} ${name}`)
  )

const insertRow = (database: Database) =>
  Effect.scoped(
    Effect.gen(function* () {
      const node = yield* openNode(database)
      yield* Context.get(node, PetRepository).insert({ name: "Rex", categoryId: 1n, status: "sold" })
    })
  )

const rejectionOf = (sql: SqlClient.SqlClient) =>
  Effect.map(Effect.flip(migrate(sql)), (error) => {
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
        const withoutNames = (lines: ReadonlyArray<string>) =>
          lines.map((line) => line.replaceAll(/animal_store_test_\w+/g, "schema"))
        expect(withoutNames(yield* readSchema(ten))).toEqual(withoutNames(yield* readSchema(one)))
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
        yield* sql`INSERT INTO animal_store_migrations (migration_id, name) VALUES (999, 'of the future')`
        const before = [yield* readSchema(sql), yield* readContents(sql)]
        const reason = yield* rejectionOf(sql)
        expect(reason).toBe(
          `it was made by a newer animal-store (schema 999, this one supports ${ALL.length}); use that version`
        )
        expect((yield* Effect.flip(Effect.scoped(openNode(database)))).reason).toBe(reason)
        expect([yield* readSchema(sql), yield* readContents(sql)]).toEqual(before)
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
        // These tables belong to different migrations.
        for (const table of ["pets", "rate_limits", "settings", "key_events", "copies"]) {
          const sql = yield* openClient(yield* kind.create)
          yield* sql`CREATE TABLE animal_store_migrations (
            migration_id integer PRIMARY KEY, created_at timestamp DEFAULT current_timestamp NOT NULL, name text NOT NULL)`
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

describe("the released migration", () => {
  // Existing databases were created with these statements; changed statements would create a different schema with the
  // same version.
  const hashes = [
    ["First", First, "5261b9d9e511929e", "dab6af5a9ab1ba97"],
    ["Slots", Slots, "d58847019d20232f", "7244df4c03595b8e"],
    ["KeyAdministration", KeyAdministration, "acca8dac50ab1a2a", "c7f27e210b615402"],
    ["Transfers", Transfers, "ab33b5517a3a85b8", "8a5c116000f34dc7"],
    ["Batches", Batches, "e3b0c44298fc1c14", "a0c23de19578da8a"],
    ["IdempotentInserts", IdempotentInserts, "e3d632daf82e674f", "7f7f365cc03cbd81"],
    ["Costs", Costs, "e3b0c44298fc1c14", "5e5f6f13f1b68bbd"],
    ["Accounts", Accounts, "3fe812cac40941e4", "1af82f38b6ba43d4"],
    ["IdempotentResponses", IdempotentResponses, "dd6cbdc62169ed20", "e2c055677e589b7e"]
  ] as const

  it("has its hashes here", () => {
    expect(hashes.length, `the hashes of ${ALL.slice(hashes.length).join(", ")} are missing`).toBe(ALL.length)
  })

  it.each(hashes)("%s has not changed", (_, { postgres, sqlite }, sqliteHash, postgresHash) => {
    const hash = (texts: ReadonlyArray<string>) =>
      createHash("sha256").update(texts.join("\n;\n")).digest("hex").slice(0, 16)
    expect([hash(sqlite), hash(postgres)]).toEqual([sqliteHash, postgresHash])
  })
})

for (const kind of kinds) {
  describeOn(kind, "a database of the first version", () => {
    it.live("is migrated and keeps its keys, counts and bans", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const sql = yield* openClient(database)
        const first = sql.onDialectOrElse({ pg: () => First.postgres, orElse: () => First.sqlite })
        yield* Effect.forEach(first, (text) => sql.unsafe(text))
        yield* sql`CREATE TABLE animal_store_migrations (
          migration_id integer PRIMARY KEY, created_at timestamp DEFAULT current_timestamp NOT NULL, name text NOT NULL)`
        yield* sql`INSERT INTO animal_store_migrations (migration_id, name) VALUES (1, 'first')`
        const now = Date.now()
        const day = Math.floor(now / 86_400_000)
        const decision = sql.onDialectOrElse({ pg: () => ", false, 0", orElse: () => "" })
        yield* sql.unsafe(
          `INSERT INTO rate_limits VALUES ('key:a', 0, ${now}, ${day}, 7, 3, ${now}, ${now}, ${now + 1}, 1, ${now + 60_000}${decision})`
        )
        yield* sql`INSERT INTO api_keys (id, plan, per_minute, per_day, label, created_at, revoked_at)
          VALUES ('key_a', 'Pro', 300, 10000, 'shop', 1, NULL)`
        yield* sql`INSERT INTO api_key_secrets (hash, key_id, position, created_at, expires_at)
          VALUES ('hash', 'key_a', 0, 1, NULL)`
        const node = yield* openNode(database, { clock: "service" })
        const keys = Context.get(node, ApiKeyStore)
        expect(yield* keys.list).toEqual([
          {
            ...{ id: "key_a", plan: "Pro", limits: Plan.standard.Pro, label: "shop", createdAt: 1 },
            ...{ account: undefined, metadata: undefined },
            ...{ revokedAt: undefined, expiresAt: undefined, lastSeenDay: undefined },
            secrets: [{ hash: "hash", createdAt: 1, expiresAt: undefined }]
          }
        ])
        expect(yield* keys.events?.() ?? Effect.succeed(undefined)).toEqual([])
        const limits = Context.get(node, RateLimitStore)
        const state = yield* limits.modify("key:a", (before = RateLimit.initial(0, Plan.standard.Free)) => [
          before,
          before
        ])
        expect(state).toEqual({
          level: 0,
          at: now,
          day,
          used: 7,
          debt: 0,
          strikes: 3,
          strikesFrom: now,
          strikeAt: now,
          banLevel: 1,
          bannedUntil: now + 60_000
        })
        const policy = { plan: Plan.standard.Free, ban: BanPolicy.standard }
        const verdict = yield* limits.consume?.("key:a", now + 1, policy) ??
          limits.modify("key:a", (before) => RateLimit.step(before, now + 1, policy))
        expect(verdict.outcome).toBe("banned")
        expect(yield* readAppliedMigrations(sql)).toEqual(ALL)
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
