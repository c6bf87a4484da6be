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
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import { Service } from "../../core/service/Service.ts"
import * as NodeServer from "./NodeServer.ts"
import { Count, collectGarbage, expectError, Gate, openService, type Setup, serve } from "./Server.fixture.ts"
import { pet, request, Wire } from "./Wire.fixture.ts"

describe("listening", () => {
  it("fails with ListenFailed when the port is taken, and the first server goes on", async () => {
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
    expectError(await (await Wire.sending(server.port, request({}))).answer(), 401, "missing_api_key")
  })

  it("takes a free port when asked for port 0, another for each server", async () => {
    const [first, second] = await Promise.all([serve(), serve()])
    expect(first.port).toBeGreaterThan(0)
    expect(second.port).not.toBe(first.port)
  })
})

describe("requests at the same time", () => {
  it("200 at 60 a minute: 60 are carried out, and their Remaining counts from 59 to 0, each once", async () => {
    const server = await serve()
    const key = await server.issue({ perMinute: 60 })
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => (await Wire.sending(server.port, request({ key }))).answer())
    )
    const remaining = answers
      .filter(({ status }) => status === 200)
      .map((answer) => Number(answer.header("x-ratelimit-remaining")))
    expect(remaining.toSorted((a, b) => b - a)).toEqual(Array.from({ length: 60 }, (_, index) => 59 - index))
    const waits: Array<number> = []
    for (const answer of answers) {
      if (answer.status === 200) continue
      expectError(answer, 429, "rate_limit_exceeded")
      expect(answer.header("x-ratelimit-remaining")).toBe("0")
      waits.push(Number(answer.header("retry-after")))
    }
    // a slot of its own for each of sixty, and the last one for all others
    expect(new Set(waits).size).toBeGreaterThanOrEqual(59)
    expect(Math.max(...waits)).toBe(60)
  })
})

describe("connections", () => {
  it("above the cap are closed at once, and there is room again when one has gone", async () => {
    const server = await serve({ server: { maxConnections: 2 } })
    const key = await server.issue()
    const [first, second] = [await Wire.open(server.port), await Wire.open(server.port)]
    const third = await Wire.open(server.port)
    expect(await third.rest()).toBe("")
    await first.send(request({ key, headers: ["Connection: close"] }))
    expect((await first.answer()).status).toBe(200)
    await first.rest()
    const fourth = await Wire.sending(server.port, request({ key }))
    expect((await fourth.answer()).status).toBe(200)
    await second.send(request({ key }))
    expect((await second.answer()).status).toBe(200)
  })

  it("above the cap of their address are closed at once, and there is room again when one has gone", async () => {
    const server = await serve({ server: { maxConnectionsPerAddress: 2 } })
    const key = await server.issue()
    const [first, second] = [await Wire.open(server.port), await Wire.open(server.port)]
    const third = await Wire.open(server.port)
    expect(await third.rest()).toBe("")
    await first.send(request({ key, headers: ["Connection: close"] }))
    expect((await first.answer()).status).toBe(200)
    await first.rest()
    const fourth = await Wire.sending(server.port, request({ key }))
    expect((await fourth.answer()).status).toBe(200)
    await second.send(request({ key }))
    expect((await second.answer()).status).toBe(200)
    // Another address of the loopback network.
    const other = Net.connect({ port: server.port, host: "127.0.0.1", localAddress: "127.0.0.2" })
    onTestFinished(() => {
      other.destroy()
    })
    const status = new Promise<string>((resolve, reject) => {
      other.setEncoding("latin1").once("data", resolve).once("close", reject)
    })
    other.write(request({ key }))
    expect(await status).toMatch(/^HTTP\/1\.1 200 /)
  })

  it("that have gone are forgotten", async () => {
    const sockets: Array<WeakRef<Net.Socket>> = []
    const remember = (message: unknown): void => {
      // The shape that Node documents for this channel.
      sockets.push(new WeakRef((message as { readonly socket: Net.Socket }).socket))
    }
    subscribe("net.server.socket", remember)
    onTestFinished(() => {
      unsubscribe("net.server.socket", remember)
    })
    const server = await serve()
    const key = await server.issue()
    for (let count = 0; count < 50; count++) {
      const wire = await Wire.sending(server.port, request({ key, headers: ["Connection: close"] }))
      await wire.answer()
      await wire.rest()
    }
    await collectGarbage()
    expect(sockets).toHaveLength(50)
    expect(sockets.filter((socket) => socket.deref() !== undefined).length).toBeLessThan(10)
  })

  it("that idle are closed without a word", async () => {
    const server = await serve({ server: { keepAliveTimeoutMs: 50 } })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }))
    expect((await wire.answer()).status).toBe(200)
    expect(await wire.rest()).toBe("")
  })

  it("that are idle are kept for as long as their answers announce", async () => {
    const server = await serve({ server: { keepAliveTimeoutMs: 1_000 } })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }))
    expect((await wire.answer()).header("keep-alive")).toBe("timeout=1")
    const idleSince = performance.now()
    await wire.rest()
    // And a second more: what a client sends just in time is on its way for a while.
    expect(performance.now() - idleSince).toBeGreaterThanOrEqual(1_990)
  })

  it("that are idle are kept without a word where none is to be announced", async () => {
    const server = await serve({ server: { keepAliveTimeoutMs: 0, requestTimeoutMs: 300 } })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }))
    expect((await wire.answer()).header("keep-alive")).toBeUndefined()
    const idleSince = performance.now()
    await wire.rest()
    expect(performance.now() - idleSince).toBeGreaterThanOrEqual(300)
  })

  it("are never opened with a time for idle ones that is none", async () => {
    for (const keepAliveTimeoutMs of [Number.NaN, -5, 0.5]) {
      await expect(serve({ server: { keepAliveTimeoutMs } })).rejects.toThrow(RangeError)
    }
  })

  it("that are used time and again are kept", async () => {
    const server = await serve({ server: { keepAliveTimeoutMs: 150 } })
    const key = await server.issue()
    const wire = await Wire.open(server.port)
    for (let count = 0; count < 12; count++) {
      await wire.send(request({ key }))
      expect((await wire.answer()).status).toBe(200)
      await sleep(50)
    }
    expect(await wire.rest()).toBe("")
  })

  it("wait for a slow answer as long as it takes", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets, server: { requestTimeoutMs: 50, keepAliveTimeoutMs: 1 } })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }))
    // Two more that run into the limit of 50 milliseconds, one after the other.
    for (let count = 0; count < 2; count++) {
      expectError(await (await Wire.sending(server.port, "GET")).answer(), 408, "request_timeout")
    }
    gate.open()
    expect((await wire.answer()).status).toBe(200)
  })
})

