/**
 * The recipes of hosts, run from the packed package as printed, and the time from an empty folder to the first 200.
 * They need a tarball: `ANIMAL_STORE_TEST_TARBALL=… npm test -- docs/recipes/Hosts.test.ts`.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import * as readline from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from "vitest"

const here = fileURLToPath(new URL(".", import.meta.url))
const readme = fileURLToPath(new URL("../../README.md", import.meta.url))

const tarball = process.env.ANIMAL_STORE_TEST_TARBALL
if (tarball === undefined) console.warn("Recipes of hosts are skipped: ANIMAL_STORE_TEST_TARBALL is not set")

const work = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-hosts-"))
const running: Array<ChildProcess> = []

afterEach(async () => {
  for (const server of running.splice(0)) {
    if (server.pid === undefined || server.exitCode !== null) continue
    const closed = new Promise((resolve) => server.once("close", resolve))
    process.kill(-server.pid, "SIGKILL") // with its group, because npm starts programs through a shell
    await closed
  }
})
// Seven node_modules: a slow disk needs more than the default time.
afterAll(() => fs.promises.rm(work, { recursive: true, force: true }), 300_000)

const npm = (folder: string, args: ReadonlyArray<string>): string | undefined => {
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" })
  return status === 0 ? undefined : stderr
}

/** Copies a recipe and installs it as its reader does. Returns npm's message if that fails. */
const install = (name: string): string | undefined => {
  const folder = path.join(work, name)
  const options = ["--no-audit", "--no-fund"]
  if (name === "README") {
    fs.mkdirSync(folder)
    const [, program = ""] = /^```js\n([\s\S]*?)^```$/m.exec(fs.readFileSync(readme, "utf8")) ?? []
    // Port 3000 may be in use on this machine.
    fs.writeFileSync(path.join(folder, "main.mjs"), program.replaceAll("3000", "28416"))
    return npm(folder, ["init", "-y"]) ?? npm(folder, ["install", ...options, tarball ?? "", "effect@4.1.0"])
  }
  fs.cpSync(path.join(here, name), folder, {
    recursive: true,
    filter: (file) => !file.includes("node_modules")
  })
  return npm(folder, ["install", ...options, tarball ?? ""])
}

/** A port for Next.js, whose recipe prints the port that it was given. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0))
    })
  })

/** Runs the recipe's program, or an npm script of it, and returns the `curl` line that it prints. */
const start = async (name: string, script = name === "next" ? "dev" : undefined): Promise<string> => {
  const port = script === undefined ? 0 : await freePort()
  // The test runner's NODE_ENV would end a production build of Next.js.
  const { NODE_ENV: _, ...env } = process.env
  const [command, ...args] =
    script === undefined ? [process.execPath, "main.mjs"] : ["npm", "run", "--silent", script]
  const server = spawn(command, args, {
    cwd: path.join(work, name),
    detached: true,
    env: { ...env, PORT: String(port), NEXT_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  running.push(server)
  for await (const line of readline.createInterface({ input: server.stdout })) {
    if (line.startsWith("curl ")) return line
  }
  throw new Error(`${name} ended without a curl line`)
}

/** Runs a line in a shell, with options of `curl` after it. */
const paste = (line: string, options = ""): string =>
  spawnSync("bash", ["-c", `${line} --silent --include ${options}`], { encoding: "utf8" }).stdout

const hosts = ["README", "node-http", "express", "fastify", "hono", "next", "effect"] as const

describe.skipIf(tarball === undefined).each(hosts)("%s", (name) => {
  let began = 0
  let fault: string | undefined
  beforeAll(() => {
    began = performance.now()
    fault = install(name)
    if (fault !== undefined) console.warn(`${name} is skipped, because it cannot be installed: ${fault}`)
  }, 300_000)
  const skipUnlessInstalled = (context: TestContext): void =>
    context.skip(fault !== undefined, `${name} cannot be installed`)

  it("makes a key and prints a curl line that gets 200", { timeout: 60_000 }, async (context) => {
    skipUnlessInstalled(context)
    const response = paste(await start(name))
    console.log(
      `${name}: ${((performance.now() - began) / 1000).toFixed(1)} s from an empty folder to the first 200`
    )
    expect(response).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\n\[\]$/)
  })

  it.runIf(name === "next")("answers after a build, too", { timeout: 180_000 }, async (context) => {
    skipUnlessInstalled(context)
    const line = await start(name, "start")
    expect(paste(line)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\n\[\]$/)
    const headers = "-H 'Content-Type: application/json'"
    const created = paste(line, `${headers} -d '{"name":"Rex","categoryId":9223372036854775807}'`)
    expect(created).toMatch(/^HTTP\/1\.1 201 Created[\s\S]*^location: \/v1\/pets\/1\r$/m)
    expect(paste(line)).toContain('"categoryId":9223372036854775807')
  })

  it.runIf(name === "fastify")("keeps the headers of plugins", { timeout: 60_000 }, async (context) => {
    skipUnlessInstalled(context)
    const line = await start(name)
    const response = paste(line, "-H 'Origin: https://shop.example'")
    expect(response).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(response).toMatch(/^access-control-allow-origin: https:\/\/shop\.example\r$/im)
    expect(response).toMatch(/^x-ratelimit-limit: 60\r$/im)
  })
})
