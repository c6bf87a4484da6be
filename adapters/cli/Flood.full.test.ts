/** Tests a server while clients flood it with requests without a key. */
import { Buffer } from "node:buffer"
import * as fs from "node:fs"
import * as Http from "node:http"
import * as Net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { describe, expect, it, onTestFinished } from "vitest"
import { kinds } from "../sql/Databases.fixture.ts"
import { type ServerProcess, start, stop } from "./Serve.fixture.ts"

const databases = [{ name: "memory", missing: undefined, create: undefined }, ...kinds]

interface Running {
  readonly server: ServerProcess
  readonly port: number
  readonly key: string
}

const serve = async ({ create }: (typeof databases)[number]): Promise<Running> => {
  const scope = Scope.makeUnsafe()
  onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const address =
    create === undefined ? "memory:" : (await Effect.runPromise(Scope.provide(create, scope))).address
  const issueKey = ["--issue-key", "Enterprise:perMinute=10000000,perDay=100000000"]
  const server = await start(["--json", "--port", "0", "--database", address, ...issueKey])
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  return { server, port: Number(new URL(server.url).port), key: server.key }
}

const statusOf = (url: string, key: string, agent: Http.Agent): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}` }
    const request = Http.get(url, { agent, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode))
    })
    request.once("error", reject)
  })

const connect = (port: number): Net.Socket => {
  const socket = Net.connect({ port, host: "127.0.0.1" }).on("error", () => {})
  onTestFinished(() => {
    socket.destroy()
  })
  return socket
}

const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`

const openApi = get("/openapi.json")
const post = [
  "POST /v1/pets HTTP/1.1",
  "Host: a",
  "Content-Type: application/json",
  "Content-Length: 60000",
  "",
  ""
].join("\r\n")

/** Returns the resident memory of a process in bytes; Linux only. */
const residentBytes = ({ process }: ServerProcess): number =>
  1024 * Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(fs.readFileSync(`/proc/${process.pid}/status`, "utf8"))?.[1])

const MEBIBYTE = 1024 * 1024
const CONNECTIONS = 60

/** Loads that are sent repeatedly; `isRead` is true if the clients read the responses. */
const floods = [
  { name: "small requests", bytes: get("/v1/pets").repeat(2_000), isRead: true },
  { name: "60 kB bodies", bytes: `${post}${" ".repeat(60_000)}`.repeat(20), isRead: true },
  { name: "requests for long responses that they do not read", bytes: openApi.repeat(2_000), isRead: false }
]

const flood = (port: number, { bytes, isRead }: (typeof floods)[number]): void => {
  const chunk = Buffer.from(bytes)
  for (let count = 0; count < CONNECTIONS; count++) {
    const socket = connect(port)
    if (isRead) socket.resume()
    const send = (): void => {
      socket.write(chunk)
    }
    socket.once("connect", send).on("drain", send)
  }
}

describe.each(databases)("a server on $name", (database) => {
  it.skipIf(database.missing !== undefined || !fs.existsSync("/proc/self/status")).each(floods)(
    "uses bounded memory and serves other clients while clients without a key send $name",
    async (load) => {
      const { key, port, server } = await serve(database)
      const agent = new Http.Agent({ keepAlive: true, maxSockets: 1 })
      onTestFinished(() => agent.destroy())
      const url = `http://127.0.0.1:${port}/v1/pets`
      expect(await statusOf(url, key, agent)).toBe(200)
      const before = residentBytes(server)
      flood(port, load)
      const deadline = performance.now() + 2_500
      let served = 0
      while (performance.now() < deadline) {
        expect(await statusOf(url, key, agent)).toBe(200)
        served++
        await sleep(10)
      }
      expect(residentBytes(server) - before).toBeLessThan(128 * MEBIBYTE)
      expect(served).toBeGreaterThan(10)
    }
  )
})
