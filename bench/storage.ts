/**
 * What the storage adapters do per second, and how long a call takes.
 *
 *     npm run bench:storage [-- --seconds 3] [--rows 100000] [--postgres postgres://…]
 *
 * Figures are of this process at the ports, without HTTP, on a database that is made for the run and removed. The share
 * of one core that this process took is beside each: the rest is the database's, the disk's, or idle.
 */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { Postgres, type Sql, Sqlite, SqliteClient } from "../adapters/sql/index.ts"
import * as RateLimitStep from "../adapters/sql/RateLimitStep.ts"
import * as BanPolicy from "../core/limits/BanPolicy.ts"
import * as RateLimit from "../core/limits/RateLimit.ts"
import { PetRepository } from "../core/ports/PetRepository.ts"
import { RateLimitStore } from "../core/ports/RateLimitStore.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rows: { type: "string", default: "100000" },
    postgres: { type: "string", default: "postgres://postgres@127.0.0.1:5432/postgres" }
  }
})
const seconds = Number(values.seconds)
const rows = Number(values.rows)

/** As many calls as `clients` make one after the other within the time. */
const measure = <E, R>(
  name: string,
  clients: number,
  call: (count: number) => Effect.Effect<unknown, E, R>
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    for (let count = 0; count < 200; count++) yield* call(count)
    const took: Array<number> = []
    const cpu = process.cpuUsage()
    const began = performance.now()
    const end = began + seconds * 1000
    let count = 0
    const client = Effect.gen(function* () {
      while (performance.now() < end) {
        const sent = performance.now()
        yield* call(count++)
        took.push(performance.now() - sent)
      }
    })
    yield* Effect.all(
      Array.from({ length: clients }, () => client),
      { concurrency: "unbounded" }
    )
    const elapsed = performance.now() - began
    const { system, user } = process.cpuUsage(cpu)
    took.sort((a, b) => a - b)
    const at = (share: number): string => `${(took[Math.floor(took.length * share)] ?? 0).toFixed(2)} ms`
    console.log(
      [
        name.padEnd(34),
        String(clients).padStart(7),
        `${Math.round((took.length / elapsed) * 1000)}/s`.padStart(10),
        at(0.5).padStart(10),
        at(0.99).padStart(10),
        `${Math.round((user + system) / elapsed / 10)}%`.padStart(6)
      ].join(" ")
    )
  })

const policy: RateLimit.Policy = { plan: { perMinute: 1e9, perDay: 1e9 }, ban: BanPolicy.standard }

const suite = (name: string) =>
  Effect.gen(function* () {
    const pets = yield* PetRepository
    const limits = yield* RateLimitStore
    const consume =
      limits.consume ??
      ((key: string, now: number, given: RateLimit.Policy) =>
        limits.modify(key, (state) => RateLimit.step(state, now, given)))
    for (const clients of [1, 16, 64]) {
      yield* measure(`${name} create`, clients, () =>
        pets.insert({ name: "Rex", categoryId: 7n, status: "available" })
      )
    }
    for (const clients of [1, 16]) {
      yield* measure(`${name} get`, clients, (count) => pets.find(BigInt((count * 7919) % rows) + 1n))
      yield* measure(`${name} list 20`, clients, (count) =>
        pets.page({ limit: 21, status: "available", after: BigInt((count * 7919) % rows) })
      )
    }
    for (const clients of [1, 16, 64]) {
      yield* measure(`${name} consume, one key`, clients, () => consume("key:hot", Date.now(), policy))
      yield* measure(`${name} consume, 10 000 keys`, clients, (count) =>
        consume(`key:${(count * 7919) % 10_000}`, Date.now(), policy)
      )
    }
  })

const seed = (statement: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement))

const header = [
  "".padEnd(34),
  "clients",
  "rate".padStart(10),
  "p50".padStart(10),
  "p99".padStart(10),
  "  CPU"
]

const run = <E>(
  name: string,
  stores: Layer.Layer<Sql.Stores, E>,
  client: Layer.Layer<SqlClient.SqlClient, E>,
  seeding: string
): Promise<void> =>
  Effect.gen(function* () {
    // The stores make the tables.
    yield* Effect.provide(PetRepository, stores)
    yield* Effect.provide(seed(seeding), client)
    yield* Effect.provide(suite(name), stores)
  }).pipe(Effect.runPromise)

const benchSqlite = async (): Promise<void> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-bench-"))
  const filename = path.join(folder, "bench.db")
  try {
    await run(
      "SQLite",
      Layer.provide(Sqlite.layer({ filename }), SecureRandom.layerWebCrypto),
      Layer.orDie(SqliteClient.layer({ filename })),
      `INSERT INTO pets (name, category_id, status)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
       SELECT 'Rex ' || i, i, CASE i % 3 WHEN 0 THEN 'sold' WHEN 1 THEN 'available' ELSE 'pending' END FROM n`
    )
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

/** What the server does of the same statement when asked by its own benchmark. */
const pgbench = (url: string, clients: number): void => {
  const literals = RateLimitStep.parameters("", null, policy).map((value) =>
    value === null ? "NULL" : Array.isArray(value) ? `ARRAY[${value.join(",")}]` : String(value)
  )
  const statement = RateLimitStep.consume.replace(/\$(\d)/g, (_, index) =>
    index === "1" ? "'key:' || :k" : (literals[index - 1] ?? "")
  )
  const script = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-pgbench-")), "consume.sql")
  fs.writeFileSync(script, `\\set k random(0, 9999)\n${statement.replaceAll(/\s+/g, " ")};\n`)
  try {
    const flags = ["-n", "-M", "prepared", "-c", String(clients), "-T", String(seconds), "-f", script, url]
    const output = execFileSync("pgbench", flags, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
    console.log(`pgbench of the same statement, ${clients} clients: ${/tps = \d+/.exec(output)?.[0]}`)
  } catch (error) {
    console.log(`pgbench: ${error instanceof Error ? error.message.split("\n", 1)[0] : String(error)}`)
  } finally {
    fs.rmSync(path.dirname(script), { recursive: true })
  }
}

const benchPostgres = async (): Promise<void> => {
  const schema = `animal_store_bench_${process.pid}`
  const server = PgClient.layer({ url: Redacted.make(values.postgres), connectTimeout: 1_000 })
  await Effect.runPromise(Effect.provide(seed(`CREATE SCHEMA ${schema}`), server))
  const url = new URL(values.postgres)
  url.searchParams.set("options", `-csearch_path=${schema}`)
  const secret = Redacted.make(url.href)
  try {
    await run(
      "PostgreSQL",
      Layer.provide(Postgres.layer({ url: secret }), SecureRandom.layerWebCrypto),
      Layer.orDie(PgClient.layer({ url: secret })),
      `INSERT INTO pets (name, category_id, status)
       SELECT 'Rex ' || i, i, (ARRAY['sold', 'available', 'pending'])[i % 3 + 1] FROM generate_series(1, ${rows}) i`
    )
    for (const clients of [1, 16]) pgbench(url.href, clients)
  } finally {
    await Effect.runPromise(Effect.provide(seed(`DROP SCHEMA ${schema} CASCADE`), server))
  }
}

console.log(
  `Node ${process.version}, ${os.availableParallelism()} cores, ${rows} animals\n\n${header.join(" ")}`
)
await benchSqlite()
await benchPostgres()
