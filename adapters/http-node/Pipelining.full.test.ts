/** Sends many requests on one connection without waiting for responses, which must all arrive in order. */
import { Buffer } from "node:buffer"
import * as net from "node:net"
import { expect, it } from "vitest"
import * as Attack from "../cli/Attack.fixture.ts"
import { AttackedServer } from "../cli/AttackedServer.fixture.ts"
import * as HostileLoad from "../cli/HostileLoad.fixture.ts"

const BATCH = 500
/** Timeout in milliseconds after which no further response is expected. */
const SILENCE_MS = 120_000

/** Sends `count` requests, and returns `X-RateLimit-Remaining` of each response. */
const exchange = (server: AttackedServer, count: number): Promise<ReadonlyArray<number>> =>
  new Promise((resolve) => {
    const request = HostileLoad.get("/v1/pets", `Authorization: Bearer ${server.key}`)
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

const count = Attack.isFull ? 100_000 : 20_000

Attack.describeOn(
  ["SQLite", "memory", "PostgreSQL"],
  "requests that are pipelined by the thousand",
  (create) => {
    it(
      "all get a response, in order",
      async () => {
        const server = await AttackedServer.start({
          database: await create(),
          // The daily limit is lower than the per-minute limit, so that `X-RateLimit-Remaining` numbers the responses.
          arguments: ["--issue-key", `Enterprise:perMinute=1000000,perDay=${count}`]
        })
        const remaining = await exchange(server, count)
        expect(remaining).toHaveLength(count)
        expect(remaining.every((value, index) => value === count - 1 - index)).toBe(true)
      },
      Attack.TIMEOUT_MS
    )
  }
)
