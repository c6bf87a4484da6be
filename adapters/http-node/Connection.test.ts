import { Buffer } from "node:buffer"
import { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { Count, expectAlive, expectError, Gate, serve } from "./Server.fixture.ts"
import { answers, pet, request, statuses, Wire } from "./Wire.fixture.ts"

describe("requests sent without waiting for answers", () => {
  it("a thousand are answered in their order, each counted once", async () => {
    const server = await serve()
    const key = await server.issue({ perMinute: 1_000 })
    const bytes = Array.from({ length: 1_000 }, (_, index) =>
      index % 2 === 0
        ? request({ key, body: pet(`pet ${index}`) })
        : request({ key, target: `/v1/pets/${(index + 1) / 2}` })
    )
    const wire = await Wire.sending(server.port, bytes.join(""))
    const received = await answers(wire, 1_000)
    expect(received.map(({ status }) => status)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? 201 : 200))
    )
    expect(received.map((answer) => answer.json())).toEqual(
      Array.from({ length: 1_000 }, (_, index) =>
        expect.objectContaining({ name: `pet ${index - (index % 2)}` })
      )
    )
    expect(received.map((answer) => Number(answer.header("x-ratelimit-remaining")))).toEqual(
      Array.from({ length: 1_000 }, (_, index) => 999 - index)
    )
    await wire.send(request({ key }))
    expectError(await wire.answer(), 429, "rate_limit_exceeded")
  })

  it("a quick answer waits for the slow one before it", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }) + request({ key, target: "/v1/none" }))
    await gate.entered.reaches(1)
    gate.open()
    expect(await statuses(wire, 2)).toEqual([200, 404])
  })

  it("what follows Connection: close is not carried out", async () => {
    const server = await serve()
    const key = await server.issue()
    const last = request({ key, headers: ["Connection: close"] })
    const wire = await Wire.sending(server.port, last + request({ key, body: pet("Rex") }))
    const answer = await wire.answer()
    expect([answer.status, answer.header("connection")]).toEqual([200, "close"])
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
  })

  it("what follows a request that HTTP forbids is not carried out", async () => {
    const server = await serve()
    const key = await server.issue()
    const faulty = "GET /v1/pets HTTP/1.1\r\n\r\n"
    const wire = await Wire.sending(server.port, faulty + request({ key, body: pet("Rex") }))
    expectError(await wire.answer(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
  })
})

describe("bad bytes after good requests", () => {
  const garbage = "garbage\r\n\r\n"

  it("leave the answer before them whole", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }) + garbage)
    expect((await wire.answer()).status).toBe(200)
    expectError(await wire.answer(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
  })

  it("wait for the answer that is still being made", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, body: pet("Rex") }) + garbage)
    await gate.entered.reaches(1)
    await wire.send(garbage)
    gate.open()
    expect((await wire.answer()).status).toBe(201)
    expectError(await wire.answer(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
  })

  it("wait for all answers before them, quick ones behind slow ones", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const quick = request({ key, target: "/v1/none" })
    const wire = await Wire.sending(server.port, request({ key }) + quick.repeat(3) + garbage)
    await gate.entered.reaches(1)
    gate.open()
    expect(await statuses(wire, 5)).toEqual([200, 404, 404, 404, 400])
    expect(await wire.rest()).toBe("")
  })

  it("in a body, too", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
    const broken = `${request({ method: "POST", key, headers })}zz\r\n`
    const wire = await Wire.sending(server.port, request({ key }) + broken)
    await gate.entered.reaches(1)
    gate.open()
    const good = await wire.answer()
    expect(good.status).toBe(200)
    expectError(await wire.answer(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
    // The broken request was not begun, so it cost its key nothing.
    const next = await (await Wire.sending(server.port, request({ key }))).answer()
    expect(Number(next.header("x-ratelimit-remaining"))).toBe(
      Number(good.header("x-ratelimit-remaining")) - 1
    )
  })

  it("in a body that was refused already, get no second answer", async () => {
    const server = await serve()
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
    const wire = await Wire.sending(server.port, request({ method: "POST", headers }))
    expectError(await wire.answer(), 401, "missing_api_key")
    await wire.send("zz\r\n")
    expect(await wire.rest()).toBe("")
  })

  it("after Connection: close get no answer", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, headers: ["Connection: close"] }) + garbage)
    expect((await wire.answer()).status).toBe(200)
    expect(await wire.rest()).toBe("")
  })

  it("are counted once, in however many pieces they come", async () => {
    const server = await serve({ service: { anonymousPlan: { perMinute: 9, perDay: 100 } } })
    const wire = await Wire.sending(server.port, garbage)
    const answer = await wire.answer()
    for (let piece = 0; piece < 5; piece++) await wire.send(garbage)
    expect(await wire.rest()).toBe("")
    expect(answer.header("x-ratelimit-remaining")).toBe("8")
    const next = await (await Wire.sending(server.port, request({}))).answer()
    expect(next.header("x-ratelimit-remaining")).toBe("7")
  })

  it("are counted once while the limits are slow to answer", async () => {
    const gate = new Gate()
    const anonymousPlan = { perMinute: 9, perDay: 100 }
    const server = await serve({ limits: gate.limits, service: { anonymousPlan } })
    const wire = await Wire.sending(server.port, garbage)
    await gate.entered.reaches(1)
    await wire.send(garbage)
    // Whatever the server reads before this request, it has read before the gate opens.
    const next = await Wire.sending(server.port, request({}))
    await gate.entered.reaches(2)
    gate.open()
    expect((await wire.answer()).header("x-ratelimit-remaining")).toBe("8")
    expect(await wire.rest()).toBe("")
    expect((await next.answer()).header("x-ratelimit-remaining")).toBe("7")
  })

  it("after a faulty request do not stop the work on the request before it", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const faulty = "POST /v1/pets HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    const wire = await Wire.sending(server.port, request({ key }) + faulty)
    await gate.entered.reaches(1)
    // Whatever the server reads before this request, it has read before the gate opens.
    expectError(await (await Wire.sending(server.port, request({}))).answer(), 401, "missing_api_key")
    gate.open()
    expect((await wire.answer()).status).toBe(200)
    expectError(await wire.answer(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
  })

  it("leave their sender to send twenty megabytes before it reads", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }) + garbage)
    await gate.entered.reaches(1)
    gate.open()
    for (let sent = 0; sent < 20; sent++) await wire.send(Buffer.alloc(1_000_000, "x"))
    expect((await wire.answer()).status).toBe(200)
    expectError(await wire.answer(), 400, "malformed_request")
  })
})

