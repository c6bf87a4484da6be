/**
 * The recipes of Bun, Deno and workerd, run from the packed package as printed, and the conformance suite against the
 * package on these runtimes. `npm run test:runtimes` packs it.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from "vitest"
import * as Databases from "../../adapters/sql/Databases.fixture.ts"

const here = fileURLToPath(new URL(".", import.meta.url))
const command = fileURLToPath(new URL("../../adapters/cli/main.ts", import.meta.url))

const tarball = process.env.ANIMAL_STORE_TEST_TARBALL
if (tarball === undefined) console.warn("Tests of runtimes are skipped: run npm run test:runtimes")

const work = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-runtimes-"))
const running: Array<ChildProcess> = []

/** Ends the servers with their process groups, because npm starts them through a shell. */
const stop = async (): Promise<void> => {
  for (const { exitCode, pid } of running.splice(0)) {
    if (pid === undefined || exitCode !== null) continue
    process.kill(-pid, "SIGKILL")
  }
  await sleep(100)
}

afterEach(stop)
afterAll(() => fs.rmSync(work, { recursive: true, force: true }))

const npmInstall = (folder: string, ...packages: ReadonlyArray<string>) =>
  spawnSync("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", ...packages], {
    cwd: folder,
    encoding: "utf8"
  })

/**
 * Copies a recipe and installs it as its reader does. Returns npm's message if the runtime cannot be installed; fails if
 * only the package cannot.
 */
const install = (name: string): string | undefined => {
  const folder = path.join(work, name)
  fs.cpSync(path.join(here, name), folder, {
    recursive: true,
    filter: (file) => !file.includes("node_modules")
  })
  const runtime = npmInstall(folder)
  if (runtime.status !== 0) return runtime.stderr
  const { status, stderr } = npmInstall(folder, tarball ?? "")
  expect({ status, stderr }).toMatchObject({ status: 0 })
  return undefined
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0))
    })
  })

/** Runs the recipe's program until it prints a line that matches. */
const start = async (name: string, pattern: RegExp, database?: string) => {
  const port = await freePort()
  const server = spawn("npm", ["start", "--silent"], {
    cwd: path.join(work, name),
    detached: true,
    env: { ...process.env, PORT: String(port), ...(database === undefined ? {} : { DATABASE: database }) }
  })
  running.push(server)
  let output = ""
  for (const stream of [server.stdout, server.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk)
    })
  }
  for (let tries = 0; tries < 300 && server.exitCode === null; tries++) {
    const line = output.split("\n").find((line) => pattern.test(line))
    if (line !== undefined) return { line, port }
    await sleep(100)
  }
  throw new Error(`${name} printed no line ${pattern}: ${output}`)
}

const curlAnswers = async (name: string): Promise<void> => {
  const { line } = await start(name, /^curl /)
  const { stdout } = spawnSync("bash", ["-c", `${line} --silent --include`], { encoding: "utf8" })
  expect(stdout).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\n\[\]$/)
}

/** Runs a program of Node to its end. */
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

/** Runs the suite against the package on that runtime. */
const conforms = async (name: string, database?: string): Promise<void> => {
  const { line, port } = await start(name, /^\["ast_/, database)
  const [main, tiny, victim]: ReadonlyArray<string> = JSON.parse(line)
  const origin = `http://127.0.0.1:${port}`
  const { status, output } = await run(
    [
      ...[command, "conformance", "run", "--url", `${origin}/v1`, "--clock", `${origin}/clock`],
      ...[
        "--key",
        "env:MAIN",
        "--tiny",
        "env:TINY:5:40",
        "--victim",
        "env:VICTIM:3:10000",
        "--level",
        "design"
      ]
    ],
    { ...process.env, NO_COLOR: "1", MAIN: main, TINY: tiny, VICTIM: victim }
  )
  expect({ status, output }).toMatchObject({
    status: 0,
    output: expect.stringContaining("CONFORMANT at level design")
  })
}

const replace = (name: string, program: string): void =>
  fs.copyFileSync(path.join(here, "conformance", program), path.join(work, name, "main.mjs"))

/** Programs for the suite by runtime, and where each stores data. */
const runtimes = [
  { name: "bun", program: "main.mjs", databases: ["memory", "SQLite", "PostgreSQL"] },
  { name: "deno", program: "main.mjs", databases: ["memory", "SQLite", "PostgreSQL"] },
  { name: "workerd", program: "worker.mjs", databases: ["memory"] }
] as const

describe.skipIf(tarball === undefined).each(runtimes)("$name", ({ databases, name, program }) => {
  let fault: string | undefined
  beforeAll(() => {
    fault = install(name)
    if (fault !== undefined)
      console.warn(`Tests of ${name} are skipped, because it cannot be installed: ${fault}`)
  }, 300_000)
  const skipUnlessInstalled = (context: TestContext): void =>
    context.skip(fault !== undefined, `${name} cannot be installed`)

  it("makes a key and prints a curl line that gets 200", { timeout: 60_000 }, async (context) => {
    skipUnlessInstalled(context)
    await curlAnswers(name)
  })

  it.for(databases)("conforms at level design with %s", { timeout: 180_000 }, async (database, context) => {
    skipUnlessInstalled(context)
    replace(name, program)
    if (database === "memory") return conforms(name, "memory:")
    const kind = database === "SQLite" ? Databases.sqlite : Databases.postgres
    context.skip(kind.missing !== undefined, kind.missing)
    const { address } = await Databases.createForTest(kind)
    await conforms(name, address)
  })
})