describe("draining", () => {
  const serveDraining = async (setup: Setup = {}) => {
    const server = await serve(setup)
    const key = await server.issue()
    const used = await Wire.sending(server.port, request({ key }))
    expect((await used.answer()).header("connection")).toBe("keep-alive")
    await server.run(Service.use(({ drain }) => drain))
    return { ...server, key, used }
  }

  it("still answers, on open and on new connections, and closes each after its response", async () => {
    const { key, port, used } = await serveDraining()
    for (const wire of [used, await Wire.open(port)]) {
      await wire.send(request({ key, body: pet("Rex") }))
      const answer = await wire.answer()
      expect([answer.status, answer.header("connection"), answer.header("keep-alive")]).toEqual([
        ...[201, "close", undefined]
      ])
      expect(await wire.rest()).toBe("")
    }
  })

  it("leaves idle connections open, for their clients cannot know yet", async () => {
    const { key, used } = await serveDraining()
    await sleep(50)
    await used.send(request({ key }))
    expect((await used.answer()).status).toBe(200)
  })

  it("treats HEAD requests and those that wait for 100 Continue alike", async () => {
    const { key, port, used } = await serveDraining()
    await used.send(request({ key, method: "HEAD" }))
    const head = await used.answer({ head: true })
    expect([head.status, head.header("connection")]).toEqual([200, "close"])
    expect(await used.rest()).toBe("")

    const bytes = request({ key, body: pet("Rex"), headers: ["Expect: 100-continue"] })
    const wire = await Wire.sending(port, bytes.slice(0, -1))
    expect((await wire.answer()).status).toBe(100)
    await wire.send(bytes.slice(-1))
    const created = await wire.answer()
    expect([created.status, created.header("connection")]).toEqual([201, "close"])
    expect(await wire.rest()).toBe("")
  })

  it("announces the end with the last of several pipelined requests, also when the store is slow", async () => {
    const gate = new Gate()
    for (const pets of [(real: PetRepository["Service"]) => real, gate.pets]) {
      gate.open()
      const { key, used } = await serveDraining({ pets })
      await used.send(request({ key }).repeat(3))
      const connections = [await used.answer(), await used.answer(), await used.answer()].map((answer) =>
        answer.header("connection")
      )
      expect(connections).toEqual(["keep-alive", "keep-alive", "close"])
      expect(await used.rest()).toBe("")
    }
  })

  it("announces the end with a response whose request came before it", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, body: pet("Rex") }))
    await gate.entered.reaches(1)
    await server.run(Service.use(({ drain }) => drain))
    gate.open()
    const answer = await wire.answer()
    expect([answer.status, answer.header("connection")]).toEqual([201, "close"])
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

  /** Until the server listens no more; now and then, for new connections hold it up. */
  const stopsListening = (port: number) => vi.waitUntil(() => isRefused(port), { interval: 20 })

  it("lets requests in flight finish, and says that they were the last", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, body: pet("Rex") }))
    await gate.entered.reaches(1)
    const closed = server.close()
    await stopsListening(server.port)
    gate.open()
    const answer = await wire.answer()
    expect([answer.status, answer.header("connection")]).toEqual([201, "close"])
    expect(await wire.rest()).toBe("")
    await closed
  })

  it("lets a body in flight arrive", async () => {
    const server = await serve()
    const key = await server.issue()
    const bytes = request({ key, body: pet("Rex"), headers: ["Expect: 100-continue"] })
    const wire = await Wire.sending(server.port, bytes.slice(0, -1))
    expect((await wire.answer()).status).toBe(100)
    const closed = server.close()
    await stopsListening(server.port)
    await wire.send(bytes.slice(-1))
    const answer = await wire.answer()
    expect([answer.status, answer.header("connection")]).toEqual([201, "close"])
    await wire.rest()
    await closed
  })

  it("ends idle connections at once, used or not", async () => {
    const server = await serve()
    const key = await server.issue()
    const unused = await Wire.open(server.port)
    const used = await Wire.sending(server.port, request({ key }))
    expect((await used.answer()).status).toBe(200)
    const closed = server.close()
    expect(await unused.rest()).toBe("")
    expect(await used.rest()).toBe("")
    await closed
  })

  it("lets all requests finish that came one behind the other, and announces the end with the last", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }).repeat(3))
    await gate.entered.reaches(1)
    const closed = server.close()
    await stopsListening(server.port)
    gate.open()
    const connections = [await wire.answer(), await wire.answer(), await wire.answer()].map((answer) =>
      answer.header("connection")
    )
    expect(connections).toEqual(["keep-alive", "keep-alive", "close"])
    expect(await wire.rest()).toBe("")
    await closed
  })

  it("lets a request finish that comes behind another while the server closes", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }))
    await gate.entered.reaches(1)
    const closed = server.close()
    await stopsListening(server.port)
    await wire.send(request({ key, target: "/v1/none" }))
    await sleep(50)
    gate.open()
    const [first, second] = [await wire.answer(), await wire.answer()]
    expect([first.header("connection"), second.status, second.header("connection")]).toEqual([
      ...["keep-alive", 404, "close"]
    ])
    expect(await wire.rest()).toBe("")
    await closed
  })

  it("lets a client read to the end what it was sent", async () => {
    const found = new Count()
    // More than the system's buffers hold.
    const name = "x".repeat(20_000_000)
    const server = await serve({
      pets: (real) => ({
        ...real,
        find: (id) =>
          Effect.sync(() => {
            found.increment()
            return Option.some(new Pet(id, { name, categoryId: 1n, status: "available" }))
          })
      })
    })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, target: "/v1/pets/1" }))
    await found.reaches(1)
    const closed = server.close()
    expect((await wire.answer()).body.length).toBeGreaterThan(name.length)
    expect(await wire.rest()).toBe("")
    await closed
  })

  it("lets the sender of a refused body read the answer", async () => {
    const server = await serve()
    const wire = await Wire.sending(server.port, request({ method: "POST", headers: ["Content-Length: 9"] }))
    expectError(await wire.answer(), 401, "missing_api_key")
    const closed = server.close()
    await wire.send("123456789")
    expect(await wire.rest()).toBe("")
    await closed
  })

  it("cuts what takes longer than it may, and ends the work on it", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets, server: { shutdownTimeoutMs: 50 } })
    const key = await server.issue()
    const working = await Wire.sending(server.port, request({ key }))
    const sending = await Wire.sending(server.port, request({ key, body: pet("Rex") }).slice(0, -1))
    await gate.entered.reaches(1)
    await server.close()
    expect(await working.rest()).toBe("")
    expect(await sending.rest()).toBe("")
    await gate.interrupted.reaches(1)
  })

  it("cuts a connection whose next request is held", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets, server: { shutdownTimeoutMs: 50 } })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }).repeat(3))
    await gate.entered.reaches(1)
    await server.close()
    expect(await wire.rest()).toBe("")
    await gate.interrupted.reaches(1)
  })

  it("loses no answer to a request that was carried out, while clients go on sending", async () => {
    const inserted = new Count()
    const server = await serve({
      pets: (real) => ({
        ...real,
        insert: (newPet) => {
          inserted.increment()
          return Effect.andThen(Effect.yieldNow, real.insert(newPet))
        }
      })
    })
    const key = await server.issue()
    const hammer = async (): Promise<number> => {
      const wire = await Wire.open(server.port)
      for (let created = 0; ; created++) {
        await wire.send(request({ key, body: pet("Rex") }))
        try {
          expect((await wire.answer()).status).toBe(201)
        } catch {
          return created
        }
      }
    }
    const clients = Array.from({ length: 20 }, hammer)
    await inserted.reaches(300)
    await server.close()
    const answered = (await Promise.all(clients)).reduce((sum, created) => sum + created, 0)
    expect(answered).toBe(inserted.value)
  })
})