describe("a client that goes away", () => {
  it("before its answer is made ends the work on its request", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, body: pet("Rex") }))
    await gate.entered.reaches(1)
    wire.abort()
    await gate.interrupted.reaches(1)
    gate.open()
    expect(await server.countPets()).toBe(0)
    await expectAlive(server)
  })

  it("ends the work on all that it asked for, begun or not", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }).repeat(50))
    await gate.entered.reaches(1)
    wire.abort()
    await gate.interrupted.reaches(1)
    gate.open()
    await expectAlive(server)
    expect(gate.entered.value).toBe(1)
  })

  it("within its body leaves nothing behind", async () => {
    const read = new Count()
    const server = await serve({
      pets: (real) => ({
        ...real,
        insert: (newPet) => {
          read.increment()
          return real.insert(newPet)
        }
      })
    })
    const key = await server.issue()
    const wires = await Promise.all(
      Array.from({ length: 20 }, () =>
        Wire.sending(server.port, request({ key, body: pet("Rex") }).slice(0, -1))
      )
    )
    for (const wire of wires) wire.abort()
    const whole = await Wire.sending(server.port, request({ key, body: pet("Rex") }))
    expect((await whole.answer()).json()).toEqual({ id: 1, name: "Rex", categoryId: 1, status: "available" })
    expect(read.value).toBe(1)
  })

  it("while its answer is written does no harm", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wires = await Promise.all(
      Array.from({ length: 20 }, () => Wire.sending(server.port, request({ key }).repeat(20)))
    )
    await gate.entered.reaches(20)
    gate.open()
    for (const wire of wires) wire.abort()
    await expectAlive(server)
  })
})

