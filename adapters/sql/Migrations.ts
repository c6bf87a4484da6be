/** Creates and migrates the schema in both dialects: forward only, one process at a time. */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as CopiedTables from "./CopiedTables.ts"
import { DatabaseUnusable, opening } from "./DatabaseUnusable.ts"
import * as First from "./migrations/First.ts"
import * as SqlScript from "./SqlScript.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const TABLE = "animal_store_migrations"

/** A version of the schema: the statements that create it from the previous version. */
export interface Migration {
  readonly name: string
  readonly texts: { readonly [dialect in "sqlite" | "postgres"]: ReadonlyArray<string> }
}

// Forward only. A released migration never changes: `Migrations.test.ts` contains the hashes of the texts.
export const migrations: ReadonlyArray<Migration> = [{ name: "0.1.0", texts: First }]

/** What a database is opened for: the tables of a source are migrated, but not created; reading changes nothing. */
export type Use = "source" | "target" | "reading"

/**
 * Migrates the database to the last of `migrations`, and creates the tables in a database without a store. Fails if its
 * schema is newer or from a development version, if it contains tables of another program with the same names, or after
 * 30 seconds.
 */
export const migrateTo = (
  migrations: ReadonlyArray<Migration>
): Effect.Effect<void, DatabaseUnusable, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* rejectForeign(yield* findForeign(hasOurName))
    yield* apply(sql, migrations)
  }).pipe(opening)

/** Migrates the database to the newest known schema, with `migrateTo`. */
export const migrate = migrateTo(migrations)

/** Applies the missing migrations in one transaction; starts again if another process applies some first. */
const apply = (
  sql: SqlClient.SqlClient,
  migrations: ReadonlyArray<Migration>
): Effect.Effect<void, DatabaseUnusable | SqlError> =>
  Effect.gen(function* () {
    const exists = yield* hasStore(sql)
    const version = exists ? yield* versionOf(sql, migrations) : 0
    if (version === migrations.length) return
    const { isComplete } = yield* WriteTransaction.execute(sql, [
      ...(exists ? [] : createTable(sql)),
      ...SqlTable.onPostgres(sql, `LOCK TABLE ${TABLE} IN ACCESS EXCLUSIVE MODE`),
      [`SELECT CAST(coalesce(max(migration_id), 0) AS text) FROM ${TABLE}`, [], [[String(version)]]],
      ...migrations
        .slice(version)
        .flatMap((migration, index) => [
          ...textsOf(sql, migration).map((text) => [text, []] as const),
          SqlScript.insert(TABLE, { migration_id: version + index + 1, name: nameOf(sql, migration) })
        ])
    ])
    if (!isComplete) yield* apply(sql, migrations)
  })

const textsOf = (sql: SqlClient.SqlClient, { texts }: Migration): ReadonlyArray<string> =>
  texts[SqlTable.isPostgres(sql) ? "postgres" : "sqlite"]

/** Names a migration by its statements, too: development versions of a release had others under its name. */
const nameOf = (sql: SqlClient.SqlClient, migration: Migration): string => {
  const hash = createHash("sha256").update(textsOf(sql, migration).join("\n;\n"))
  return `${migration.name} ${hash.digest("hex").slice(0, 16)}`
}

const createTable = (sql: SqlClient.SqlClient): SqlScript.Script => [
  // Without the lock, one of two processes that create the table at the same time would fail.
  ...SqlTable.onPostgres(
    sql,
    `SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.${TABLE}', 0))`
  ),
  [
    `CREATE TABLE IF NOT EXISTS ${TABLE} (
       migration_id integer PRIMARY KEY NOT NULL,
       created_at ${SqlTable.isPostgres(sql) ? "timestamptz" : "datetime"} NOT NULL DEFAULT current_timestamp,
       name text NOT NULL)`,
    []
  ]
]

/** Fails unless the database contains a store with the newest known schema; changes nothing. */
export const check: Effect.Effect<void, DatabaseUnusable, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* requireStore
  const version = yield* versionOf(sql, migrations)
  if (version < migrations.length) {
    return yield* new DatabaseUnusable({
      reason: `its schema ${version} is older than this version's (${migrations.length}); 'animal-store serve' migrates it when it starts`
    })
  }
}).pipe(opening)

/** Fails unless the database contains a store; changes nothing. */
export const requireStore: Effect.Effect<void, DatabaseUnusable, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    if (!(yield* hasStore(sql))) {
      yield* rejectForeign(yield* findForeign(SqlTable.isPostgres(sql) ? hasOurName : isNotInternal))
      return yield* new DatabaseUnusable({
        reason: "it contains no animal store; 'animal-store serve' or 'animal-store keys issue' creates one"
      })
    }
  }
).pipe(opening)

const hasStore = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    sql.unsafe(
      SqlTable.isPostgres(sql)
        ? `SELECT 1 WHERE to_regclass('${TABLE}') IS NOT NULL`
        : `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '${TABLE}'`
    ),
    ({ length }) => length > 0
  )

/** Returns the number of applied migrations; fails if others than `migrations` were applied. */
const versionOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  migrations: ReadonlyArray<Migration>
) {
  const [applied] = yield* sql.unsafe<{ readonly version: unknown; readonly first: unknown }>(
    `SELECT max(migration_id) AS version, max(CASE migration_id WHEN 1 THEN name END) AS first FROM ${TABLE}`
  )
  const version = Number(applied?.version)
  const [first] = migrations
  if (version > 0 && (first === undefined || applied?.first !== nameOf(sql, first))) {
    return yield* new DatabaseUnusable({
      reason:
        "it was made by a development version of animal-store; export its animals with that version ('animal-store export') and import them into a new database"
    })
  }
  if (version > migrations.length) {
    return yield* new DatabaseUnusable({
      reason: `it was made by a newer animal-store (schema ${version}, this one supports ${migrations.length}); use that version`
    })
  }
  return version
})

/** Whether a table has the name of one of a store's: without a store, another program has created it. */
const hasOurName = (table: string): boolean =>
  CopiedTables.copied.includes(table) || CopiedTables.uncopied.includes(table)

/** Whether a table is not SQLite's own. Unlike a schema of PostgreSQL, a file has one owner. */
export const isNotInternal = (table: string): boolean => !table.startsWith("sqlite_")

/** Finds a table for which `isForeign` is true in a database without a store. */
export const findForeign = Effect.fnUntraced(function* (
  isForeign: (table: string) => boolean
): Effect.fn.Return<string | undefined, SqlError, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.unsafe<{ readonly name: string }>(
    SqlTable.isPostgres(sql)
      ? // The tables are created in the first schema of the search path.
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()"
      : "SELECT name FROM sqlite_schema WHERE type = 'table'"
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
