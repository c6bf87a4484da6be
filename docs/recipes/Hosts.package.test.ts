/** Runs the recipes for hosts with the packed package: starting from an empty directory, each responds with 200. */
import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from "vitest"
import { freePort, printTimeToFirst200, Recipes, runCurl } from "./Recipes.fixture.ts"

const readme = fileURLToPath(new URL("../../README.md", import.meta.url))

const recipes = new Recipes("hosts")
afterEach(() => recipes.stop())
// Removing eight `node_modules` takes longer than the default timeout on a slow disk.
afterAll(() => recipes.remove(), 300_000)

const install = (name: string): string | undefined =>
  name === "README" ? installReadme() : recipes.install(name)

/** Installs the program of the README as described there; returns npm's error output like `recipes.install`. */
const installReadme = (): string | undefined => {
  fs.mkdirSync(recipes.path("README"))
  const [, program = ""] = /^```js\n([\s\S]*?)^```$/m.exec(fs.readFileSync(readme, "utf8")) ?? []
  // Port 3000 may be in use on this machine.
  fs.writeFileSync(recipes.path("README", "server.mjs"), program.replaceAll("3000", "28416"))
  const npmError = recipes.npm("README", ["init", "-y"])
  if (npmError !== undefined) throw new Error(npmError)
  return recipes.installPackages("README", ["effect@4.1.0"])
}

/** Starts the recipe's program or one of its npm scripts, and returns the `curl` command that it prints. */
const start = async (name: string, script = name === "next" ? "dev" : undefined): Promise<string> => {
  // A production build of Next.js fails with the test runner's NODE_ENV.
  const { NODE_ENV: _, ...inherited } = process.env
  // The Next.js recipe prints the port from `PORT`, so 0 does not work.
  const port = script === undefined ? 0 : await freePort()
  const env = { ...inherited, PORT: String(port), NEXT_TELEMETRY_DISABLED: "1" }
  const program = name === "README" ? "server.mjs" : "main.mjs"
  return recipes.start(
    name,
    script === undefined
      ? { command: process.execPath, args: [program], env, until: "curl " }
      : { command: "npm", args: ["run", "--silent", script], env, until: "curl " }
  )
}

const hosts = ["README", "node-http", "express", "fastify", "hono", "next", "pino", "effect"] as const

describe.each(hosts)("the recipe for %s", (name) => {
  let startedAt = 0
  let installError: string | undefined
  beforeAll(() => {
    startedAt = performance.now()
    installError = install(name)
    if (installError !== undefined)
      console.warn(`${name} is skipped, because it cannot be installed: ${installError}`)
  }, 300_000)
  const skipUnlessInstalled = (context: TestContext): void =>
    context.skip(installError !== undefined, `${name} cannot be installed`)

  it("prints a curl command with a new key, whose request gets a 200", {
    timeout: 180_000
  }, async (context) => {
    skipUnlessInstalled(context)
    const response = runCurl(await start(name))
    expect(response).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\n\[\]$/)
    printTimeToFirst200(name, startedAt)
  })

  if (name === "next")
    it("responds correctly after a production build", { timeout: 180_000 }, async (context) => {
      skipUnlessInstalled(context)
      const line = await start(name, "start")
      expect(runCurl(line)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\n\[\]$/)
      const headers = "-H 'Content-Type: application/json'"
      const created = runCurl(line, `${headers} -d '{"name":"Rex","categoryId":9223372036854775807}'`)
      expect(created).toMatch(/^HTTP\/1\.1 201 Created[\s\S]*^location: \/v1\/pets\/1\r$/m)
      expect(runCurl(line)).toContain('"categoryId":9223372036854775807')
    })

  if (name === "fastify")
    it("sends the headers that plugins set", { timeout: 180_000 }, async (context) => {
      skipUnlessInstalled(context)
      const line = await start(name)
      const response = runCurl(line, "-H 'Origin: https://shop.example'")
      expect(response).toMatch(/^HTTP\/1\.1 200 OK/)
      expect(response).toMatch(/^access-control-allow-origin: https:\/\/shop\.example\r$/im)
      expect(response).toMatch(/^x-ratelimit-limit: 60\r$/im)
    })
})
