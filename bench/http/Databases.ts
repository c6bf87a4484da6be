/** Empty databases for the servers of one run. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Databases } from "./Servers.ts"

/** Databases that `remove` removes. */
export interface RunDatabases extends Databases {
  /** The version of the PostgreSQL server, or why there is none. */
  readonly postgresSays: { readonly version: string } | { readonly missing: string }
  readonly remove: () => Promise<void>
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
        onFailure: ({ message }) => ({ missing: message })
      }
    )
  )

/** A new SQLite file, and a schema of its own on the PostgreSQL server at `url` if that can be reached. */
export const make = async (url: string): Promise<RunDatabases> => {
  const schema = `animal_store_bench_${process.pid}_${Date.now().toString(36)}`
  const made = await ask(url, (sql) =>
    Effect.andThen(sql`CREATE SCHEMA ${sql(schema)}`, sql`SHOW server_version`)
  )
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-bench-"))
  const sqlite = `sqlite:${path.join(folder, "bench.db")}`
  const removeFolder = (): void => fs.rmSync(folder, { recursive: true, force: true })
  if ("missing" in made) {
    return { sqlite, postgres: undefined, postgresSays: made, remove: async () => removeFolder() }
  }
  const address = new URL(url)
  address.searchParams.set("options", `-csearch_path=${schema}`)
  return {
    sqlite,
    postgres: address.href,
    postgresSays: { version: versionOf(made.rows) },
    remove: async () => {
      removeFolder()
      const dropped = await ask(url, (sql) => sql`DROP SCHEMA ${sql(schema)} CASCADE`)
      if ("missing" in dropped) throw new Error(`the schema ${schema} is left behind: ${dropped.missing}`)
    }
  }
}

const versionOf = (rows: unknown): string => {
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  const version: unknown =
    typeof row === "object" && row !== null ? Reflect.get(row, "server_version") : undefined
  return typeof version === "string" ? version : "of unknown version"
}
