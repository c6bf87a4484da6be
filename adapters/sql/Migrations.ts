/** The tables in both dialects, and how a database comes to have them: forward only, one process at a time. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { DatabaseUnusable, fromSqlError, patiently } from "./DatabaseUnusable.ts"
import * as RateLimitStep from "./RateLimitStep.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const TABLE = "animal_store_migrations"

/** Brings the database to the newest schema; a schema newer than that is left alone and refused. */
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
      reason: `it was made by a newer animal-store (schema ${version}, this one knows ${known}); use that version`
    })
  }
}).pipe(
  Effect.catchTag("SqlError", (error) => Effect.fail(fromSqlError(error))),
  patiently
)

const run = Migrator.make({})

/** The write lock of SQLite; PostgreSQL waits by itself. */
const isLocked = (error: unknown): boolean =>
  isSqlError(error)
    ? WriteTransaction.isLocked(error)
    : error instanceof Migrator.MigrationError && isLocked(error.cause)

type Migrations = Readonly<Record<string, Effect.Effect<void, SqlError, SqlClient.SqlClient>>>

const statements = (...texts: ReadonlyArray<string>): Migrations[string] =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(texts, (text) => sql.unsafe(text), { discard: true })
  )

// Ids come from AUTOINCREMENT, which never hands one out twice, also after the newest row is gone.
const sqlite: Migrations = {
  "0001_first": statements(
    `CREATE TABLE pets (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       name TEXT NOT NULL,
       category_id INTEGER NOT NULL,
       status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
     ) STRICT`,
    "CREATE INDEX pets_by_status ON pets (status, id)",
    `CREATE TABLE api_keys (
       position INTEGER PRIMARY KEY AUTOINCREMENT,
       id TEXT NOT NULL UNIQUE,
       plan TEXT NOT NULL,
       per_minute INTEGER NOT NULL,
       per_day INTEGER NOT NULL,
       label TEXT,
       created_at INTEGER NOT NULL,
       revoked_at INTEGER
     ) STRICT`,
    `CREATE TABLE api_key_secrets (
       hash TEXT PRIMARY KEY,
       key_id TEXT NOT NULL REFERENCES api_keys (id),
       position INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       expires_at INTEGER
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX api_key_secrets_by_key ON api_key_secrets (key_id, position)",
    `CREATE TABLE rate_limits (
       key TEXT PRIMARY KEY,
       level INTEGER NOT NULL,
       at INTEGER NOT NULL,
       day INTEGER NOT NULL,
       used INTEGER NOT NULL,
       strikes INTEGER NOT NULL,
       strikes_from INTEGER NOT NULL,
       strike_at INTEGER NOT NULL,
       retry_at INTEGER NOT NULL,
       ban_level INTEGER NOT NULL,
       banned_until INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"
  )
}

// Room on each page of rate_limits, and no index but the key: then an update rewrites no index (heap-only tuples).
const postgres: Migrations = {
  "0001_first": statements(
    `CREATE TABLE pets (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       name text NOT NULL,
       category_id bigint NOT NULL,
       status text NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
     )`,
    "CREATE INDEX pets_by_status ON pets (status, id)",
    `CREATE TABLE api_keys (
       position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       id text NOT NULL UNIQUE,
       plan text NOT NULL,
       per_minute bigint NOT NULL,
       per_day bigint NOT NULL,
       label text,
       created_at bigint NOT NULL,
       revoked_at bigint
     )`,
    `CREATE TABLE api_key_secrets (
       hash text COLLATE "C" PRIMARY KEY,
       key_id text NOT NULL REFERENCES api_keys (id),
       position bigint NOT NULL,
       created_at bigint NOT NULL,
       expires_at bigint
     )`,
    "CREATE INDEX api_key_secrets_by_key ON api_key_secrets (key_id, position)",
    `CREATE TABLE rate_limits (
       key text COLLATE "C" PRIMARY KEY,
       level bigint NOT NULL,
       at bigint NOT NULL,
       day bigint NOT NULL,
       used bigint NOT NULL,
       strikes bigint NOT NULL,
       strikes_from bigint NOT NULL,
       strike_at bigint NOT NULL,
       retry_at bigint NOT NULL,
       ban_level bigint NOT NULL,
       banned_until bigint NOT NULL,
       admitted boolean NOT NULL,
       decided_at bigint NOT NULL
     ) WITH (fillfactor = 70)`,
    "CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL)",
    RateLimitStep.createFunction
  )
}
