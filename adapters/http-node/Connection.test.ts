import { Buffer } from "node:buffer"
import { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { setImmediate, setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { Count, expectAlive, expectError, Gate, serve } from "./Server.fixture.ts"
import { pet, request, responses, statuses, Wire } from "./Wire.fixture.ts"

describe("pipelined requests", () => {
  it("get their responses in order, and consume one token each", async () => {
    const server = await serve()
    const key = await server.issue({ perMinute: 1_000 })
    const bytes = Array.from({ length: 1_000 }, (_, index) =>
      index % 2 === 0
        ? request({ key, body: pet(`pet ${index}`) })
        : request({ key, target: `/v1/pets/${(index + 1) / 2}` })
    )
    const wire = await Wire.openAndSend(server.port, bytes.join(""))
    const received = await responses(wire, 1_000)
    expect(received.map(({ status }) => status)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? 201 : 200))
    )
    expect(received.map((response) => response.json())).toEqual(
      Array.from({ length: 1_000 }, (_, index) =>
        expect.objectContaining({ name: `pet ${index - (index % 2)}` })
      )
    )
    expect(received.map((response) => Number(response.header("x-ratelimit-remaining")))).toEqual(
      Array.from({ length: 1_000 }, (_, index) => 999 - index)
    )
    await wire.send(request({ key }))
    expectError(await wire.response(), 429, "rate_limit_exceeded")
  })

  it("get their responses in order, wherever their bytes are split between two reads", async () => {
    const { key, ...server } = await serve()
    const fields = {
      key,
      method: "POST",
      headers: ["Content-Type: application/json", "Transfer-Encoding: chunked"]
    }
    const chunked = `${request(fields)}${pet("Rex").length.toString(16)}\r\n${pet("Rex")}\r\n0\r\n\r\n`
    const bytes = `${request({ key })}${chunked}${request({ key, body: pet("Rex") })}${request({ key })}`
    const wire = await Wire.openAndSend(server.port, request({ key }))
    await wire.response()
    for (let cut = 1; cut < bytes.length; cut++) {
      await wire.send(bytes.slice(0, cut))
      // The server reads.
      await sleep(1)
      await wire.send(bytes.slice(cut))
      expect(await statuses(wire, 4), `split at ${cut}`).toEqual([200, 201, 201, 200])
    }
  })

  it("get a fast response only after the slow response to the earlier request", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const wire = await Wire.openAndSend(server.port, request({ key }) + request({ key, target: "/v1/none" }))
    await gate.entered.reaches(1)
    gate.open()
    expect(await statuses(wire, 2)).toEqual([200, 404])
  })

  it("are discarded after a request with Connection: close", async () => {
    const { key, ...server } = await serve()
    const last = request({ key, headers: ["Connection: close"] })
    const wire = await Wire.openAndSend(server.port, last + request({ key, body: pet("Rex") }))
    const response = await wire.response()
    expect([response.status, response.header("connection")]).toEqual([200, "close"])
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
  })

  it("are discarded after an invalid request", async () => {
    const { key, ...server } = await serve()
    const invalid = "GET /v1/pets HTTP/1.1\r\n\r\n"
    const wire = await Wire.openAndSend(server.port, invalid + request({ key, body: pet("Rex") }))
    expectError(await wire.response(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
  })
})

describe("invalid bytes after valid requests", () => {
  const garbage = "garbage\r\n\r\n"

  it("get a 400 only after the responses to all earlier requests, slow and fast", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const quick = request({ key, target: "/v1/none" })
    const wire = await Wire.openAndSend(server.port, request({ key }) + quick.repeat(3) + garbage)
    await gate.entered.reaches(1)
    gate.open()
    expect(await statuses(wire, 5)).toEqual([200, 404, 404, 404, 400])
    expect(await wire.rest()).toBe("")
  })

  it("get a 400 after the earlier response and consume no token of the key, if they are an invalid chunk", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
    const broken = `${request({ method: "POST", key, headers })}zz\r\n`
    const wire = await Wire.openAndSend(server.port, request({ key }) + broken)
    await gate.entered.reaches(1)
    gate.open()
    const earlier = await wire.response()
    expect(earlier.status).toBe(200)
    expectError(await wire.response(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
    // The broken request was not handled, so it consumed no token of the key.
    const next = await (await Wire.openAndSend(server.port, request({ key }))).response()
    expect(Number(next.header("x-ratelimit-remaining"))).toBe(
      Number(earlier.header("x-ratelimit-remaining")) - 1
    )
  })

  it("get no second response if they are a chunk of a body that was already rejected", async () => {
    const server = await serve()
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
    const wire = await Wire.openAndSend(server.port, request({ method: "POST", headers }))
    expectError(await wire.response(), 401, "missing_api_key")
    await wire.send("zz\r\n")
    expect(await wire.rest()).toBe("")
  })

  it("get no response after a request with Connection: close", async () => {
    const { key, ...server } = await serve()
    const wire = await Wire.openAndSend(
      server.port,
      request({ key, headers: ["Connection: close"] }) + garbage
    )
    expect((await wire.response()).status).toBe(200)
    expect(await wire.rest()).toBe("")
  })

  it("consume only one anonymous token, even if they arrive in several chunks", async () => {
    const server = await serve({ service: { anonymousPlan: { perMinute: 9, perDay: 100 } } })
    const wire = await Wire.openAndSend(server.port, garbage)
    const response = await wire.response()
    for (let chunk = 0; chunk < 5; chunk++) await wire.send(garbage)
    expect(await wire.rest()).toBe("")
    expect(response.header("x-ratelimit-remaining")).toBe("8")
    const next = await (await Wire.openAndSend(server.port, request({}))).response()
    expect(next.header("x-ratelimit-remaining")).toBe("7")
  })

  it("consume only one anonymous token, even if the rate-limit store is slow", async () => {
    const gate = new Gate()
    const anonymousPlan = { perMinute: 9, perDay: 100 }
    const server = await serve({ limits: gate.limits, service: { anonymousPlan } })
    const wire = await Wire.openAndSend(server.port, garbage)
    await gate.entered.reaches(1)
    await wire.send(garbage)
    // The response to this later request proves that the server has read the earlier bytes.
    const next = await Wire.openAndSend(server.port, request({}))
    await gate.entered.reaches(2)
    gate.open()
    expect((await wire.response()).header("x-ratelimit-remaining")).toBe("8")
    expect(await wire.rest()).toBe("")
    expect((await next.response()).header("x-ratelimit-remaining")).toBe("7")
  })

  it("do not interrupt the request before them", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const invalid = "POST /v1/pets HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    const wire = await Wire.openAndSend(server.port, request({ key }) + invalid)
    await gate.entered.reaches(1)
    // The response to this later request proves that the server has read the earlier bytes.
    expectError(await (await Wire.openAndSend(server.port, request({}))).response(), 401, "missing_api_key")
    gate.open()
    expect((await wire.response()).status).toBe(200)
    expectError(await wire.response(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
  })

  it("get a 400 that the client can read, even if it first sends twenty megabytes of them", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const wire = await Wire.openAndSend(server.port, request({ key }) + garbage)
    await gate.entered.reaches(1)
    gate.open()
    for (let sent = 0; sent < 20; sent++) await wire.send(Buffer.alloc(1_000_000, "x"))
    expect((await wire.response()).status).toBe(200)
    expectError(await wire.response(), 400, "malformed_request")
  })
})

describe("a client that disconnects", () => {
  it("interrupts the request in flight and discards the pipelined requests", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const wire = await Wire.openAndSend(server.port, request({ key, body: pet("Rex") }).repeat(50))
    await gate.entered.reaches(1)
    wire.abort()
    await gate.interrupted.reaches(1)
    gate.open()
    await expectAlive(server)
    expect([gate.entered.value, await server.countPets()]).toEqual([1, 0])
  })

  it("creates no animal when the connection closes before the whole request body has arrived", async () => {
    const inserts = new Count()
    const { key, ...server } = await serve({
      pets: (real) => ({
        ...real,
        insert: (newPet) => {
          inserts.increment()
          return real.insert(newPet)
        }
      })
    })
    const wires = await Promise.all(
      Array.from({ length: 20 }, () =>
        Wire.openAndSend(server.port, request({ key, body: pet("Rex") }).slice(0, -1))
      )
    )
    for (const wire of wires) wire.abort()
    const complete = await Wire.openAndSend(server.port, request({ key, body: pet("Rex") }))
    expect((await complete.response()).json()).toEqual({
      id: 1,
      name: "Rex",
      categoryId: 1,
      status: "available"
    })
    expect(inserts.value).toBe(1)
  })

  it("does not affect the server when the connection closes while responses are written", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets })
    const wires = await Promise.all(
      Array.from({ length: 20 }, () => Wire.openAndSend(server.port, request({ key }).repeat(20)))
    )
    await gate.entered.reaches(20)
    gate.open()
    for (const wire of wires) wire.abort()
    await expectAlive(server)
  })
})

