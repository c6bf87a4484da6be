/** The installed command, and the suite that it brings. */
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import {
  command,
  createDirectory,
  installation,
  root,
  run,
  type Server,
  serve,
  tarball
} from "./Package.fixture.ts"

const largest = "9223372036854775807"

/** Creates an animal, and returns the list with it. */
const createAndList = async ({ secrets: [secret], url }: Server): Promise<string> => {
  const headers = { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" }
  const body = `{"name":"Rex","categoryId":${largest}}`
  const created = await fetch(`${url}/pets`, { method: "POST", headers, body })
  expect(created.status).toBe(201)
  const list = await fetch(`${url}/pets?status=available`, { headers })
  expect(list.status).toBe(200)
  return list.text()
}

/** Starts a server for the suite: a test clock, and three keys with the limits that the suite needs. */
const serveForSuite = () =>
  serve(
    createDirectory(),
    [
      "enterprise:perMinute=100000,perDay=10000000",
      "enterprise:perMinute=5,perDay=40",
      "enterprise:perMinute=3,perDay=10000"
    ],
    ["--database", "memory:", "--test-clock-port", "0"]
  )

const suiteArguments = ({ errors, url }: Server): ReadonlyArray<string> => {
  const [clock = ""] = /http:\S+\/clock/.exec(errors()) ?? []
  const keys = ["--key", "env:MAIN", "--tiny", "env:TINY:5:40", "--victim", "env:VICTIM:3:10000"]
  return ["conformance", "run", "--url", url, "--clock", clock, ...keys]
}

const suiteEnvironment = ({ secrets: [MAIN, TINY, VICTIM] }: Server): NodeJS.ProcessEnv => ({
  MAIN,
  TINY,
  VICTIM
})

/** Runs the suite from the tarball, without an installation, on the Node in a directory. */
const suiteByNpx = (server: Server, nodeDirectory: string) => {
  const empty = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-npx-"))
  onTestFinished(() => fs.rmSync(empty, { recursive: true }))
  const args = ["--yes", "--package", tarball, "animal-store", ...suiteArguments(server)]
  const PATH = `${nodeDirectory}${path.delimiter}${process.env.PATH}`
  return run(empty, "npx", args, { ...suiteEnvironment(server), PATH })
}

describe("the installed command", () => {
  it("serves animals and the reference page, and finds its data and keys again", async () => {
    const directory = createDirectory()
    const server = await serve(directory, ["pro"])
    expect(await createAndList(server)).toContain(`"categoryId":${largest}`)
    const page = await (await fetch(new URL("/docs", server.url))).text()
    const files = [...page.matchAll(/(?:src|href)="(docs\/[^"]+)/g)].map(([, name = ""]) => name)
    expect(files.length).toBeGreaterThan(2)
    for (const name of files) {
      const response = await fetch(new URL(`/${name}`, server.url))
      expect(response.status).toBe(200)
      const bytes = Buffer.from(await response.arrayBuffer())
      const own = /^docs\/(swagger-ui.*)$/.exec(name)?.[1]
      if (own !== undefined)
        expect(bytes.equals(fs.readFileSync(path.join(root, "node_modules/swagger-ui-dist", own)))).toBe(true)
    }
    server.process.kill("SIGTERM")
    expect(await once(server.process, "exit")).toEqual([0, null])
    expect(run(directory, command, ["keys", "list", "--json"]).stdout).toContain('"plan":"Pro"')
  })

  const oldNodes = ["/usr/bin/node", "/usr/local/bin/node"].filter(
    (file) =>
      fs.existsSync(file) &&
      Number.parseInt(spawnSync(file, ["--version"], { encoding: "utf8" }).stdout.slice(1), 10) < 22
  )
  it.skipIf(oldNodes.length === 0)(
    "prints one sentence on a Node that is too old, and exits with 1 (2 for conformance), and programs get it too",
    () => {
      const bin = path.join(installation, "node_modules/animal-store/dist/adapters/cli/bin.js")
      const sentence = /^animal-store: Node [\d.]+ or newer is required; this is Node [\d.]+\n$/
      for (const [code, args] of [
        [1, ["serve"]],
        [1, ["keys", "list"]],
        [2, ["conformance", "list"]]
      ] as const) {
        const { status, stderr, stdout } = run(installation, oldNodes[0] ?? "", [bin, ...args])
        expect({ status, stderr, stdout }).toEqual({
          status: code,
          stderr: expect.stringMatching(sentence),
          stdout: ""
        })
      }
      const program =
        'import("animal-store").then((m) => m.openAnimalStore()).catch((e) => console.error(e.message))'
      expect(run(installation, oldNodes[0] ?? "", ["--eval", program]).stderr).toMatch(
        /^Node [\d.]+ or newer is required; this is Node [\d.]+\n$/
      )
    }
  )
})

describe("the installed suite", () => {
  it("proves the installed server at level design", async () => {
    const server = await serveForSuite()
    const args = [...suiteArguments(server), "--level", "design"]
    const { status, stdout } = run(createDirectory(), command, args, suiteEnvironment(server))
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/CONFORMANT at level design/)
    })
  })

  it("runs by npx from the tarball, without an installation", async () => {
    const { status, stdout } = suiteByNpx(await serveForSuite(), path.dirname(process.execPath))
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/CONFORMANT at level spec/)
    })
  })

  it("runs on the lowest supported Node", async (context) => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-node-22-"))
    onTestFinished(() => fs.rmSync(directory, { recursive: true }))
    fs.cpSync(path.join(root, "docs/package/lowest-node"), directory, { recursive: true })
    const { status: installed } = spawnSync("npm", ["ci", "--prefix", directory, "--ignore-scripts"])
    const bin = path.join(directory, "node_modules/.bin")
    context.skip(
      installed !== 0 || !fs.existsSync(path.join(bin, "node")),
      "Node 22.19.0 cannot be installed"
    )
    const { status, stdout } = suiteByNpx(await serveForSuite(), bin)
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/CONFORMANT at level spec/)
    })
  })
})
