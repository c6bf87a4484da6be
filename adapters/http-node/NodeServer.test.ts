import { Buffer } from "node:buffer"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import * as Net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { Pet } from "../../core/domain/Pet.ts"
import { InvalidOption } from "../../core/options/InvalidOption.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import { Service } from "../../core/service/Service.ts"
import * as NodeServer from "./NodeServer.ts"
import { Count, expectError, Gate, openService, type Setup, serve } from "./Server.fixture.ts"
import { pet, request, responses, Wire } from "./Wire.fixture.ts"

/** Calls `observe` with the server's socket of each new connection, until the test ends. */
const onServerSocket = (observe: (socket: Net.Socket) => void): void => {
  // The message type that Node documents for this channel.
  const receive = (message: unknown): void => observe((message as { readonly socket: Net.Socket }).socket)
  subscribe("net.server.socket", receive)
  onTestFinished(() => {
    unsubscribe("net.server.socket", receive)
  })
}

describe("listening", () => {
  it("fails with ListenFailed when the port is in use, and the first server keeps serving", async () => {
    const server = await serve()
    const service = await openService()
    const exit = await service.run(
      Effect.exit(Scope.provide(NodeServer.make({ port: server.port }), service.scope))
    )
    expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({
      _tag: "ListenFailed",
      host: "127.0.0.1",
      port: server.port,
      cause: { code: "EADDRINUSE" }
    })
    expectError(await (await Wire.openAndSend(server.port, request({}))).response(), 401, "missing_api_key")
  })

  it("chooses a different free port for each server with port 0", async () => {
    const [first, second] = await Promise.all([serve(), serve()])
    expect(first.port).toBeGreaterThan(0)
    expect(second.port).not.toBe(first.port)
  })

  it("fails with InvalidOption if keepAliveTimeoutMs is invalid", async () => {
    for (const keepAliveTimeoutMs of [Number.NaN, -5, 0.5]) {
      await expect(serve({ server: { keepAliveTimeoutMs } })).rejects.toThrow(InvalidOption)
    }
  })
})