describe("a body that arrives together with the head of its request", () => {
  it("is read immediately, without waiting for data events", async () => {
    const { key, ...server } = await serve()
    let dataListeners = 0
    const on = vi.spyOn(IncomingMessage.prototype, "on").mockImplementation(function (
      this: IncomingMessage,
      event,
      listener
    ) {
      if (event === "data") dataListeners++
      return Readable.prototype.on.call(this, event, listener) as IncomingMessage
    })
    onTestFinished(() => on.mockRestore())
    const wire = await Wire.openAndSend(server.port, request({ key, body: pet("Rex") }))
    expect((await wire.response()).status).toBe(201)
    expect(dataListeners).toBe(0)
  })

  const padded = (key: string, size: number): string => {
    const withSpaces = (spaces: number) => request({ key, body: pet("Rex") + " ".repeat(spaces) })
    let spaces = size - withSpaces(0).length
    while (withSpaces(spaces).length > size) spaces-- // a longer body may need one more digit in Content-Length
    return withSpaces(spaces)
  }

  // Sizes around 64 KiB, one read of the socket: the end of the connection may then be read in the same turn.
  it.each([1_000, 65_535, 65_536, 65_537, 131_072])(
    "gets a response, as do the requests before it, when the client ends the connection after %i bytes",
    async (size) => {
      const { key, ...server } = await serve({ service: { maxBodyBytes: 1_000_000 } })
      for (let count = 0; count < 5; count++) {
        const before = request({ key, body: pet("Rex") }) + request({ key })
        const all = before + padded(key, size - before.length)
        expect(all.length).toBe(size)
        const wire = await Wire.open(server.port)
        void wire.send(all)
        wire.end()
        expect(await statuses(wire, 3)).toEqual([201, 200, 201])
      }
      expect(await server.countPets()).toBe(10)
    }
  )

  it("waits in the socket while the service does not read it, whatever its length, and then gets a response", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ limits: gate.limits })
    const fields = { key, method: "POST", headers: ["Content-Type: application/json"] }
    const spaces = " ".repeat(2_000)
    const chunk = `${spaces.length.toString(16)}\r\n${spaces}\r\n`
    const { length } = pet("last")
    const head = request({ ...fields, headers: [...fields.headers, "Transfer-Encoding: chunked"] })
    const wire = await Wire.openAndSend(server.port, head)
    await gate.entered.reaches(1)
    // Each in its own read.
    for (let count = 0; count < 30; count++) {
      await wire.send(chunk)
      await setImmediate()
    }
    await wire.send(`${length.toString(16)}\r\n${pet("last")}\r\n0\r\n\r\n${request({ key })}`)
    gate.open()
    expect(await statuses(wire, 2)).toEqual([201, 200])
  })

  /** Sends a body of 60,000 bytes whose last part waits until the service reads it. */
  const openAndSendInParts = async (port: number, key: string, gate: Gate): Promise<Wire> => {
    const bytes = request({ key, body: pet("Rex").padEnd(60_000) })
    const wire = await Wire.openAndSend(port, bytes.slice(0, 30_000))
    await gate.entered.reaches(1)
    await wire.send(bytes.slice(30_000))
    // The response to this later request proves that the server has read the part.
    await expectAlive({ port })
    return wire
  }

  it("does not time out after its response, if the service reads its last bytes later than they arrive", async () => {
    const gate = new Gate()
    const times = { requestTimeoutMs: 200, headersTimeoutMs: 20, keepAliveTimeoutMs: 60_000 }
    const { key, ...server } = await serve({ limits: gate.limits, server: times })
    const wire = await openAndSendInParts(server.port, key, gate)
    gate.open()
    expect(await statuses(wire, 1)).toEqual([201])
    await sleep(400)
    await wire.send(request({ key }))
    expect(await statuses(wire, 1)).toEqual([200])
  })

  it("lets the next request wait for its response, if the service reads its last bytes later than they arrive", async () => {
    const limits = new Gate()
    const pets = new Gate()
    const { key, ...server } = await serve({ limits: limits.limits, pets: pets.pets })
    const wire = await openAndSendInParts(server.port, key, limits)
    limits.open()
    await pets.entered.reaches(1)
    await wire.send(request({ key }))
    await expectAlive(server)
    pets.open()
    expect(await statuses(wire, 2)).toEqual([201, 200])
  })

  it("keeps the connection alive even if the client does not wait for 100 Continue", async () => {
    const { key, ...server } = await serve()
    const create = { key, body: pet("Rex") }
    const withoutWaiting = request({ ...create, headers: ["Expect: 100-continue"] })
    const wire = await Wire.openAndSend(server.port, request(create) + withoutWaiting + request(create))
    const seen = (await responses(wire, 4)).map((response) => [
      response.status,
      response.header("connection")
    ])
    expect(seen).toEqual([
      [201, "keep-alive"],
      [100, undefined],
      [201, "keep-alive"],
      [201, "keep-alive"]
    ])
  })

  it("is discarded, as is the next request, if the response to its head has Connection: close", async () => {
    const { key, ...server } = await serve()
    const create = request({ key, body: pet("Rex") })
    const rejected = request({ key: "wrong", body: pet("Rex"), headers: ["Expect: 100-continue"] })
    const wire = await Wire.openAndSend(server.port, create + rejected + create)
    const seen = (await responses(wire, 2)).map((response) => [
      response.status,
      response.header("connection")
    ])
    expect(seen).toEqual([
      [201, "keep-alive"],
      [401, "close"]
    ])
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(1)
  })
})

