/** Sends malformed or unusual HTTP/1.1 to a real server; in each case, only certain statuses are safe behind any proxy. */
import * as net from "node:net"
import { expect, it } from "vitest"
import * as Attack from "../cli/Attack.fixture.ts"
import { AttackedServer } from "../cli/AttackedServer.fixture.ts"

const SILENCE_MS = 60_000

interface Case {
  readonly name: string
  readonly lines: (authorization: string) => ReadonlyArray<string>
  readonly body?: string
  readonly statuses: ReadonlyArray<number>
}

const host = (value: string): Case => ({
  name: `Host: ${value}`,
  lines: () => ["GET /livez HTTP/1.1", `Host: ${value}`, "Connection: close"],
  statuses: [400]
})

const requestLine = (line: string): Case => ({
  name: line,
  lines: () => [line, "Host: a", "Connection: close"],
  statuses: [400, 505]
})

const animal = '{"name":"Rex","categoryId":1}'

const post = (authorization: string, ...headers: ReadonlyArray<string>): ReadonlyArray<string> => [
  "POST /v1/pets HTTP/1.1",
  "Host: a",
  authorization,
  ...headers
]

const cases: ReadonlyArray<Case> = [
  host("a/b"),
  host("a, b"),
  host("a@b"),
  requestLine("GET /livez"),
  requestLine("GET /livez HTTP/0.9"),
  requestLine("GET /livez HTTP/2.0"),
  {
    name: "Transfer-Encoding: gzip, chunked",
    lines: (authorization) =>
      post(
        authorization,
        "Content-Type: application/json",
        "Transfer-Encoding: gzip, chunked",
        "Connection: close"
      ),
    body: `1d\r\n${animal}\r\n0\r\n\r\n`,
    statuses: [400, 501]
  },
  {
    name: "Content-Type: application/json;",
    lines: (authorization) =>
      post(
        authorization,
        "Content-Type: application/json;",
        `Content-Length: ${animal.length}`,
        "Connection: close"
      ),
    body: animal,
    statuses: [201]
  },
  {
    name: "Expect: 100-continue with 100 MB",
    lines: (authorization) =>
      post(
        authorization,
        "Content-Type: application/json",
        "Expect: 100-continue",
        "Content-Length: 100000000"
      ),
    statuses: [413]
  }
]

/** Sends bytes, and returns the status of the first response, or 0 without a response. */
const statusOf = (port: number, bytes: string): Promise<number> =>
  new Promise((resolve) => {
    const socket = net.connect({ port, host: "127.0.0.1" })
    const finish = (status: number): void => {
      socket.destroy()
      resolve(status)
    }
    socket.setTimeout(SILENCE_MS, () => finish(0))
    socket.once("error", () => finish(0))
    socket.once("close", () => finish(0))
    socket.once("data", (chunk) => finish(Number(chunk.toString("latin1", 9, 12))))
    socket.write(bytes)
  })

Attack.describeOn(["memory"], "a server", (create) => {
  it(
    "rejects malformed hosts, versions, codings and expectations",
    async () => {
      const server = await AttackedServer.start({
        database: await create(),
        arguments: ["--issue-key", Attack.UNLIMITED]
      })
      for (const { body = "", lines, name, statuses } of cases) {
        const bytes = [...lines(`Authorization: Bearer ${server.key}`), "", body].join("\r\n")
        expect(statuses, name).toContain(await statusOf(server.port, bytes))
      }
    },
    Attack.TIMEOUT_MS
  )
})
