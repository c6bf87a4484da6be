/**
 * Packs the package, runs the recipes for Bun, Deno and workerd with it, and runs the conformance suite against the
 * package on these runtimes.
 */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from "vitest"
import * as Databases from "../../adapters/sql/Databases.fixture.ts"
import { freePort, printTimeToFirst200, Recipes, runCurl } from "./Recipes.fixture.ts"

const programs = fileURLToPath(new URL("conformance/", import.meta.url))
const command = fileURLToPath(new URL("../../adapters/cli/main.ts", import.meta.url))

const recipes = new Recipes("runtimes")
beforeAll(() => recipes.pack(), 600_000)
afterEach(() => recipes.stop())
afterAll(() => recipes.remove(), 300_000)

/** Starts the recipe's program, and returns its port and the first line that begins with `until`. */
const start = async (name: string, until: string, database?: string) => {
  const port = await freePort()
  const env = {
    ...process.env,
    PORT: String(port),
    ...(database === undefined ? {} : { DATABASE: database })
  }
  const line = await recipes.start(name, { command: "npm", args: ["start", "--silent"], env, until })
  return { line, port }
}

/** Runs a Node program, and returns its exit code and its output on both streams. */
const run = async (parameters: ReadonlyArray<string>, env: NodeJS.ProcessEnv) => {
  const program = spawn(process.execPath, parameters, { env })
  let output = ""
  for (const stream of [program.stdout, program.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk)
    })
  }
  const status = await new Promise((resolve) => program.once("close", resolve))
  return { status, output }
}

/** Runs the suite against the package on a runtime; fails unless the package is conformant at level `design`. */
const expectConformant = async (name: string, database?: string): Promise<void> => {
  const { line, port } = await start(name, '["ast_', database)
  const [main, tiny, victim]: ReadonlyArray<string> = JSON.parse(line)
  const origin = `http://127.0.0.1:${port}`
  const { status, output } = await run(
    [
      ...[command, "conformance", "run", "--url", `${origin}/v1`, "--clock", `${origin}/clock`],
      ...["--key", "env:MAIN", "--tiny", "env:TINY:5:40", "--victim", "env:VICTIM:3:10000"],
      ...["--level", "design"]
    ],
    { ...process.env, NO_COLOR: "1", MAIN: main, TINY: tiny, VICTIM: victim }
  )
  expect({ status, output }).toMatchObject({
    status: 0,
    output: expect.stringContaining("CONFORMANT at level design")
  })
}

const replaceProgram = (name: string, program: string): void =>
  fs.copyFileSync(programs + program, recipes.path(name, "main.mjs"))

/** Each runtime with the program that is tested on it and the databases that it supports. */
const runtimes = [
  { name: "bun", program: "main.mjs", databases: ["memory", "SQLite", "PostgreSQL"] },
  { name: "deno", program: "main.mjs", databases: ["memory", "SQLite", "PostgreSQL"] },
  { name: "workerd", program: "worker.mjs", databases: ["memory"] }
] as const

describe.each(runtimes)("$name", ({ databases, name, program }) => {
  let startedAt = 0
  let installError: string | undefined
  beforeAll(() => {
    startedAt = performance.now()
    installError = recipes.install(name)
    if (installError !== undefined)
      console.warn(`Tests of ${name} are skipped, because it cannot be installed: ${installError}`)
  }, 300_000)
  const skipUnlessInstalled = (context: TestContext): void =>
    context.skip(installError !== undefined, `${name} cannot be installed`)

  it("prints a curl command with a new key, whose request gets a 200", {
    timeout: 180_000
  }, async (context) => {
    skipUnlessInstalled(context)
    const { line } = await start(name, "curl ")
    const response = runCurl(line)
    expect(response).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\n\[\]$/)
    printTimeToFirst200(name, startedAt)
  })

  it.for(databases)("conforms at level design with %s", { timeout: 180_000 }, async (database, context) => {
    skipUnlessInstalled(context)
    replaceProgram(name, program)
    if (database === "memory") return expectConformant(name, "memory:")
    const kind = database === "SQLite" ? Databases.sqlite : Databases.postgres
    context.skip(kind.missing !== undefined, kind.missing)
    const { address } = await Databases.createForTest(kind)
    await expectConformant(name, address)
  })
})
