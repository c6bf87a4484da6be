/** Creates empty databases for a run, and removes them when it ends. */
import { execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import * as DatabaseCpu from "./DatabaseCpu.ts"

/** The databases that servers can use. */
const kinds = ["memory", "sqlite", "postgresql", "redis"] as const

export type Kind = (typeof kinds)[number]

/** The databases of a run. */
export interface Databases {
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

const postgresServer = process.env.ANIMAL_STORE_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres"

const query = async <Row extends pg.QueryResultRow>(text: string): Promise<ReadonlyArray<Row>> => {
  const client = new pg.Client({ connectionString: postgresServer, connectionTimeoutMillis: 2_000 })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

/** Returns the version and the process id of the PostgreSQL server, or why it cannot be used. */
const probePostgres = async (): Promise<{ readonly version: string; readonly pid?: number } | string> => {
  try {
    const [row] = await query<{ readonly pid: number; readonly version: string }>(
      "SELECT pg_backend_pid() AS pid, current_setting('server_version') AS version"
    )
    if (row === undefined) return "the server returned no row"
    const isLocal = DatabaseCpu.programOf(row.pid)?.startsWith("postgres") === true
    const pid = isLocal ? DatabaseCpu.parentOf(row.pid) : undefined
    return { version: row.version, ...(pid === undefined ? {} : { pid }) }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const READY_MS = 30_000

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net.createServer().on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      // The address of a server on a port is never a string.
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })

interface Redis {
  readonly address: string
  readonly version: string
  readonly pid: number | undefined
  readonly stop: () => Promise<void>
}

/** Starts `redis-server` without persistence on a free port, or returns why it cannot be used. */
const startRedis = async (): Promise<Redis | string> => {
  let version: string
  try {
    version = /v=([\d.]+)/.exec(execFileSync("redis-server", ["--version"], { encoding: "utf8" }))?.[1] ?? "?"
  } catch {
    return "redis-server is not installed"
  }
  const port = await freePort()
  const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
  const server = spawn("redis-server", flags, { stdio: "ignore" })
  const closed = new Promise<void>((resolve) => server.on("error", () => resolve()).on("close", resolve))
  const stop = async (): Promise<void> => {
    server.kill()
    await closed
  }
  for (const until = performance.now() + READY_MS; !(await isListening(port)); await sleep(50)) {
    if (server.exitCode === null && performance.now() < until) continue
    await stop()
    return "redis-server did not listen"
  }
  return { address: `redis://127.0.0.1:${port}`, version, pid: server.pid, stop }
}

/** Detects which databases are available; starts Redis if `needsRedis` is true. */
export const open = async (needsRedis: boolean): Promise<Databases> => {
  const removals: Array<() => unknown> = []
  const postgres = await probePostgres()
  const redis = needsRedis ? await startRedis() : "it is not needed"
  if (typeof redis !== "string") removals.push(redis.stop)
  let schemas = 0
  return {
    unavailable: {
      ...(typeof postgres === "string" ? { postgresql: postgres } : {}),
      ...(typeof redis === "string" ? { redis } : {})
    },
    versions: {
      ...(typeof postgres === "string" ? {} : { PostgreSQL: postgres.version }),
      ...(typeof redis === "string" ? {} : { Redis: redis.version })
    },
    create: async (kind) => {
      if (kind === "memory") return "memory:"
      if (kind === "redis") {
        if (typeof redis === "string") throw new Error(redis)
        return redis.address
      }
      if (kind === "sqlite") {
        const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-bench-"))
        removals.push(() => fs.rmSync(directory, { recursive: true, force: true }))
        return `sqlite:${path.join(directory, "bench.db")}`
      }
      const schema = `animal_store_bench_${process.pid}_${schemas++}`
      await query(`CREATE SCHEMA ${schema}`)
      removals.push(() => query(`DROP SCHEMA ${schema} CASCADE`))
      const address = new URL(postgresServer)
      address.searchParams.set("options", `-csearch_path=${schema}`)
      return address.href
    },
    pidOf: (kind) => {
      const server = kind === "postgresql" ? postgres : kind === "redis" ? redis : ""
      return typeof server === "string" ? undefined : server.pid
    },
    remove: async () => {
      for (const remove of removals.splice(0)) await remove()
    }
  }
}
