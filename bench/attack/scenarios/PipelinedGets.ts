/** Sends many requests on one connection without waiting for responses, which must all arrive in order. */
import { Buffer } from "node:buffer"
import * as net from "node:net"
import { AttackedServer } from "../AttackedServer.ts"
import * as Finding from "../Finding.ts"
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"

const BATCH = 500
/** Timeout in milliseconds after which no further response is expected. */
const SILENCE_MS = 15_000

export const pipelinedGets: Scenario = {
  name: "pipelined-gets",
  description: "100,000 GETs (quick: 20,000) pipelined on one connection",
  databases: ["SQLite", "memory", "PostgreSQL"],
  run: async ({ isQuick }, database) => {
    const count = isQuick ? 20_000 : 100_000
    // The daily limit is lower than the per-minute limit, so that `X-RateLimit-Remaining` numbers the responses.
    const limits = `Enterprise:perMinute=1000000,perDay=${count}`
    const server = await AttackedServer.start({
      database: await database.create(),
      arguments: ["--issue-key", limits]
    })
    try {
      const remaining = await exchange(server, count)
      const inOrder = remaining.filter((value, index) => value === count - 1 - index).length
      return [
        Finding.equal("responses", remaining.length, count),
        Finding.equal("responses in order", inOrder, count)
      ]
    } finally {
      await server.stop()
    }
  }
}

/** Sends `count` requests, and returns `X-RateLimit-Remaining` of each response. */
const exchange = (server: AttackedServer, count: number): Promise<ReadonlyArray<number>> =>
  new Promise((resolve) => {
    const request = Requests.get("/v1/pets", `Authorization: Bearer ${server.keys[0]}`)
    const batch = Buffer.from(request.repeat(BATCH), "latin1")
    const remaining: Array<number> = []
    let rest = ""
    const socket = net.connect({ port: server.port, host: "127.0.0.1" })
    const finish = (): void => {
      socket.destroy()
      resolve(remaining)
    }
    socket.setTimeout(SILENCE_MS, finish)
    socket.on("error", finish)
    socket.on("close", finish)
    socket.on("data", (chunk) => {
      const heads = (rest + chunk.toString("latin1")).split("\r\n\r\n")
      rest = heads.pop() ?? ""
      for (const head of heads) {
        const value = /^x-ratelimit-remaining: ([0-9]+)/im.exec(head)?.[1]
        remaining.push(Number(value ?? Number.NaN))
      }
      if (remaining.length >= count) finish()
    })
    for (let sent = 0; sent < count; sent += BATCH) socket.write(batch)
  })