describe("a body that arrives too slowly", () => {
  const trickle = async (wire: Wire): Promise<void> => {
    const timer = setInterval(() => void wire.send("x"), 20)
    await wire.closed
    clearInterval(timer)
  }

  it("gets a 408 and creates no animal, even if the rest of the body arrives later", async () => {
    const { key, ...server } = await serve({ server: { requestTimeoutMs: 100 } })
    const bytes = request({ key, body: pet("Rex") })
    const wire = await Wire.openAndSend(server.port, bytes.slice(0, -1))
    const response = await wire.response()
    expectError(response, 408, "request_timeout")
    expect(response.header("connection")).toBe("close")
    await wire.send(bytes.slice(-1))
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
    await expectAlive(server)
  })

  it("gets a 408 and creates no animal, even after another request on the same connection", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ pets: gate.pets, server: { requestTimeoutMs: 100 } })
    const bytes = request({ key, body: pet("Rex") })
    const wire = await Wire.openAndSend(server.port, request({ key }) + bytes.slice(0, -1))
    await gate.entered.reaches(1)
    gate.open()
    expect((await wire.response()).status).toBe(200)
    expectError(await wire.response(), 408, "request_timeout")
    await wire.send(bytes.slice(-1))
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
  })

  it("gets a 408, and the connection closes even if bytes still arrive slowly", async () => {
    const { key, ...server } = await serve({ server: { requestTimeoutMs: 100 } })
    const headers = ["Content-Type: application/json", "Content-Length: 1000"]
    const wire = await Wire.openAndSend(server.port, request({ method: "POST", key, headers }))
    const closed = trickle(wire)
    expectError(await wire.response(), 408, "request_timeout")
    await closed
  })

  it("does not keep the connection open if its request was already rejected", async () => {
    const server = await serve({ server: { requestTimeoutMs: 100 } })
    const wire = await Wire.openAndSend(
      server.port,
      request({ method: "POST", headers: ["Content-Length: 1000"] })
    )
    const closed = trickle(wire)
    expectError(await wire.response(), 401, "missing_api_key")
    await closed
  })
})

