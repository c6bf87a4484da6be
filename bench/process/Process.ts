/** Measures what some targets need and HTTP does not show: handling without a host, limits alone, imports, the start. */
import { execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as PetJson from "../../core/codec/PetJson.ts"
import { Pet } from "../../core/domain/Pet.ts"
import packageJson from "../../package.json" with { type: "json" }
import { Child, type Guard, hasNumber } from "../Child.ts"
import type * as Databases from "../Databases.ts"
import { statuses } from "../http/Catalogue.ts"
import { report } from "../Progress.ts"
import * as Spread from "../Spread.ts"

/** The figures of the limits in memory. */
export interface LimitsFigures {
  /** Nanoseconds of one step that admits a request. */
  readonly stepNanos: number
  /** Nanoseconds to count a request, with 1,000 callers. */
  readonly countNanos: number
  /** Bytes per caller, with a million callers, and after their windows have ended. */
  readonly liveCallerBytes: number
  readonly idleCallerBytes: number
  /** The time to count a request with a million callers, as a multiple of reading a `Map` of that size. */
  readonly millionRatio: number
}

/** The microseconds of `Service.handle` in memory, and the bytes that it allocates, by the kind of request. */
export const handlingNames = (["get", "list", "create", "unauthorized"] as const).flatMap(
  (kind) => [`${kind}Micros`, `${kind}Bytes`] as const
)

export type HandlingFigures = Readonly<Record<(typeof handlingNames)[number], number>>

export interface RedisFigures {
  readonly redisPerSecond: number
}

/** The imports that are measured, by their name in the results. */
const imports = [
  { name: "SQLite", kind: "sqlite", flags: [] },
  { name: "SQLite, --keep-ids", kind: "sqlite", flags: ["--keep-ids"] },
  { name: "PostgreSQL", kind: "postgresql", flags: [] },
  { name: "PostgreSQL, --keep-ids", kind: "postgresql", flags: ["--keep-ids"] }
] as const

type ImportName = (typeof imports)[number]["name"]

/** The figures of this part; a figure that could not be measured is absent. */
export interface ProcessFigures
  extends Partial<Record<keyof (LimitsFigures & RedisFigures & HandlingFigures), Spread.Spread>> {
  /** Milliseconds until the built command listens. */
  readonly listeningMs: Spread.Spread
  /** Animals imported per second. */
  readonly imports: Readonly<Partial<Record<ImportName, Spread.Spread>>>
}

/** How often each figure is measured; imports are measured less often, because each takes seconds. */
const REPEATS = 5
const IMPORT_REPEATS = 3
const ANIMALS = 200_000

/** Timeout of a measurement in milliseconds; filling a store with a million callers takes a long time. */
const TIMEOUT_MS = 600_000

const root = new URL("../../", import.meta.url)
const command = fileURLToPath(new URL("adapters/cli/main.ts", root))
const builtCommand = fileURLToPath(new URL(packageJson.bin["animal-store"], root))

/** Measures in a new process, so that no measurement inherits a heap or optimized code. */
const inProcess = async <Name extends string>(
  module: string,
  names: ReadonlyArray<Name>,
  args: ReadonlyArray<string>,
  nodeFlags: ReadonlyArray<string> = []
): Promise<Readonly<Record<Name, number>>> => {
  const isFigures: Guard<Record<Name, number>> = (message): message is Record<Name, number> =>
    names.every((name) => hasNumber(message, name))
  const url = new URL(module, import.meta.url)
  const child = new Child({ name: module, module: url, arguments: args, nodeFlags })
  const figures = await child.receive(isFigures, TIMEOUT_MS)
  await child.stop()
  return figures
}

/** Measures `Service.handle` of a checkout. */
export const handling = (checkout = ""): Promise<HandlingFigures> =>
  inProcess(
    "./Handling.ts",
    handlingNames,
    [checkout],
    // As large as that of `npm start`, and from the start, so that no measured batch fills it.
    ["--min-semi-space-size=16", "--max-semi-space-size=16"]
  )

/** Measures repeatedly, and returns the spread of each figure. */
const repeat = async <Name extends string>(
  measure: () => Promise<Readonly<Record<Name, number>>>
): Promise<Readonly<Record<Name, Spread.Spread>>> => {
  const measured: Array<Readonly<Record<Name, number>>> = []
  while (measured.length < REPEATS) measured.push(await measure())
  // `keys` and `fromEntries` lose the names, which are exactly those of the figures.
  const names = Object.keys(measured[0] ?? {}) as Array<Name>
  const spreads = names.map((name) => [name, Spread.of(measured.map((figures) => figures[name]))] as const)
  return Object.fromEntries(spreads) as Record<Name, Spread.Spread>
}

/** The environment of commands, without settings of animal-store and Node. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("ANIMAL_STORE_") && name !== "NODE_OPTIONS")
)

/** Returns the milliseconds from the start of the command to the line that it prints once it listens. */
const listeningMs = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    const args = [builtCommand, "serve", "--json", "--port", "0", "--database", "memory:"]
    const child = spawn(process.execPath, args, { env: environment, stdio: ["ignore", "pipe", "ignore"] })
    let ms: number | undefined
    child.stdout.once("data", () => {
      ms = performance.now() - began
      child.kill("SIGKILL")
    })
    child.once("error", reject)
    child.once("exit", (code) =>
      ms === undefined ? reject(new Error(`the command exited with ${code}`)) : resolve(ms)
    )
  })

