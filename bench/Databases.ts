/** Creates empty databases for a run, and removes them when it ends. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as DatabaseCpu from "./http/DatabaseCpu.ts"
import * as RedisServer from "./RedisServer.ts"

/** The address of the PostgreSQL server. */
export const postgresServer =
  process.env.ANIMAL_STORE_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres"

/** A database file in a temporary directory. */
export interface SqliteFile {
  readonly filename: string
  readonly remove: () => void
}

/** A temporary PostgreSQL schema. */
export interface PostgresSchema {
  /** The address of the server, with the schema as search path. */
  readonly address: string
  /** The version of the server. */
  readonly version: string
  readonly remove: () => Promise<void>
}

/** The reason why a database is unavailable. */
export interface Unavailable {
  readonly reason: string
}

/** Creates a temporary directory for a new SQLite file. */
export const sqliteFile = (): SqliteFile => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-bench-"))
  return {
    filename: path.join(directory, "bench.db"),
    remove: () => fs.rmSync(directory, { recursive: true, force: true })
  }
}

const query = (
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
        onFailure: ({ message }): Unavailable => ({ reason: message })
      }
    )
  )

/** Creates a schema on the PostgreSQL server at `url`, if it is reachable. */
export const postgresSchema = async (url: string): Promise<PostgresSchema | Unavailable> => {
  const schema = `animal_store_bench_${process.pid}_${Date.now().toString(36)}`
  const created = await query(url, (sql) =>
    Effect.andThen(sql`CREATE SCHEMA ${sql(schema)}`, sql`SHOW server_version`)
  )
  if ("reason" in created) return created
  const address = new URL(url)
  address.searchParams.set("options", `-csearch_path=${schema}`)
  return {
    address: address.href,
    version: versionOf(created.rows),
    remove: async () => {
      const dropped = await query(url, (sql) => sql`DROP SCHEMA ${sql(schema)} CASCADE`)
      if ("reason" in dropped) throw new Error(`the schema ${schema} could not be removed: ${dropped.reason}`)
    }
  }
}

const versionOf = (rows: unknown): string => {
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  const version: unknown =
    typeof row === "object" && row !== null ? Reflect.get(row, "server_version") : undefined
  return typeof version === "string" ? version : "unknown"
}

/** The databases that servers can use. */
export const kinds = ["memory", "sqlite", "postgresql", "redis"] as const

export type Kind = (typeof kinds)[number]

/** The databases of a run. */
export interface RunDatabases {
  /** For each kind of database that cannot be used, the reason. */
  readonly unavailable: Readonly<Partial<Record<Kind, string>>>
  /** Versions of the database servers, by name. */
  readonly versions: Readonly<Record<string, string>>
  /** Creates an empty database and returns its address; all Redis addresses are the same. */
  readonly create: (kind: Kind) => Promise<string>
  /** Returns the process id of a database server, if it runs on this machine; its child processes share its work. */
  readonly pidOf: (kind: Kind) => number | undefined
  readonly remove: () => Promise<void>
}

/** Detects which databases are available; starts Redis if `needsRedis` is true. */
export const make = async (url: string, needsRedis = true): Promise<RunDatabases> => {
  const removals: Array<() => void | Promise<void>> = []
  const postgres = await postgresSchema(url)
  if (!("reason" in postgres)) removals.push(postgres.remove)
  const redis = needsRedis ? await RedisServer.start() : { reason: "it is not needed" }
  if (!("reason" in redis)) removals.push(redis.stop)
  const pids = {
    postgresql: "reason" in postgres ? undefined : await postgresProcess(url),
    redis: "reason" in redis ? undefined : redis.pid
  }
  return {
    unavailable: {
      ...("reason" in postgres ? { postgresql: postgres.reason } : {}),
      ...("reason" in redis ? { redis: redis.reason } : {})
    },
    versions: {
      ...("reason" in postgres ? {} : { PostgreSQL: postgres.version }),
      ...("reason" in redis ? {} : { Redis: redis.version })
    },
    create: async (kind) => {
      switch (kind) {
        case "memory":
          return "memory:"
        case "sqlite": {
          const file = sqliteFile()
          removals.push(file.remove)
          return `sqlite:${file.filename}`
        }
        case "postgresql": {
          const schema = await postgresSchema(url)
          if ("reason" in schema) throw new Error(schema.reason)
          removals.push(schema.remove)
          return schema.address
        }
        case "redis": {
          if ("reason" in redis) throw new Error(redis.reason)
          return redis.address
        }
      }
    },
    pidOf: (kind) => (kind === "postgresql" || kind === "redis" ? pids[kind] : undefined),
    remove: async () => {
      for (const remove of removals.splice(0)) await remove()
    }
  }
}

/** Returns the id of the main process of the PostgreSQL server, if it runs on this machine. */
const postgresProcess = async (url: string): Promise<number | undefined> => {
  const found = await query(url, (sql) =>
    Effect.map(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) =>
      row !== undefined && DatabaseCpu.programOf(row.pid)?.startsWith("postgres")
        ? DatabaseCpu.parentOf(row.pid)
        : undefined
    )
  )
  return "reason" in found || typeof found.rows !== "number" ? undefined : found.rows
}
