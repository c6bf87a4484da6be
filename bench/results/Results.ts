/** Defines the results of a run as they are stored in JSON, and reads and writes them. */
import * as fs from "node:fs"
import * as os from "node:os"
import type { LatencyFigures, LatencyOptions } from "../http/Latency.ts"
import type { CaseFigures, RoundsOptions, Turn } from "../http/Rounds.ts"
import type { ProcessFigures } from "../process/Process.ts"
import * as Spread from "../Spread.ts"

/** A server that was not measured, and the reason. */
export interface Skipped {
  readonly name: string
  readonly reason: string
}

/** The figures of all servers over HTTP. */
export interface HttpResults {
  readonly options: RoundsOptions
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
export const SCHEMA = 5

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

const turnsOf = ({ http }: Results, server: string, name: string): ReadonlyArray<Turn> =>
  http?.cases.find((figures) => figures.name === name)?.servers.find((figures) => figures.server === server)
    ?.turns ?? []

/** Returns a figure of a server in a case, with its spread over the rounds; `undefined` if it was not measured. */
export const figureOf = (
  results: Results,
  server: string,
  name: string,
  figure: keyof Turn
): Spread.Spread | undefined => {
  const values = turnsOf(results, server, name).map((turn) => turn[figure])
  const measured = values.filter((value) => value !== undefined)
  return measured.length === 0 ? undefined : Spread.of(measured)
}

/**
 * Returns the CPU time of a server as a multiple of another's in a case; `undefined` if one was not measured. Ratios are
 * computed within each round, because other load on the machine slows down both servers of a round.
 */
export const ratioOf = (
  results: Results,
  server: string,
  against: string,
  name: string
): Spread.Spread | undefined => {
  const others = turnsOf(results, against, name)
  const ratios = turnsOf(results, server, name).map(
    ({ cpuMicros }, round) => cpuMicros / (others[round]?.cpuMicros ?? Number.NaN)
  )
  return ratios.length === 0 || others.length === 0 ? undefined : Spread.of(ratios)
}

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
  "pg",
  "ioredis",
  "rate-limiter-flexible",
  "@hono/node-server"
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