const encodeAnimals = (): string =>
  Array.from({ length: ANIMALS }, (_, index) => {
    const status = statuses[index % 3] ?? "sold"
    const name = `Rex the ${index + 1}th of his name`
    return `${PetJson.encode(new Pet(BigInt(index + 1), { name, categoryId: BigInt(1_000 + (index % 17)), status }))}\n`
  }).join("")

/** Imports animals into a new database; returns the animals per second that the command reports, without its start. */
const importPerSecond = async (file: string, address: string, flags: ReadonlyArray<string>) => {
  const args = [command, "import", file, "--database", address, "--json", ...flags]
  const output = execFileSync(process.execPath, args, { env: environment, encoding: "utf8" })
  return Number(JSON.parse(output).perSecond)
}

const measureImports = async (databases: Databases.Databases): Promise<ProcessFigures["imports"]> => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-bench-"))
  try {
    const file = path.join(directory, "animals.ndjson")
    fs.writeFileSync(file, encodeAnimals())
    const figures: Partial<Record<ImportName, Spread.Spread>> = {}
    for (const { flags, kind, name } of imports) {
      if (databases.unavailable[kind] !== undefined) continue
      report(`import into ${name}`)
      const rates: Array<number> = []
      while (rates.length < IMPORT_REPEATS)
        rates.push(await importPerSecond(file, await databases.create(kind), flags))
      figures[name] = Spread.of(rates)
    }
    return figures
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}

/** Measures all figures; figures of databases that are unavailable are absent. */
export const measure = async (databases: Databases.Databases): Promise<ProcessFigures> => {
  report("building the package")
  // The files in dist may be older than the sources.
  execFileSync("npm", ["run", "--silent", "build:files"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"]
  })
  const starts: Array<number> = []
  while (starts.length < REPEATS) starts.push(await listeningMs())
  const imported = await measureImports(databases)
  report("handling without a host")
  const handlings = await repeat(() => handling())
  report("limits in memory")
  const limits = await repeat(() =>
    inProcess(
      "./Limits.ts",
      ["stepNanos", "countNanos", "liveCallerBytes", "idleCallerBytes", "millionRatio"],
      []
    )
  )
  report("limits in Redis")
  const redis =
    databases.unavailable.redis === undefined
      ? await repeat(async () =>
          inProcess("./RedisLimits.ts", ["redisPerSecond"], [await databases.create("redis")])
        )
      : {}
  return { ...limits, ...redis, ...handlings, imports: imported, listeningMs: Spread.of(starts) }
}