describe("a body that comes together with its head", () => {
  it("is there before the request is looked at", async () => {
    const server = await serve()
    const key = await server.issue()
    let waited = 0
    const wait = vi.spyOn(IncomingMessage.prototype, "on").mockImplementation(function (
      this: IncomingMessage,
      event,
      listener
    ) {
      if (event === "data") waited++
      return Readable.prototype.on.call(this, event, listener) as IncomingMessage
    })
    onTestFinished(() => wait.mockRestore())
    const wire = await Wire.sending(server.port, request({ key, body: pet("Rex") }))
    expect((await wire.answer()).status).toBe(201)
    expect(waited).toBe(0)
  })

  const padded = (key: string, size: number): string => {
    const withSpaces = (spaces: number) => request({ key, body: pet("Rex") + " ".repeat(spaces) })
    let spaces = size - withSpaces(0).length
    while (withSpaces(spaces).length > size) spaces-- // for the digits of its length
    return withSpaces(spaces)
  }

  // The sizes of whole reads: the end of the connection may be read in the same turn of the loop.
  it.each([1_000, 65_535, 65_536, 65_537, 131_072])(
    "is answered when its sender ends with it, and so is what came before, after %i bytes",
    async (size) => {
      const server = await serve({ service: { maxBodyBytes: 1_000_000 } })
      const key = await server.issue()
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

  it("costs no connection where it did not wait to be asked for", async () => {
    const server = await serve()
    const key = await server.issue()
    const create = { key, body: pet("Rex") }
    const impatient = request({ ...create, headers: ["Expect: 100-continue"] })
    const wire = await Wire.sending(server.port, request(create) + impatient + request(create))
    const seen = (await answers(wire, 4)).map((answer) => [answer.status, answer.header("connection")])
    expect(seen).toEqual([
      [201, "keep-alive"],
      [100, undefined],
      [201, "keep-alive"],
      [201, "keep-alive"]
    ])
  })

  it("is not taken after an answer that announced the end", async () => {
    const server = await serve()
    const key = await server.issue()
    const create = request({ key, body: pet("Rex") })
    const refused = request({ key: "wrong", body: pet("Rex"), headers: ["Expect: 100-continue"] })
    const wire = await Wire.sending(server.port, create + refused + create)
    const seen = (await answers(wire, 2)).map((answer) => [answer.status, answer.header("connection")])
    expect(seen).toEqual([
      [201, "keep-alive"],
      [401, "close"]
    ])
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(1)
  })
})

describe("a body that arrives too slowly", () => {
  const trickling = async (wire: Wire): Promise<void> => {
    const timer = setInterval(() => void wire.send("x"), 20)
    await wire.closed
    clearInterval(timer)
  }

  it("is answered with 408, and not carried out when it is completed after all", async () => {
    const server = await serve({ server: { requestTimeoutMs: 100 } })
    const key = await server.issue()
    const bytes = request({ key, body: pet("Rex") })
    const wire = await Wire.sending(server.port, bytes.slice(0, -1))
    const answer = await wire.answer()
    expectError(answer, 408, "request_timeout")
    expect(answer.header("connection")).toBe("close")
    await wire.send(bytes.slice(-1))
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
    await expectAlive(server)
  })

  it("behind another request is answered with 408, and not carried out after all", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets, server: { requestTimeoutMs: 100 } })
    const key = await server.issue()
    const bytes = request({ key, body: pet("Rex") })
    const wire = await Wire.sending(server.port, request({ key }) + bytes.slice(0, -1))
    await gate.entered.reaches(1)
    gate.open()
    expect((await wire.answer()).status).toBe(200)
    expectError(await wire.answer(), 408, "request_timeout")
    await wire.send(bytes.slice(-1))
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
  })

  it("byte by byte is answered with 408 and then cut", async () => {
    const server = await serve({ server: { requestTimeoutMs: 100 } })
    const key = await server.issue()
    const headers = ["Content-Type: application/json", "Content-Length: 1000"]
    const wire = await Wire.sending(server.port, request({ method: "POST", key, headers }))
    const cut = trickling(wire)
    expectError(await wire.answer(), 408, "request_timeout")
    await cut
  })

  it("after its request was refused ends the connection", async () => {
    const server = await serve({ server: { requestTimeoutMs: 100 } })
    const wire = await Wire.sending(
      server.port,
      request({ method: "POST", headers: ["Content-Length: 1000"] })
    )
    const cut = trickling(wire)
    expectError(await wire.answer(), 401, "missing_api_key")
    await cut
  })
})

describe("headers that arrive too slowly", () => {
  it("are answered with 408", async () => {
    const server = await serve({ server: { headersTimeoutMs: 100 } })
    const wire = await Wire.sending(server.port, "GET /v1/pets HTTP/1.1\r\nHost: a\r\n")
    const timer = setInterval(() => void wire.send("X: a\r\n"), 20)
    expectError(await wire.answer(), 408, "request_timeout")
    await wire.closed
    clearInterval(timer)
  })

  it("after an answered request are answered with 408", async () => {
    const server = await serve({ server: { headersTimeoutMs: 100 } })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, `${request({ key })}GET /v1/pets HTTP/1.1\r\n`)
    expect((await wire.answer()).status).toBe(200)
    expectError(await wire.answer(), 408, "request_timeout")
    expect(await wire.rest()).toBe("")
  })

  it("do not hurry the answer before them", async () => {
    const gate = new Gate()
    const server = await serve({ server: { headersTimeoutMs: 100 }, pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, `${request({ key })}GET /v1/pets HTTP/1.1\r\n`)
    const other = await Wire.sending(server.port, "GET")
    expectError(await other.answer(), 408, "request_timeout")
    gate.open()
    expect((await wire.answer()).status).toBe(200)
    expectError(await wire.answer(), 408, "request_timeout")
  })
})
