/** Creates and migrates the schema in both dialects: forward only, one process at a time. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as CopyPlan from "./CopyPlan.ts"
import { DatabaseUnusable, opening } from "./DatabaseUnusable.ts"
import * as Batches from "./migrations/Batches.ts"
import * as Costs from "./migrations/Costs.ts"
import * as First from "./migrations/First.ts"
import * as IdempotentInserts from "./migrations/IdempotentInserts.ts"
import * as KeyAdministration from "./migrations/KeyAdministration.ts"
import * as Slots from "./migrations/Slots.ts"
import * as Transfers from "./migrations/Transfers.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const TABLE = "animal_store_migrations"

/** What a database is opened for: the tables of a source are migrated, but not created. */
export type Use = "source" | "target"

/**
 * Migrates the database to the newest known schema, and creates the tables in a database without a store. Fails if its
 * schema is newer, if it contains tables of another program with the same names, or after 30 seconds.
 */
export const migrate: Effect.Effect<void, DatabaseUnusable, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* rejectForeign(yield* findForeign(hasOurName))
  yield* run({ loader: Migrator.fromRecord(migrationsFor(sql)), table: TABLE }).pipe(
    Effect.provideService(
      SqlClient.BeginTransaction,
      sql.onDialectOrElse({ pg: () => "BEGIN", orElse: () => "BEGIN IMMEDIATE" })
    ),
    Effect.retry({ while: isLocked, schedule: Schedule.spaced("20 millis") }),
    Effect.catchTag("MigrationError", (error) =>
      Effect.fail(
        isSqlError(error.cause) ? error.cause : new DatabaseUnusable({ reason: error.message, cause: error })
      )
    )
  )
  yield* rejectNewer(sql)
}).pipe(opening)

/** Fails unless the database contains a store with the newest known schema; changes nothing. */
export const check: Effect.Effect<void, DatabaseUnusable, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* requireStore
  const { known, version } = yield* rejectNewer(sql)
  if (version < known) {
    return yield* new DatabaseUnusable({
      reason: `its schema ${version} is older than this version's (${known}); 'animal-store serve' migrates it when it starts`
    })
  }
}).pipe(opening)

/** Fails unless the database contains a store; changes nothing. */
export const requireStore: Effect.Effect<void, DatabaseUnusable, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const [found] = yield* sql.unsafe(
      sql.onDialectOrElse({
        pg: () => `SELECT 1 WHERE to_regclass('${TABLE}') IS NOT NULL`,
        orElse: () => `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '${TABLE}'`
      })
    )
    if (found === undefined) {
      const isForeign = sql.onDialectOrElse({ pg: () => hasOurName, orElse: () => isNotInternal })
      yield* rejectForeign(yield* findForeign(isForeign))
      return yield* new DatabaseUnusable({
        reason: "it contains no animal store; 'animal-store serve' or 'animal-store keys issue' creates one"
      })
    }
  }
).pipe(opening)

const rejectNewer = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const known = Object.keys(migrationsFor(sql)).length
  const [applied] = yield* sql.unsafe<{ version: unknown }>(
    `SELECT max(migration_id) AS version FROM ${TABLE}`
  )
  const version = Number(applied?.version)
  if (version > known) {
    return yield* new DatabaseUnusable({
      reason: `it was made by a newer animal-store (schema ${version}, this one supports ${known}); use that version`
    })
  }
  return { known, version }
})

/** The names of the tables of a store. */
const tables: ReadonlySet<string> = new Set([...CopyPlan.copiedTables, ...CopyPlan.uncopiedTables])

/** Whether a table has the name of one of a store's: without a store, another program has created it. */
const hasOurName = (table: string): boolean => tables.has(table)

/** Whether a table is not SQLite's own. Unlike a schema of PostgreSQL, a file has one owner. */
export const isNotInternal = (table: string): boolean => !table.startsWith("sqlite_")

/** Finds a table for which `isForeign` is true in a database without a store. */
export const findForeign = Effect.fnUntraced(function* (
  isForeign: (table: string) => boolean
): Effect.fn.Return<string | undefined, SqlError, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.unsafe<{ readonly name: string }>(
    sql.onDialectOrElse({
      // The tables are created in the first schema of the search path.
      pg: () => "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()",
      orElse: () => "SELECT name FROM sqlite_schema WHERE type = 'table'"
    })
  )
  const names = rows.map(({ name }) => name)
  return names.includes(TABLE) ? undefined : names.find(isForeign)
})

/** Fails if `table`, which `findForeign` returned, is a table. */
export const rejectForeign = (table: string | undefined): Effect.Effect<void, DatabaseUnusable> =>
  table === undefined
    ? Effect.void
    : Effect.fail(
        new DatabaseUnusable({
          reason: `it belongs to another program: it has the table ${table}, but no animal store; use another database`
        })
      )

const run = Migrator.make({})

/** Whether another process holds SQLite's write lock; PostgreSQL itself waits for its locks. */
const isLocked = (error: unknown): boolean =>
  isSqlError(error)
    ? WriteTransaction.isLocked(error)
    : error instanceof Migrator.MigrationError && isLocked(error.cause)

type Migrations = Readonly<Record<string, Effect.Effect<void, SqlError, SqlClient.SqlClient>>>

const statements = (texts: ReadonlyArray<string>): Migrations[string] =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(texts, (text) => sql.unsafe(text), { discard: true })
  )

// Forward only. A released migration never changes: `Migrations.test.ts` contains the hashes of the texts.
export const sqlite: Migrations = {
  "0001_first": statements(First.sqlite),
  "0002_slots": statements(Slots.sqlite),
  "0003_key_administration": statements(KeyAdministration.sqlite),
  "0004_transfers": statements(Transfers.sqlite),
  "0005_batches": statements(Batches.sqlite),
  "0006_idempotent_inserts": statements(IdempotentInserts.sqlite),
  "0007_costs": statements(Costs.sqlite)
}

const postgres: Migrations = {
  "0001_first": statements(First.postgres),
  "0002_slots": statements(Slots.postgres),
  "0003_key_administration": statements(KeyAdministration.postgres),
  "0004_transfers": statements(Transfers.postgres),
  "0005_batches": statements(Batches.postgres),
  "0006_idempotent_inserts": statements(IdempotentInserts.postgres),
  "0007_costs": statements(Costs.postgres)
}

const migrationsFor = (sql: SqlClient.SqlClient): Migrations =>
  sql.onDialectOrElse({ pg: () => postgres, orElse: () => sqlite })
