/** Checks the table of docs/clients.md: how often libraries with default settings retry a request after a 429. */
import * as fs from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as path from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeInstalled } from "../Packages.fixture.ts"
import * as Clients from "./Clients.fixture.ts"

/** For each library: how often it retries GET, and a program that sends a request with `METHOD` to `URL`. */
const libraries = [
  ["got", 2, 'import got from "got"\nawait got(process.env.URL, { method: process.env.METHOD })'],
  ["ky", 2, 'import ky from "ky"\nawait ky(process.env.URL, { method: process.env.METHOD })'],
  [
    "axios-retry",
    3,
    `import axios from "axios"
import axiosRetry from "axios-retry"
axiosRetry(axios)
await axios({ url: process.env.URL, method: process.env.METHOD })`
  ],
  [
    "undici's `RetryAgent`",
    5,
    `import { Agent, RetryAgent, request } from "undici"
await request(process.env.URL, { method: process.env.METHOD, dispatcher: new RetryAgent(new Agent()) })`
  ],
  ["urllib3", 3, 'import os, urllib3\nurllib3.PoolManager().request(os.environ["METHOD"], os.environ["URL"])']
] as const

const hasUrllib3 = Clients.isAvailable("python3", "-c", "import urllib3; assert urllib3.__version__ >= '2'")

describeInstalled("docs/clients", "libraries with default settings", () => {
  let directory = ""
  const arrivals = new Map<string, Array<number>>()
  const server = http.createServer((request, response) => {
    const name = `${request.method} ${request.url}`
    arrivals.set(name, [...(arrivals.get(name) ?? []), performance.now()])
    response.writeHead(429, { "retry-after": "1", "content-length": "0" }).end()
  })

  beforeAll(async () => {
    directory = Clients.createDirectory()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  })

  afterAll(() => {
    server.closeAllConnections()
    server.close()
    fs.rmSync(directory, { recursive: true, force: true })
  })

  /** Runs a program, and returns the arrival times of its requests in milliseconds. */
  const run = async (index: number, code: string, method: string): Promise<ReadonlyArray<number>> => {
    const isPython = code.includes("urllib3")
    const file = path.join(directory, `${index}.${isPython ? "py" : "mjs"}`)
    fs.writeFileSync(file, code)
    const { port } = server.address() as AddressInfo
    const environment = { METHOD: method, URL: `http://127.0.0.1:${port}/${index}` }
    await Clients.run(isPython ? "python3" : process.execPath, [file], environment, directory)
    return arrivals.get(`${method} /${index}`) ?? []
  }

  libraries.forEach(([name, retries, code], index) => {
    const skipReason =
      name === "urllib3" && !hasUrllib3 ? "Python with urllib3 2 or later is not installed" : undefined
    it.skipIf(skipReason !== undefined)(
      `${name} retries GET ${retries} times after Retry-After, and never POST${Clients.skipSuffix(name, skipReason)}`,
      async () => {
        const [row] = Clients.rows.filter((cells) => cells[0] === name)
        expect(row?.[1]).toMatch(new RegExp(`^${retries} retries, no POST; waits`))
        const [gets, posts] = await Promise.all([run(index, code, "GET"), run(index, code, "POST")])
        expect(posts).toHaveLength(1)
        expect(gets).toHaveLength(retries + 1)
        const waits = gets.slice(1).map((arrival, index) => arrival - (gets[index] ?? 0))
        expect(Math.min(...waits)).toBeGreaterThan(990)
      },
      60_000
    )
  })
})
