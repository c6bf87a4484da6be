/** Clients that send more than they are sent, or read less. */
import { Buffer } from "node:buffer"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { Count, expectAlive, Gate, serve } from "./Server.fixture.ts"
import { answers, pet, request, statuses, Wire } from "./Wire.fixture.ts"

describe("a client that does not read", () => {
  it("has few of its requests carried out, and is cut in time", async () => {
    const pages = new Count()
    const server = await serve({
      server: { requestTimeoutMs: 200 },
      pets: (real) => ({
        ...real,
        page: (query) => {
          pages.increment()
          return real.page(query)
        }
      })
    })
    const key = await server.issue()
    const long = request({ key, body: pet("\u0001".repeat(255)) })
    await answers(await Wire.sending(server.port, long.repeat(100)), 100)
    const many = 5_000 // more than fit into what is read at once
    const wire = await Wire.sending(server.port, request({ key, target: "/v1/pets?limit=100" }).repeat(many))
    // A sender learns that it was cut; one that neither sends nor reads would not.
    const more = setInterval(() => void wire.send("x"), 20)
    await wire.closed
    clearInterval(more)
    expect(pages.value).toBeLessThan(many / 2)
  })

  it("and does not send either, is cut in time", async () => {
    const server = await serve({ server: { requestTimeoutMs: 200 } })
    const key = await server.issue()
    const long = request({ key, body: pet("\u0001".repeat(255)) })
    await answers(await Wire.sending(server.port, long.repeat(100)), 100)
    const [cut, remember] = [
      new Count(),
      (message: unknown): void => {
        // The shape that Node documents for this channel.
        ;(message as { readonly socket: Socket }).socket.once("close", () => cut.increment())
      }
    ]
    subscribe("net.server.socket", remember)
    onTestFinished(() => {
      unsubscribe("net.server.socket", remember)
    })
    // More than the buffers between the two hold.
    await Wire.sending(server.port, request({ key, target: "/v1/pets?limit=100" }).repeat(2_000))
    await cut.reaches(1)
  })

  it.each([
    { when: "all of them keep the connection", count: 99, headers: [] },
    { when: "the last of them ends the connection", count: 20, headers: ["Connection: close"] }
  ])(
    "is cut in time, also when it goes on sending slowly after its requests: $when",
    async ({ count, headers }) => {
      const server = await serve({ server: { requestTimeoutMs: 300 } })
      const key = await server.issue()
      const long = request({ key, body: pet("\u0001".repeat(255)) })
      await answers(await Wire.sending(server.port, long.repeat(100)), 100)
      const list = { key, target: "/v1/pets?limit=100" }
      const wire = await Wire.sending(
        server.port,
        request(list).repeat(count) + request({ ...list, headers })
      )
      let cut = false
      void wire.closed.then(() => {
        cut = true
      })
      while (!cut) {
        await wire.send("G")
        await sleep(20)
      }
    }
  )
})

describe("a client that reads slowly", () => {
  it("is not cut as long as it reads, however long all of it takes", async () => {
    const server = await serve({ server: { requestTimeoutMs: 500 } })
    const key = await server.issue()
    const long = request({ key, body: pet("\u0001".repeat(255)) })
    await answers(await Wire.sending(server.port, long.repeat(100)), 100)
    const list = request({ key, target: "/v1/pets?limit=100" })
    // 160 kB each: together more than the system's buffers hold
    const wire = await Wire.sending(server.port, list.repeat(60))
    for (let read = 0; read < 60; read++) {
      expect((await wire.answer()).status).toBe(200)
      await sleep(50)
    }
  })
})

describe("a client that sends ahead", () => {
  it("is responded to once at a time, however much it sends ahead", async () => {
    let [open, most] = [0, 0]
    const pages = new Count()
    const server = await serve({
      pets: (real) => ({
        ...real,
        page: (query) => {
          most = Math.max(most, ++open)
          pages.increment()
          return Effect.tap(Effect.andThen(Effect.yieldNow, real.page(query)), () =>
            Effect.sync(() => open--)
          )
        }
      })
    })
    const key = await server.issue()
    await answers(await Wire.sending(server.port, request({ key }).repeat(200)), 200)
    expect([pages.value, most]).toEqual([200, 1])
  })

  it.each([
    { what: "small requests", bytes: request({}), count: 300_000 },
    { what: "bodies", bytes: request({ body: " ".repeat(60_000) }), count: 500 }
  ])("is not read from while it waits for a response: $what", async ({ bytes, count }) => {
    const gate = new Gate()
    const server = await serve({ limits: gate.limits })
    const wire = await Wire.open(server.port)
    let isSent = false
    // Thirty megabytes, of which the buffers of the system hold a few.
    const sent = Buffer.alloc(bytes.length * count, bytes)
    void wire.send(sent).then(() => {
      isSent = true
    })
    await gate.entered.reaches(1)
    await sleep(500)
    expect(isSent).toBe(false)
    gate.open()
    expect((await statuses(wire, 100)).slice(0, 61)).toEqual([...Array(60).fill(401), 429])
    wire.abort()
    await expectAlive(server)
  })
})
