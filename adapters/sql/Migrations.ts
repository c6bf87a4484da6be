/** Creates and migrates the schema in both dialects: forward only, one process at a time. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { DatabaseUnusable, fromSqlError, withTimeout } from "./DatabaseUnusable.ts"
import * as Batches from "./migrations/Batches.ts"
import * as First from "./migrations/First.ts"
import * as IdempotentInserts from "./migrations/IdempotentInserts.ts"
import * as KeyAdministration from "./migrations/KeyAdministration.ts"
import * as Slots from "./migrations/Slots.ts"
import * as Transfers from "./migrations/Transfers.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const TABLE = "animal_store_migrations"

/** Migrates the database to the newest known schema; fails if its schema is newer, or after 30 seconds. */
export const migrate: Effect.Effect<void, DatabaseUnusable, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const migrations = sql.onDialectOrElse({ pg: () => postgres, orElse: () => sqlite })
  yield* run({ loader: Migrator.fromRecord(migrations), table: TABLE }).pipe(
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
  const known = Object.keys(migrations).length
  const [applied] = yield* sql.unsafe<{ version: unknown }>(
    `SELECT max(migration_id) AS version FROM ${TABLE}`
  )
  const version = Number(applied?.version)
  if (version > known) {
    return yield* new DatabaseUnusable({
      reason: `it was made by a newer animal-store (schema ${version}, this one supports ${known}); use that version`
    })
  }
}).pipe(
  Effect.catchTag("SqlError", (error) => Effect.fail(fromSqlError(error))),
  withTimeout
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
  "0006_idempotent_inserts": statements(IdempotentInserts.sqlite)
}

const postgres: Migrations = {
  "0001_first": statements(First.postgres),
  "0002_slots": statements(Slots.postgres),
  "0003_key_administration": statements(KeyAdministration.postgres),
  "0004_transfers": statements(Transfers.postgres),
  "0005_batches": statements(Batches.postgres),
  "0006_idempotent_inserts": statements(IdempotentInserts.postgres)
}
