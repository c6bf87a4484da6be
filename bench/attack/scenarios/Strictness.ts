/** Sends malformed or unusual HTTP/1.1; in each case, only certain statuses are safe behind any proxy. */
import * as net from "node:net"
import { AttackedServer, UNLIMITED } from "../AttackedServer.ts"
import type * as Finding from "../Finding.ts"
import type { Scenario } from "../Scenario.ts"

const SILENCE_MS = 3_000

interface Case {
  readonly name: string
  readonly bytes: (authorization: string) => string
  readonly statuses: ReadonlyArray<number>
}

const host = (value: string): Case => ({
  name: `Host: ${value}`,
  bytes: () => `GET /livez HTTP/1.1\r\nHost: ${value}\r\nConnection: close\r\n\r\n`,
  statuses: [400]
})

const requestLine = (line: string): Case => ({
  name: line,
  bytes: () => `${line}\r\nHost: a\r\nConnection: close\r\n\r\n`,
  statuses: [400, 505]
})

const animal = '{"name":"Rex","categoryId":1}'

const cases: ReadonlyArray<Case> = [
  host("a/b"),
  host("a, b"),
  host("a@b"),
  requestLine("GET /livez"),
  requestLine("GET /livez HTTP/0.9"),
  requestLine("GET /livez HTTP/2.0"),
  {
    name: "Transfer-Encoding: gzip, chunked",
    bytes: (authorization) =>
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\n` +
      `Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n1d\r\n${animal}\r\n0\r\n\r\n`,
    statuses: [400, 501]
  },
  {
    name: "Content-Type: application/json;",
    bytes: (authorization) =>
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json;\r\n` +
      `Content-Length: ${animal.length}\r\nConnection: close\r\n\r\n${animal}`,
    statuses: [201]
  },
  {
    name: "Expect: 100-continue with 100 MB",
    bytes: (authorization) =>
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\n` +
      "Expect: 100-continue\r\nContent-Length: 100000000\r\n\r\n",
    statuses: [413]
  }
]

export const strictness: Scenario = {
  name: "http-strictness",
  description: "malformed hosts, versions, codings and expectations",
  databases: ["memory"],
  run: async (_, database) => {
    const server = await AttackedServer.start({
      database: await database.create(),
      arguments: ["--issue-key", UNLIMITED]
    })
    try {
      const findings: Array<Finding.Finding> = []
      for (const { bytes, name, statuses } of cases) {
        const status = await statusOf(server.port, bytes(`Authorization: Bearer ${server.keys[0]}`))
        findings.push({
          name,
          figure: String(status),
          bound: statuses.join(" or "),
          isWithinBound: statuses.includes(status),
          dependsOnLoad: false
        })
      }
      return findings
    } finally {
      await server.stop()
    }
  }
}

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
