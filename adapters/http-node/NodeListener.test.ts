import { Buffer } from "node:buffer"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { Service } from "../../core/service/Service.ts"
import * as NodeListener from "./NodeListener.ts"
import { Count, expectAlive, expectError, Gate, openService, serve } from "./Server.fixture.ts"
import { pet, request, Wire } from "./Wire.fixture.ts"

/** A plain `node:http` server around a listener. */
const host = async (listener: NodeListener.NodeListener): Promise<{ readonly port: number }> => {
  const server = Http.createServer(listener)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  // A server that listens on a port has an address of this form.
  return server.address() as AddressInfo
}

const json = "Content-Type: application/json"

describe("a body", () => {
  it("without a length is refused at the byte above the limit", async () => {
    const server = await serve({ service: { maxBodyBytes: 1_000 } })
    const key = await server.issue()
    const start = request({ method: "POST", key, headers: [json, "Transfer-Encoding: chunked"] })
    const wire = await Wire.sending(server.port, `${start}3e8\r\n${" ".repeat(1_000)}\r\n`)
    await expectAlive(server)
    await wire.send("1\r\n \r\n")
    expectError(await wire.answer(), 413, "payload_too_large")
    await wire.send(`0\r\n\r\n${request({ key })}`)
    expect((await wire.answer()).status).toBe(200)
  })

  it("of exactly the limit is accepted, one byte more is not", async () => {
    const body = pet("Rex")
    const server = await serve({ service: { maxBodyBytes: body.length } })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, body }) + request({ key, body: `${body} ` }))
    expect((await wire.answer()).status).toBe(201)
    expectError(await wire.answer(), 413, "payload_too_large")
  })

  it("is the same in one piece and byte by byte", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.open(server.port)
    for (const byte of Buffer.from(request({ key, body: pet("Rex") }))) await wire.send(Uint8Array.of(byte))
    expect((await wire.answer()).json()).toEqual({ id: 1, name: "Rex", categoryId: 1, status: "available" })
  })

  it("of a GET request is skipped", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(
      server.port,
      request({ method: "GET", key, body: pet("Rex") }) + request({ key })
    )
    expect((await wire.answer()).body).toBe("[]")
    expect((await wire.answer()).body).toBe("[]")
  })
})

describe("Expect: 100-continue", () => {
  const body = pet("Rex")
  const expecting = (more: {
    readonly key?: string
    readonly type?: string
    readonly version?: string
  }): string =>
    request({
      method: "POST",
      ...(more.key === undefined ? {} : { key: more.key }),
      version: more.version ?? "1.1",
      headers: [
        `Content-Type: ${more.type ?? "application/json"}`,
        "Content-Length: 29",
        "Expect: 100-continue"
      ]
    })

  it("is granted before a body is read, and leaves the connection usable", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(server.port, expecting({ key }))
    expect((await wire.answer()).status).toBe(100)
    await wire.send(body)
    expect((await wire.answer()).status).toBe(201)
    await wire.send(request({ key }))
    expect((await wire.answer()).status).toBe(200)
  })

  it("is granted in turn", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key }) + expecting({ key }))
    await gate.entered.reaches(1)
    gate.open()
    expect((await wire.answer()).status).toBe(200)
    expect((await wire.answer()).status).toBe(100)
    await wire.send(body)
    expect((await wire.answer()).status).toBe(201)
  })

  it("is not granted to a caller without a key, and the connection ends", async () => {
    const server = await serve()
    const wire = await Wire.sending(server.port, expecting({}))
    const answer = await wire.answer()
    expectError(answer, 401, "missing_api_key")
    expect(answer.header("connection")).toBe("close")
    expect(await wire.rest()).toBe("")
  })

  it("is not granted for a body of the wrong type, and the connection ends", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(server.port, expecting({ key, type: "text/plain" }))
    expectError(await wire.answer(), 415, "unsupported_media_type")
    expect(await wire.rest()).toBe("")
  })

  it("is not granted for a body that is declared too long, and the connection ends", async () => {
    const server = await serve({ service: { maxBodyBytes: 28 } })
    const key = await server.issue()
    const wire = await Wire.sending(server.port, expecting({ key }))
    expectError(await wire.answer(), 413, "payload_too_large")
    expect(await wire.rest()).toBe("")
    const stranger = await Wire.sending(server.port, expecting({}))
    expectError(await stranger.answer(), 401, "missing_api_key")
  })

  it("is ignored in HTTP/1.0 (RFC 9110 §10.1.1)", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(server.port, expecting({ key, version: "1.0" }) + body)
    expect((await wire.answer()).status).toBe(201)
  })

  it("is granted once under a plain server, which grants it by itself", async () => {
    const service = await openService()
    const key = await service.issue()
    const server = await host(await service.listener())
    const wire = await Wire.sending(server.port, expecting({ key }))
    expect((await wire.answer()).status).toBe(100)
    await wire.send(body)
    expect((await wire.answer()).status).toBe(201)
  })

  it("is the only expectation: others are ignored", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, body, headers: ["Expect: the unexpected"] }))
    expect((await wire.answer()).status).toBe(201)
    await wire.send(request({ key }))
    expect((await wire.answer()).status).toBe(200)
  })
})

describe("the framing of an answer", () => {
  it("HEAD has the length of GET and no body", async () => {
    const server = await serve()
    const key = await server.issue()
    await (await Wire.sending(server.port, request({ key, body: pet("Rêx 🦖") }))).answer()
    for (const target of ["/v1/pets", "/v1/pets/1", "/v1/none", "/livez"]) {
      const wire = await Wire.sending(
        server.port,
        request({ method: "HEAD", target, key }) + request({ target, key })
      )
      const head = await wire.answer({ head: true })
      const get = await wire.answer()
      expect([head.status, head.header("content-length")], target).toEqual([
        get.status,
        String(Buffer.byteLength(get.body))
      ])
    }
  })

  it("204 has neither a length nor a body", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ method: "OPTIONS", key }) + request({ key }))
    const options = await wire.answer()
    expect([options.status, options.header("content-length"), options.header("transfer-encoding")]).toEqual([
      204,
      undefined,
      undefined
    ])
    expect((await wire.answer()).body).toBe("[]")
  })
})

