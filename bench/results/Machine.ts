/** Reads the properties of the machine and the versions of the packages. */
import { readFileSync } from "node:fs"
import * as os from "node:os"

/** The relevant properties of a machine. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryBytes: number
  readonly platform: string
  readonly node: string
  /** Whether servers and load generator were pinned to separate cores. */
  readonly isPinned: boolean
}

/** Returns the properties of this machine. */
export const current = (isPinned: boolean): Machine => ({
  cpu: os.cpus()[0]?.model ?? "unknown",
  cores: os.availableParallelism(),
  memoryBytes: os.totalmem(),
  platform: `${os.type()} ${os.release()} ${os.arch()}`,
  node: process.version,
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
  "zod",
  "rate-limiter-flexible",
  "mitata"
]

const root = new URL("../../", import.meta.url)

const versionIn = (directory: string): string | undefined => {
  // npm guarantees the structure of these files.
  const { version } = JSON.parse(readFileSync(new URL(`${directory}package.json`, root), "utf8")) as {
    version?: string
  }
  return version
}

/** Returns the installed versions, by the name of the package. */
export const versions = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [["animal-store", ""], ...packages.map((name) => [name, `node_modules/${name}/`])].map(
      ([name = "", directory = ""]) => [name, versionIn(directory) ?? "unknown"]
    )
  )