describe("connections", () => {
  it("beyond maxConnections are closed immediately while all others are in use, until another one closes", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets, server: { maxConnections: 2 } })
    const first = await Wire.openAndSend(server.port, request({ key, headers: ["Connection: close"] }))
    const second = await Wire.openAndSend(server.port, request({ key }))
    await gate.entered.reaches(2)
    const third = await Wire.open(server.port)
    expect(await third.rest()).toBe("")
    gate.open()
    expect((await first.response()).status).toBe(200)
    await first.rest()
    const fourth = await Wire.openAndSend(server.port, request({ key }))
    expect((await fourth.response()).status).toBe(200)
    expect((await second.response()).status).toBe(200)
  })

  it("beyond maxConnections close the connection that has been idle for the longest time", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets, server: { maxConnections: 4 } })
    const busy = await Wire.openAndSend(server.port, request({ key }))
    await gate.entered.reaches(1)
    const live = request({ target: "/livez" })
    const [used, silent] = [await Wire.openAndSend(server.port, live), await Wire.open(server.port)]
    expect((await used.response()).status).toBe(200)
    // The beginning of a request is not a use: a client could send it byte by byte.
    await silent.send("GET /livez")
    const latest = await Wire.openAndSend(server.port, live)
    expect((await latest.response()).status).toBe(200)
    await used.send(live)
    expect((await used.response()).status).toBe(200)
    for (const closed of [silent, latest, used]) {
      const further = await Wire.openAndSend(server.port, live)
      expect((await further.response()).status).toBe(200)
      expect(await closed.rest()).toBe("")
    }
    gate.open()
    expect((await busy.response()).status).toBe(200)
  })

  it("beyond maxConnections are served while idle ones arrive in large numbers, behind others in use", async () => {
    const gate = new Gate()
    const MAX = 300
    const { key, ...server } = await serve({
      pets: gate.pets,
      server: { maxConnections: MAX, keepAliveTimeoutMs: 72_000 }
    })
    const list = request({ key, target: "/v1/pets?limit=1" })
    const inUse = await Promise.all(Array.from({ length: 90 }, () => Wire.openAndSend(server.port, list)))
    await gate.entered.reaches(inUse.length)
    for (let round = 0; round < 5; round++) {
      const idle = Array.from({ length: MAX }, (_, index) =>
        index % 2 === 0
          ? Wire.open(server.port)
          : Wire.openAndSend(server.port, request({ target: "/livez" }))
      )
      await Promise.all(idle)
      const polite = await Wire.openAndSend(server.port, request({ target: "/livez" }))
      expect((await polite.response()).status).toBe(200)
    }
    gate.open()
    for (const wire of inUse) expect((await wire.response()).status).toBe(200)
  })

  it("beyond maxConnectionsPerAddress are closed immediately, until another connection of the address closes", async () => {
    const { key, ...server } = await serve({ server: { maxConnectionsPerAddress: 2 } })
    const [first, second] = [await Wire.open(server.port), await Wire.open(server.port)]
    const third = await Wire.open(server.port)
    expect(await third.rest()).toBe("")
    await first.send(request({ key, headers: ["Connection: close"] }))
    expect((await first.response()).status).toBe(200)
    await first.rest()
    const fourth = await Wire.openAndSend(server.port, request({ key }))
    expect((await fourth.response()).status).toBe(200)
    await second.send(request({ key }))
    expect((await second.response()).status).toBe(200)
    // Connects from a second loopback address.
    const fromOtherAddress = Net.connect({ port: server.port, host: "127.0.0.1", localAddress: "127.0.0.2" })
    onTestFinished(() => {
      fromOtherAddress.destroy()
    })
    const status = new Promise<string>((resolve, reject) => {
      fromOtherAddress.setEncoding("latin1").once("data", resolve).once("close", reject)
    })
    fromOtherAddress.write(request({ key }))
    expect(await status).toMatch(/^HTTP\/1\.1 200 /)
  })

  it("close after one response if they pipeline requests while 400 other connections hold a request", async () => {
    const HOLDING = 400
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const list = request({ key, target: "/v1/pets?limit=1" })
    const pipelining = () => Wire.openAndSend(server.port, list.repeat(2))
    const holding = await Promise.all(Array.from({ length: HOLDING }, pipelining))
    await gate.entered.reaches(HOLDING)
    const further = await pipelining()
    await gate.entered.reaches(HOLDING + 1)
    const plain = await Wire.openAndSend(server.port, list)
    await gate.entered.reaches(HOLDING + 2)
    const prompt = await Wire.openAndSend(server.port, request({ target: "/livez" }).repeat(2))
    expect((await prompt.response()).status).toBe(200)
    expect(await prompt.rest()).toBe("")
    const sockets: Array<Net.Socket> = []
    onServerSocket((socket) => sockets.push(socket))
    const greedy = await pipelining()
    await gate.entered.reaches(HOLDING + 3)
    const response = greedy.response()
    const allSent = greedy.send(Buffer.alloc(64 * 1024 * 1024))
    // A server that continued to read would receive megabytes in this time.
    await sleep(200)
    gate.open()
    expect((await further.response()).status).toBe(200)
    expect(await further.rest()).toBe("")
    expect((await response).status).toBe(200)
    expect(await greedy.rest()).toBe("")
    await allSent
    expect(sockets.map(({ bytesRead }) => bytesRead < 256 * 1024)).toEqual([true])
    for (const wire of holding) {
      expect((await wire.response()).status).toBe(200)
      expect((await wire.response()).status).toBe(200)
    }
    expect((await plain.response()).header("connection")).toBe("keep-alive")
    // The held requests have been handled, so connections can hold requests again.
    const again = await pipelining()
    for (let count = 0; count < 2; count++) expect((await again.response()).status).toBe(200)
  })

  it("close without a response after the idle timeout", async () => {
    const { key, ...server } = await serve({ server: { keepAliveTimeoutMs: 50 } })
    const wire = await Wire.openAndSend(server.port, request({ key }))
    expect((await wire.response()).status).toBe(200)
    expect(await wire.rest()).toBe("")
  })

  it.each([
    [0, 5_000],
    [1, 72_000]
  ])(
    "behind %i trusted proxies are announced to stay open for %i ms, and lose no POST of a client that obeys",
    async (trustedProxyHops, timeoutMs) => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
      onTestFinished(() => void vi.useRealTimers())
      const { key, ...server } = await serve({ service: { trustedProxyHops } })
      const pool = await Promise.all(Array.from({ length: 30 }, () => Wire.open(server.port)))
      // The third one arrives beyond the first timeout: each request begins the timeout anew.
      for (const body of [pet("first"), pet("second"), pet("third")]) {
        for (const wire of pool) await wire.send(request({ key, body }))
        for (const wire of pool) {
          const response = await wire.response()
          expect([response.status, response.header("keep-alive")]).toEqual([
            201,
            `timeout=${timeoutMs / 1_000}`
          ])
        }
        // The first check finds that bytes have arrived; the last one is the margin for a request on its way.
        vi.advanceTimersByTime(timeoutMs + 1_000)
      }
      vi.advanceTimersByTime(1_000)
      for (const wire of pool) expect(await wire.rest()).toBe("")
      expect(await server.countPets()).toBe(90)
    }
  )

  it("close after the last of several pipelined responses if keepAliveTimeoutMs is 0", async () => {
    const { key, ...server } = await serve({ server: { keepAliveTimeoutMs: 0 } })
    const wire = await Wire.openAndSend(server.port, request({ key }).repeat(3))
    const responses = [await wire.response(), await wire.response(), await wire.response()]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(responses.map((response) => response.header("connection"))).toEqual([
      "keep-alive",
      "keep-alive",
      "close"
    ])
    expect(responses.map((response) => response.header("keep-alive"))).toEqual([
      undefined,
      undefined,
      undefined
    ])
    expect(await wire.rest()).toBe("")
  })

  it("stay open beyond all timeouts while a request is in flight", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({
      pets: gate.pets,
      server: { requestTimeoutMs: 50, keepAliveTimeoutMs: 1 }
    })
    const wire = await Wire.openAndSend(server.port, request({ key }))
    // Waits until two other connections, in sequence, have exceeded the 50 ms timeout.
    for (let count = 0; count < 2; count++) {
      expectError(await (await Wire.openAndSend(server.port, "GET")).response(), 408, "request_timeout")
    }
    gate.open()
    expect((await wire.response()).status).toBe(200)
  })
})