describe("what a client says about itself", () => {
  it("never shows in links: neither Host, nor an absolute target, nor X-Forwarded-Host", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(
      server.port,
      request({ key, body: pet("a") }) + request({ key, body: pet("b") })
    )
    for (let count = 0; count < 2; count++) {
      const created = await wire.answer()
      expect(created.header("location")).toMatch(/^\/v1\/pets\/[12]$/)
    }
    const headers = ["X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"]
    await wire.send(request({ key, target: "http://evil.example/v1/pets?limit=1", headers }))
    const list = await wire.answer()
    expect(list.status).toBe(200)
    expect(list.header("link")).toMatch(/^<\/v1\/pets\?limit=1&cursor=[\w-]+>; rel="next"$/)
  })

  it("does not change for whom it is counted", async () => {
    const server = await serve({ service: { anonymousPlan: { perMinute: 9, perDay: 100 } } })
    const wire = await Wire.open(server.port)
    for (let remaining = 8; remaining > 4; remaining--) {
      const address = `10.0.0.${remaining}`
      await wire.send(request({ headers: [`X-Forwarded-For: ${address}`, `Forwarded: for=${address}`] }))
      expect((await wire.answer()).header("x-ratelimit-remaining")).toBe(String(remaining))
    }
  })

  it("a second Authorization is not overlooked", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.sending(server.port, request({ key, headers: [`Authorization: Bearer ${key}`] }))
    expectError(await wire.answer(), 401, "invalid_api_key")
  })
})

describe("the listener in a server of the host's own", () => {
  it("ends its work when the client goes away", async () => {
    const gate = new Gate()
    const service = await openService({ pets: gate.pets })
    const key = await service.issue()
    const server = await host(await service.listener())
    const wire = await Wire.sending(server.port, request({ key }).repeat(3))
    await gate.entered.reaches(3)
    wire.abort()
    await gate.interrupted.reaches(3)
  })

  it("begins nothing for a client that went away before", async () => {
    const pages = new Count()
    const service = await openService({
      pets: (real) => ({
        ...real,
        page: (query) => {
          pages.increment()
          return real.page(query)
        }
      })
    })
    const key = await service.issue()
    const listener = await service.listener()
    const arrived = new Count()
    const passedOn = new Count()
    const server = await host((incoming, response) => {
      response.once("close", () => {
        listener(incoming, response)
        passedOn.increment()
      })
      arrived.increment()
    })
    const wire = await Wire.sending(server.port, request({ key }))
    await arrived.reaches(1)
    wire.abort()
    await passedOn.reaches(1)
    expect(pages.value).toBe(0)
  })

  it("gives way when the host has answered in the meantime", async () => {
    const gate = new Gate()
    const service = await openService({ pets: gate.pets })
    const key = await service.issue()
    const listener = await service.listener()
    const server = await host((incoming, response) => {
      listener(incoming, response)
      response.writeHead(503, { "Content-Length": 4 }).write("ho")
      void gate.passed.reaches(1).then(() => response.end("st"))
    })
    const wire = await Wire.sending(server.port, request({ key }))
    await gate.entered.reaches(1)
    gate.open()
    const answer = await wire.answer()
    expect([answer.status, answer.body]).toEqual([503, "host"])
  })

  it("cuts the connection when the service itself fails, rather than hang", async () => {
    const broken = Service.of({
      handle: () => Effect.die("broken"),
      transportError: () => Effect.die("broken"),
      drain: Effect.void,
      isDraining: () => false
    })
    const listener = await Effect.runPromise(Effect.provideService(NodeListener.make, Service, broken))
    const server = await host(listener)
    const wire = await Wire.sending(server.port, request({}))
    expect(await wire.rest()).toBe("")
  })

  it("does not hang when the host has read the body", async () => {
    const service = await openService()
    const key = await service.issue()
    const listener = await service.listener()
    const server = await host((incoming, response) => {
      incoming.resume().once("end", () => listener(incoming, response))
    })
    const wire = await Wire.sending(server.port, request({ key, body: pet("Rex") }))
    const answer = await wire.answer()
    expectError(answer, 500, "internal_error")
    expect(answer.body).toContain("before any body parser")
  })

  it("closes each connection after its response once the service drains", async () => {
    const service = await openService()
    const key = await service.issue()
    const server = await host(await service.listener())
    const wire = await Wire.sending(server.port, request({ key }))
    expect((await wire.answer()).header("connection")).toBe("keep-alive")
    await service.run(Service.use(({ drain }) => drain))
    await wire.send(request({ key }))
    const answer = await wire.answer()
    expect([answer.status, answer.header("connection")]).toEqual([200, "close"])
    expect(await wire.rest()).toBe("")
  })

  it("leaves no listeners behind on a connection", async () => {
    const service = await openService()
    const key = await service.issue()
    const listener = await service.listener()
    const counts: Array<number> = []
    const server = await host((incoming, response) => {
      const { socket } = incoming
      counts.push(socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0))
      listener(incoming, response)
    })
    const wire = await Wire.open(server.port)
    for (let index = 0; index < 20; index++) {
      await wire.send(index % 2 === 0 ? request({ key, body: pet("Rex") }) : request({ body: pet("Rex") }))
      await wire.answer()
    }
    expect(new Set(counts.slice(1)).size).toBe(1)
  })
})
