/** Checks how the server handles clients that send requests faster than they read responses. */
import { Buffer } from "node:buffer"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { Count, expectAlive, Gate, serve, serveLongNames } from "./Server.fixture.ts"
import { request, responses, statuses, Wire } from "./Wire.fixture.ts"

describe("a client that does not read", () => {
  it("is disconnected after the request timeout, before the server has handled most of the requests", async () => {
    const pages = new Count()
    const { key, ...server } = await serveLongNames({
      server: { requestTimeoutMs: 200 },
      pets: (real) => ({
        ...real,
        page: (query) => {
          pages.increment()
          return real.page(query)
        }
      })
    })
    const count = 5_000 // more than one read of the socket returns
    const wire = await Wire.openAndSend(
      server.port,
      request({ key, target: "/v1/pets?limit=100" }).repeat(count)
    )
    // The client detects the disconnect only when it sends or reads.
    const sender = setInterval(() => void wire.send("x"), 20)
    await wire.closed
    clearInterval(sender)
    expect(pages.value).toBeLessThan(count / 2)
  })

  it("is disconnected after the request timeout even when the client also stops sending", async () => {
    const { key, ...server } = await serveLongNames({ server: { requestTimeoutMs: 200 } })
    const closed = new Count()
    const countClose = (message: unknown): void => {
      // The message type that Node documents for this channel.
      ;(message as { readonly socket: Socket }).socket.once("close", () => closed.increment())
    }
    subscribe("net.server.socket", countClose)
    onTestFinished(() => {
      unsubscribe("net.server.socket", countClose)
    })
    // The responses exceed the socket buffers of both sides.
    await Wire.openAndSend(server.port, request({ key, target: "/v1/pets?limit=100" }).repeat(2_000))
    await closed.reaches(1)
  })

  it.each([
    { when: "all requests keep the connection alive", count: 99, headers: [] },
    { when: "the last request closes the connection", count: 20, headers: ["Connection: close"] }
  ])(
    "is disconnected after the request timeout even when the client slowly sends more bytes: $when",
    async ({ count, headers }) => {
      const { key, ...server } = await serveLongNames({ server: { requestTimeoutMs: 300 } })
      const list = { key, target: "/v1/pets?limit=100" }
      const wire = await Wire.openAndSend(
        server.port,
        request(list).repeat(count) + request({ ...list, headers })
      )
      let isClosed = false
      void wire.closed.then(() => {
        isClosed = true
      })
      while (!isClosed) {
        await wire.send("G")
        await sleep(20)
      }
    }
  )
})

describe("a client that reads slowly", () => {
  it("stays connected even if reading all responses takes longer than the request timeout", async () => {
    const { key, ...server } = await serveLongNames({ server: { requestTimeoutMs: 1_000 } })
    const list = request({ key, target: "/v1/pets?limit=100" })
    // Responses of 160 kB each, which together exceed the socket buffers.
    const wire = await Wire.openAndSend(server.port, list.repeat(60))
    for (let read = 0; read < 60; read++) {
      expect((await wire.response()).status).toBe(200)
      await sleep(30)
    }
  })
})

describe("a client that pipelines requests", () => {
  it("has only one request in flight at a time", async () => {
    let [inFlight, maxInFlight] = [0, 0]
    const pages = new Count()
    const { key, ...server } = await serve({
      pets: (real) => ({
        ...real,
        page: (query) => {
          maxInFlight = Math.max(maxInFlight, ++inFlight)
          pages.increment()
          return Effect.tap(Effect.andThen(Effect.yieldNow, real.page(query)), () =>
            Effect.sync(() => inFlight--)
          )
        }
      })
    })
    await responses(await Wire.openAndSend(server.port, request({ key }).repeat(200)), 200)
    expect([pages.value, maxInFlight]).toEqual([200, 1])
  })

  it.each([
    { what: "small requests", bytes: request({}), count: 300_000 },
    { what: "bodies", bytes: request({ body: " ".repeat(60_000) }), count: 500 }
  ])("cannot send more while its first request is in flight: $what", async ({ bytes, count }) => {
    const gate = new Gate()
    const server = await serve({ limits: gate.limits })
    const wire = await Wire.open(server.port)
    let isSent = false
    // At least 14 MB, which is more than the socket buffers can hold.
    const sent = Buffer.alloc(bytes.length * count, bytes)
    void wire.send(sent).then(() => {
      isSent = true
    })
    await gate.entered.reaches(1)
    await sleep(200)
    expect(isSent).toBe(false)
    gate.open()
    expect((await statuses(wire, 100)).slice(0, 61)).toEqual([...Array(60).fill(401), 429])
    wire.abort()
    await expectAlive(server)
  })
})
