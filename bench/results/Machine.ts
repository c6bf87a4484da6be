/** What the figures were measured on and with. */
import { readFileSync } from "node:fs"
import * as os from "node:os"

/** A machine, as far as it matters to figures. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryBytes: number
  readonly platform: string
  readonly node: string
  /** Whether servers and load had a core each. */
  readonly isPinned: boolean
}

/** The one that this process runs on. */
export const current = (isPinned: boolean): Machine => ({
  cpu: os.cpus()[0]?.model ?? "unknown",
  cores: os.availableParallelism(),
  memoryBytes: os.totalmem(),
  platform: `${os.type()} ${os.release()} ${os.arch()}`,
  node: process.version,
  isPinned
})

/** What is measured, and what takes part in it. */
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

const versionIn = (folder: string): string | undefined => {
  // A file of ours or of a package, whose form npm guarantees.
  const { version } = JSON.parse(readFileSync(new URL(`${folder}package.json`, root), "utf8")) as {
    version?: string
  }
  return version
}

/** Versions as installed, by name of the package. */
export const versions = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [["animal-store", ""], ...packages.map((name) => [name, `node_modules/${name}/`])].map(
      ([name = "", folder = ""]) => [name, versionIn(folder) ?? "unknown"]
    )
  )
