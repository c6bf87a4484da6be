/** Creates real databases for tests: a new SQLite file, or a new schema in PostgreSQL if a server is reachable. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { describe, onTestFinished } from "vitest"
import type { DatabaseUnusable } from "./DatabaseUnusable.ts"
import * as Postgres from "./Postgres.ts"
import type * as Sql from "./Sql.ts"
import * as Sqlite from "./Sqlite.ts"
import * as SqliteClient from "./SqliteClient.ts"
import type { SqlOptions } from "./SqlOptions.ts"

/** An empty database, which is deleted when its scope closes. */
export interface Database {
  /** The address, in the format of `--database`. */
  readonly address: string
  /** A separate client. */
  readonly client: Layer.Layer<SqlClient.SqlClient, SqlError>
  /** The stores, as a node opens them; each build of the layer is another node. */
  readonly stores: (options?: Partial<SqlOptions>) => Layer.Layer<Sql.Stores, DatabaseUnusable>
}

/** A kind of database. */
export interface Kind {
  readonly name: "SQLite" | "PostgreSQL"
  /** The reason why it cannot be tested here, or `undefined`. */
  readonly missing: string | undefined
  readonly create: Effect.Effect<Database, never, Scope.Scope>
}

/** Creates a new file in a new directory. */
export const sqlite: Kind = {
  name: "SQLite",
  missing: undefined,
  create: Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))),
      (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
    ),
    (directory): Database => {
      const filename = path.join(directory, "test.db")
      return {
        address: `sqlite:${filename}`,
        client: SqliteClient.layer({ filename }),
        stores: ({ clock: _, ...options } = {}) =>
          Layer.provide(Sqlite.layer({ ...options, filename }), SecureRandom.layerWebCrypto)
      }
    }
  )
}

const server = process.env.ANIMAL_STORE_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres"

/** A client of a database at an address of PostgreSQL. */
export const clientOf = (address: string) =>
  PgClient.layer({ url: Redacted.make(address), maxConnections: 4, connectTimeout: 2_000 })

/** A client of the server's own database, as the user that the tests connect as. */
export const serverClient: Database["client"] = clientOf(server)

const runOnServer = (use: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError>) =>
  Effect.asVoid(Effect.flatMap(PgClient.PgClient, use)).pipe(Effect.provide(clientOf(server)))

let isSuperuser = false

const connectError: string | undefined = await Effect.runPromise(
  Effect.match(
    runOnServer((sql) =>
      Effect.map(
        sql<{ readonly super: boolean }>`SELECT rolsuper AS super FROM pg_roles WHERE rolname = current_user`,
        ([role]) => {
          isSuperuser = role?.super === true
        }
      )
    ),
    {
      onSuccess: () => undefined,
      onFailure: (error) => error.message
    }
  )
)

if (connectError !== undefined) console.warn(`PostgreSQL tests are skipped: ${connectError}`)

let schemas = 0

/** Creates a new schema on the server that ANIMAL_STORE_TEST_POSTGRES names, by default one on this machine. */
export const postgres: Kind = {
  name: "PostgreSQL",
  missing: connectError === undefined ? undefined : `PostgreSQL is not reachable: ${connectError}`,
  create: Effect.map(
    Effect.acquireRelease(
      Effect.suspend(() => {
        const schema = `animal_store_test_${process.pid}_${Date.now().toString(36)}_${schemas++}`
        return Effect.as(Effect.orDie(runOnServer((sql) => sql`CREATE SCHEMA ${sql(schema)}`)), schema)
      }),
      (schema) => Effect.orDie(runOnServer((sql) => sql`DROP SCHEMA ${sql(schema)} CASCADE`))
    ),
    (schema): Database => {
      const url = new URL(server)
      url.searchParams.set("options", `-csearch_path=${schema}`)
      return postgresAt(url.href)
    }
  )
}

const postgresAt = (address: string): Database => ({
  address,
  client: clientOf(address),
  stores: (options) => postgresStores(address, options)
})

/**
 * Creates a separate database on the same server, so that the server's statistics about it count only the current test.
 * Deadlocks in it are detected after a millisecond, which only a superuser can configure.
 */
export const postgresAlone: Kind = {
  name: "PostgreSQL",
  missing: postgres.missing ?? (isSuperuser ? undefined : "the PostgreSQL user is not a superuser"),
  create: Effect.map(
    Effect.acquireRelease(
      Effect.suspend(() => {
        const name = `animal_store_test_${process.pid}_${Date.now().toString(36)}_${schemas++}`
        const create = runOnServer((sql) =>
          Effect.andThen(
            sql`CREATE DATABASE ${sql(name)}`,
            sql`ALTER DATABASE ${sql(name)} SET deadlock_timeout = 1`
          )
        )
        return Effect.as(Effect.orDie(create), name)
      }),
      (name) => Effect.orDie(runOnServer((sql) => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`))
    ),
    (name) => postgresAt(addressOf(name))
  )
}

/** Returns the address of a database on the server. */
export const addressOf = (name: string): string => {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Provides the stores at an address of PostgreSQL. */
export const postgresStores = (
  address: string,
  options: Partial<SqlOptions> = {}
): Layer.Layer<Sql.Stores, DatabaseUnusable> =>
  Layer.provide(Postgres.layer({ ...options, url: Redacted.make(address) }), SecureRandom.layerWebCrypto)

/** SQLite and PostgreSQL. */
export const kinds: ReadonlyArray<Kind> = [sqlite, postgres]

/** Creates an empty database that is deleted after the current test. */
export const createForTest = async (kind: Kind): Promise<Database> => {
  const scope = Scope.makeUnsafe()
  onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Effect.runPromise(Scope.provide(kind.create, scope))
}

/** Defines tests on a kind of database. If it is unavailable, they are skipped with the reason in the title. */
export const describeOn = (kind: Kind, title: string, tests: () => void): void => {
  if (kind.missing === undefined) describe(`${title} on ${kind.name}`, tests)
  else describe.skip(`${title} on ${kind.name} (skipped, ${kind.missing})`, tests)
}