describe("draining", () => {
  const serveDraining = async (setup: Setup = {}) => {
    const { key, ...server } = await serve(setup)
    const used = await Wire.openAndSend(server.port, request({ key }))
    expect((await used.response()).header("connection")).toBe("keep-alive")
    await server.run(Service.use(({ drain }) => drain))
    return { ...server, key, used }
  }

  it("serves requests on open and new connections, and closes each connection after its response", async () => {
    const { key, port, used } = await serveDraining()
    for (const wire of [used, await Wire.open(port)]) {
      await wire.send(request({ key, body: pet("Rex") }))
      const response = await wire.response()
      expect([response.status, response.header("connection"), response.header("keep-alive")]).toEqual([
        ...[201, "close", undefined]
      ])
      expect(await wire.rest()).toBe("")
    }
  })

  it("leaves idle connections open, because their clients may already be sending", async () => {
    const { key, used } = await serveDraining()
    await sleep(50)
    await used.send(request({ key }))
    expect((await used.response()).status).toBe(200)
  })

  it("closes connections after HEAD requests and after requests with Expect: 100-continue", async () => {
    const { key, port, used } = await serveDraining()
    await used.send(request({ key, method: "HEAD" }))
    const head = await used.response({ head: true })
    expect([head.status, head.header("connection")]).toEqual([200, "close"])
    expect(await used.rest()).toBe("")

    const bytes = request({ key, body: pet("Rex"), headers: ["Expect: 100-continue"] })
    const wire = await Wire.openAndSend(port, bytes.slice(0, -1))
    expect((await wire.response()).status).toBe(100)
    await wire.send(bytes.slice(-1))
    const created = await wire.response()
    expect([created.status, created.header("connection")]).toEqual([201, "close"])
    expect(await wire.rest()).toBe("")
  })

  it("sends Connection: close only with the last of several pipelined responses, even if the store is slow", async () => {
    const gate = new Gate()
    for (const pets of [(real: PetRepository["Service"]) => real, gate.pets]) {
      gate.open()
      const { key, used } = await serveDraining({ pets })
      await used.send(request({ key }).repeat(3))
      const connections = [await used.response(), await used.response(), await used.response()].map(
        (response) => response.header("connection")
      )
      expect(connections).toEqual(["keep-alive", "keep-alive", "close"])
      expect(await used.rest()).toBe("")
    }
  })

  it("sends Connection: close with the response to a request that arrived before the drain", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const wire = await Wire.openAndSend(server.port, request({ key, body: pet("Rex") }))
    await gate.entered.reaches(1)
    await server.run(Service.use(({ drain }) => drain))
    gate.open()
    const response = await wire.response()
    expect([response.status, response.header("connection")]).toEqual([201, "close"])
    expect(await wire.rest()).toBe("")
  })
})

