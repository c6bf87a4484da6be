/** Defines the results of a run as they are stored in JSON, and reads and writes them. */
import * as fs from "node:fs"
import * as os from "node:os"
import type { LatencyFigures, LatencyOptions } from "../http/Latency.ts"
import type { CaseFigures, RoundsOptions } from "../http/Rounds.ts"
import type { ProcessFigures } from "../process/Process.ts"

/** A measured server. */
export interface ServerEntry {
  readonly name: string
  readonly what: string
  readonly isOurs: boolean
  readonly isDurable: boolean
}

/** A server that was not measured, and the reason. */
export interface Skipped {
  readonly name: string
  readonly reason: string
}

/** The figures of all servers over HTTP. */
export interface HttpResults {
  readonly options: RoundsOptions
  readonly servers: ReadonlyArray<ServerEntry>
  readonly skipped: ReadonlyArray<Skipped>
  readonly cases: ReadonlyArray<CaseFigures>
}

/** The latency of servers at half of their maximum rate. */
export interface LatencyResults {
  readonly options: LatencyOptions
  readonly workloads: ReadonlyArray<LatencyFigures>
}

/** One run; a part that was not measured is absent. */
export interface Results {
  readonly schema: typeof SCHEMA
  /** Time of its start, in ISO 8601. */
  readonly date: string
  readonly seconds: number
  readonly machine: ReturnType<typeof thisMachine>
  /** Versions, by the name of the package or database. */
  readonly versions: Readonly<Record<string, string>>
  /** Whether it was a quick run, which shows only that the benchmark works, not how fast a server is. */
  readonly isQuick: boolean
  readonly http?: HttpResults | undefined
  readonly latency?: LatencyResults | undefined
  readonly process?: ProcessFigures | undefined
}

/** The version of the format; it is increased when older results can no longer be read. */
export const SCHEMA = 4

/** The results of the last run; not committed. */
const file = new URL("../../data/bench/results.json", import.meta.url)

/** Writes the results with six significant digits; the remaining digits are noise. */
export const write = (results: Results): void => {
  const round = (_: string, value: unknown) =>
    typeof value === "number" ? Number(value.toPrecision(6)) : value
  fs.mkdirSync(new URL(".", file), { recursive: true })
  fs.writeFileSync(file, `${JSON.stringify(results, round, 2)}\n`)
}

/** Reads the results of the last run. */
export const read = (): Results => {
  const results: unknown = JSON.parse(fs.readFileSync(file, "utf8"))
  const schema: unknown =
    typeof results === "object" && results !== null ? Reflect.get(results, "schema") : undefined
  if (schema !== SCHEMA)
    throw new Error(`the results have schema ${String(schema)}, not ${SCHEMA}: run the benchmark again`)
  // The cast is safe, because this program wrote the file with the same schema.
  return results as Results
}

/** Returns the figures of a server in a case, or `undefined` if they were not measured. */
export const figuresOf = ({ http }: Results, server: string, name: string) =>
  http?.cases.find((figures) => figures.name === name)?.servers.find((figures) => figures.server === server)

/** Returns the properties of this machine. */
export const thisMachine = (isPinned: boolean) => ({
  cpu: os.cpus()[0]?.model ?? "unknown",
  cores: os.availableParallelism(),
  memoryBytes: os.totalmem(),
  platform: `${os.type()} ${os.release()} ${os.arch()}`,
  node: process.version,
  /** Whether servers and load generator were pinned to separate cores. */
  isPinned
})

/** The packages whose versions affect the results. */
const packages = [
  "effect",
  "@effect/platform-node",
  "@effect/sql-pg",
  "fastify",
  "@fastify/rate-limit",
  "express",
  "express-rate-limit",
  "hono",
  "@hono/node-server",
  "@hono/zod-validator",
  "hono-rate-limiter",
  "zod"
]

/** Returns the versions of this project, of the packages and of SQLite. */
export const installedVersions = (): Readonly<Record<string, string>> => {
  const versionIn = (directory: string): string => {
    const url = new URL(`../../${directory}package.json`, import.meta.url)
    // npm guarantees the structure of these files.
    return (JSON.parse(fs.readFileSync(url, "utf8")) as { readonly version: string }).version
  }
  return {
    "animal-store": versionIn(""),
    ...Object.fromEntries(packages.map((name) => [name, versionIn(`node_modules/${name}/`)])),
    SQLite: process.versions.sqlite ?? "unknown"
  }
}