describe("headers that arrive too slowly", () => {
  it("do not include the last byte of a chunked body, after which the connection stays alive", async () => {
    const { key, ...server } = await serve({ server: { headersTimeoutMs: 50, keepAliveTimeoutMs: 5_000 } })
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
    const wire = await Wire.openAndSend(server.port, request({ key, method: "POST", headers }))
    await sleep(1)
    await wire.send("0\r\n\r")
    await sleep(1)
    await wire.send("\n")
    expect((await wire.response()).status).toBe(400)
    await sleep(300)
    await wire.send(request({ key }))
    expect((await wire.response()).status).toBe(200)
  })

  it("do not include empty lines after a request, after which the connection stays alive", async () => {
    const { key, ...server } = await serve({ server: { headersTimeoutMs: 50, keepAliveTimeoutMs: 5_000 } })
    const wire = await Wire.openAndSend(server.port, `${request({ key, body: pet("Rex") })}\r\n\r\n`)
    expect((await wire.response()).status).toBe(201)
    await sleep(300)
    await wire.send(request({ key }))
    expect((await wire.response()).status).toBe(200)
  })

  it("get a 408, and the connection closes", async () => {
    const server = await serve({ server: { headersTimeoutMs: 100 } })
    const wire = await Wire.openAndSend(server.port, "GET /v1/pets HTTP/1.1\r\nHost: a\r\n")
    const timer = setInterval(() => void wire.send("X: a\r\n"), 20)
    expectError(await wire.response(), 408, "request_timeout")
    await wire.closed
    clearInterval(timer)
  })

  it("get a 408 after the response to an earlier request", async () => {
    const { key, ...server } = await serve({ server: { headersTimeoutMs: 100 } })
    const wire = await Wire.openAndSend(server.port, `${request({ key })}GET /v1/pets HTTP/1.1\r\n`)
    expect((await wire.response()).status).toBe(200)
    expectError(await wire.response(), 408, "request_timeout")
    expect(await wire.rest()).toBe("")
  })

  it("get a 408 only after the slow response to an earlier request", async () => {
    const gate = new Gate()
    const { key, ...server } = await serve({ server: { headersTimeoutMs: 100 }, pets: gate.pets })
    const wire = await Wire.openAndSend(server.port, `${request({ key })}GET /v1/pets HTTP/1.1\r\n`)
    const later = await Wire.openAndSend(server.port, "GET")
    expectError(await later.response(), 408, "request_timeout")
    gate.open()
    expect((await wire.response()).status).toBe(200)
    expectError(await wire.response(), 408, "request_timeout")
  })
})
