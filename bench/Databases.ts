/** Empty databases for a run, which removes them at its end. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** The address of the PostgreSQL server. */
export const postgresServer =
  process.env.ANIMAL_STORE_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres"

/** A file in a folder of its own. */
export interface SqliteFile {
  readonly filename: string
  readonly remove: () => void
}

/** A PostgreSQL schema of its own. */
export interface PostgresSchema {
  /** The address of the server, with the schema as search path. */
  readonly address: string
  /** The version of the server. */
  readonly version: string
  readonly remove: () => Promise<void>
}

/** Why there is no schema. */
export interface Missing {
  readonly missing: string
}

/** A new SQLite file. */
export const sqliteFile = (): SqliteFile => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-bench-"))
  return {
    filename: path.join(folder, "bench.db"),
    remove: () => fs.rmSync(folder, { recursive: true, force: true })
  }
}

const ask = (
  url: string,
  use: (sql: PgClient.PgClient) => Effect.Effect<unknown, { readonly message: string }>
) =>
  Effect.runPromise(
    Effect.match(
      Effect.provide(
        Effect.flatMap(PgClient.PgClient, use),
        PgClient.layer({ url: Redacted.make(url), maxConnections: 1, connectTimeout: 2_000 })
      ),
      {
        onSuccess: (rows) => ({ rows }),
        onFailure: ({ message }): Missing => ({ missing: message })
      }
    )
  )

/** Creates a schema on the PostgreSQL server at `url`, if it is reachable. */
export const postgresSchema = async (url: string): Promise<PostgresSchema | Missing> => {
  const schema = `animal_store_bench_${process.pid}_${Date.now().toString(36)}`
  const made = await ask(url, (sql) =>
    Effect.andThen(sql`CREATE SCHEMA ${sql(schema)}`, sql`SHOW server_version`)
  )
  if ("missing" in made) return made
  const address = new URL(url)
  address.searchParams.set("options", `-csearch_path=${schema}`)
  return {
    address: address.href,
    version: versionOf(made.rows),
    remove: async () => {
      const dropped = await ask(url, (sql) => sql`DROP SCHEMA ${sql(schema)} CASCADE`)
      if ("missing" in dropped)
        throw new Error(`the schema ${schema} could not be removed: ${dropped.missing}`)
    }
  }
}

const versionOf = (rows: unknown): string => {
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  const version: unknown =
    typeof row === "object" && row !== null ? Reflect.get(row, "server_version") : undefined
  return typeof version === "string" ? version : "of unknown version"
}

/** The databases of the servers of a run. */
export interface RunDatabases {
  readonly sqlite: SqliteFile
  readonly postgres: PostgresSchema | Missing
  readonly remove: () => Promise<void>
}

export const make = async (url: string): Promise<RunDatabases> => {
  const postgres = await postgresSchema(url)
  const sqlite = sqliteFile()
  return {
    sqlite,
    postgres,
    remove: async () => {
      sqlite.remove()
      if (!("missing" in postgres)) await postgres.remove()
    }
  }
}