describe("closing", () => {
  const isRefused = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = Net.connect(port, "127.0.0.1", () => {
        socket.destroy()
        resolve(false)
      })
      socket.once("error", () => resolve(true))
    })

  /** Polls until the server stops listening, only every 20 ms, because each new connection delays the stop. */
  const stopsListening = (port: number) => vi.waitUntil(() => isRefused(port), { interval: 20 })

  it("waits for the rest of a request body, and sends the response", async () => {
    const { key, ...server } = await serve()
    const bytes = request({ key, body: pet("Rex"), headers: ["Expect: 100-continue"] })
    const wire = await Wire.openAndSend(server.port, bytes.slice(0, -1))
    expect((await wire.response()).status).toBe(100)
    const closed = server.close()
    await stopsListening(server.port)
    await wire.send(bytes.slice(-1))
    const response = await wire.response()
    expect([response.status, response.header("connection")]).toEqual([201, "close"])
    await wire.rest()
    await closed
  })

  it("closes idle connections immediately, whether they were used or not", async () => {
    const { key, ...server } = await serve()
    const unused = await Wire.open(server.port)
    const used = await Wire.openAndSend(server.port, request({ key }))
    expect((await used.response()).status).toBe(200)
    const closed = server.close()
    expect(await unused.rest()).toBe("")
    expect(await used.rest()).toBe("")
    await closed
  })

  it.each([1, 3])(
    "lets all of %i pipelined requests finish, and sends Connection: close with the last",
    async (count) => {
      const gate = new Gate()
      const { key, ...server } = await serve({ pets: gate.pets })
      const wire = await Wire.openAndSend(server.port, request({ key, body: pet("Rex") }).repeat(count))
      await gate.entered.reaches(1)
      const closed = server.close()
      await stopsListening(server.port)
      gate.open()
      const received = await responses(wire, count)
      expect(received.map(({ status }) => status)).toEqual(Array(count).fill(201))
      expect(received.map((response) => response.header("connection"))).toEqual([
        ...Array(count - 1).fill("keep-alive"),
        "close"
      ])
      expect(await wire.rest()).toBe("")
      await closed
    }
  )

  it("handles a request that arrives on a busy connection while the server closes", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const wire = await Wire.openAndSend(server.port, request({ key }))
    await gate.entered.reaches(1)
    const closed = server.close()
    await stopsListening(server.port)
    await wire.send(request({ key, target: "/v1/none" }))
    await sleep(50)
    gate.open()
    const [first, second] = [await wire.response(), await wire.response()]
    expect([first.header("connection"), second.status, second.header("connection")]).toEqual([
      ...["keep-alive", 404, "close"]
    ])
    expect(await wire.rest()).toBe("")
    await closed
  })

  it("lets a client read a large response to the end", async () => {
    const finds = new Count()
    // Makes the response larger than the socket buffers.
    const name = "x".repeat(20_000_000)
    const { key, ...server } = await serve({
      server: { shutdownTimeoutMs: 60_000 },
      pets: (real) => ({
        ...real,
        find: (id) =>
          Effect.sync(() => {
            finds.increment()
            return Option.some(new Pet(id, { name, categoryId: 1n, status: "available" }))
          })
      })
    })
    const wire = await Wire.openAndSend(server.port, request({ key, target: "/v1/pets/1" }))
    await finds.reaches(1)
    const closed = server.close()
    expect((await wire.response()).body.length).toBeGreaterThan(name.length)
    expect(await wire.rest()).toBe("")
    await closed
  })

  it("lets a client finish sending a body that was already rejected", async () => {
    const server = await serve()
    const wire = await Wire.openAndSend(
      server.port,
      request({ method: "POST", headers: ["Content-Length: 9"] })
    )
    expectError(await wire.response(), 401, "missing_api_key")
    const closed = server.close()
    await wire.send("123456789")
    expect(await wire.rest()).toBe("")
    await closed
  })

  it("closes connections after the shutdown timeout and interrupts their requests", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets, server: { shutdownTimeoutMs: 50 } })
    const working = await Wire.openAndSend(server.port, request({ key }).repeat(3))
    const sending = await Wire.openAndSend(server.port, request({ key, body: pet("Rex") }).slice(0, -1))
    await gate.entered.reaches(1)
    await server.close()
    expect(await working.rest()).toBe("")
    expect(await sending.rest()).toBe("")
    await gate.interrupted.reaches(1)
  })

  it("acknowledges every created animal, even when clients keep sending requests", async () => {
    const inserted = new Count()
    const { key, ...server } = await serve({
      pets: (real) => ({
        ...real,
        insert: (newPet) => {
          inserted.increment()
          return Effect.andThen(Effect.yieldNow, real.insert(newPet))
        }
      })
    })
    const createUntilClosed = async (): Promise<number> => {
      const wire = await Wire.open(server.port)
      for (let created = 0; ; created++) {
        await wire.send(request({ key, body: pet("Rex") }))
        try {
          expect((await wire.response()).status).toBe(201)
        } catch {
          return created
        }
      }
    }
    const clients = Array.from({ length: 20 }, createUntilClosed)
    await inserted.reaches(300)
    await server.close()
    const acknowledged = (await Promise.all(clients)).reduce((sum, created) => sum + created, 0)
    expect(acknowledged).toBe(inserted.value)
  })
})
