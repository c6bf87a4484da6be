import { Buffer } from "node:buffer"
import * as Http from "node:http"
import { type AddressInfo, Socket } from "node:net"
import { TLSSocket } from "node:tls"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { Service } from "../../core/service/Service.ts"
import { ByteBudget } from "./ByteBudget.ts"
import * as NodeListener from "./NodeListener.ts"
import { NodeRequest } from "./NodeRequest.ts"
import { Count, expectAlive, expectError, Gate, openService, serve } from "./Server.fixture.ts"
import { pet, request, Wire } from "./Wire.fixture.ts"

/** Starts a plain `node:http` server with a listener, and returns its address. */
const startHost = async (
  listener: NodeListener.NodeListener,
  options: Http.ServerOptions = {}
): Promise<{ readonly port: number }> => {
  const server = Http.createServer(options, listener)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  // A server that listens on a TCP port has an `AddressInfo`.
  return server.address() as AddressInfo
}

const json = "Content-Type: application/json"

describe("the scheme of a request", () => {
  it("is https if the host itself terminates TLS, otherwise http", () => {
    const schemeOf = (socket: Socket) => {
      const request = new Http.IncomingMessage(socket)
      return new NodeRequest(request, new Http.ServerResponse(request), new ByteBudget(1), undefined).scheme
    }
    expect(schemeOf(new Socket())).toBe("http")
    expect(schemeOf(new TLSSocket(new Socket()))).toBe("https")
  })
})

describe("a body", () => {
  it("gets a 413 at the first byte above the limit if it has no Content-Length", async () => {
    const server = await serve({ service: { maxBodyBytes: 1_000 } })
    const key = await server.issue()
    const start = request({ method: "POST", key, headers: [json, "Transfer-Encoding: chunked"] })
    const wire = await Wire.openAndSend(server.port, `${start}3e8\r\n${" ".repeat(1_000)}\r\n`)
    await expectAlive(server)
    await wire.send("1\r\n \r\n")
    expectError(await wire.response(), 413, "payload_too_large")
    await wire.send(`0\r\n\r\n${request({ key })}`)
    expect((await wire.response()).status).toBe(200)
  })

  it("is accepted up to the maximum size, and gets a 413 if it is one byte longer", async () => {
    const body = pet("Rex")
    const server = await serve({ service: { maxBodyBytes: body.length } })
    const key = await server.issue()
    const wire = await Wire.openAndSend(
      server.port,
      request({ key, body }) + request({ key, body: `${body} ` })
    )
    expect((await wire.response()).status).toBe(201)
    expectError(await wire.response(), 413, "payload_too_large")
  })

  it("is parsed correctly even if it arrives byte by byte", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.open(server.port)
    for (const byte of Buffer.from(request({ key, body: pet("Rex") }))) await wire.send(Uint8Array.of(byte))
    expect((await wire.response()).json()).toEqual({ id: 1, name: "Rex", categoryId: 1, status: "available" })
  })

  it("is ignored if the method is GET", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.openAndSend(
      server.port,
      request({ method: "GET", key, body: pet("Rex") }) + request({ key })
    )
    expect((await wire.response()).body).toBe("[]")
    expect((await wire.response()).body).toBe("[]")
  })
})

describe("Expect: 100-continue", () => {
  const body = pet("Rex")
  const expecting = (options: {
    readonly key?: string
    readonly type?: string
    readonly version?: string
  }): string =>
    request({
      method: "POST",
      ...(options.key === undefined ? {} : { key: options.key }),
      version: options.version ?? "1.1",
      headers: [
        `Content-Type: ${options.type ?? "application/json"}`,
        "Content-Length: 29",
        "Expect: 100-continue"
      ]
    })

  it("gets a 100 before the body is sent, and the connection stays alive", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.openAndSend(server.port, expecting({ key }))
    expect((await wire.response()).status).toBe(100)
    await wire.send(body)
    expect((await wire.response()).status).toBe(201)
    await wire.send(request({ key }))
    expect((await wire.response()).status).toBe(200)
  })

  it("gets a 100 only after the responses to earlier requests", async () => {
    const gate = new Gate()
    const server = await serve({ pets: gate.pets })
    const key = await server.issue()
    const wire = await Wire.openAndSend(server.port, request({ key }) + expecting({ key }))
    await gate.entered.reaches(1)
    gate.open()
    expect((await wire.response()).status).toBe(200)
    expect((await wire.response()).status).toBe(100)
    await wire.send(body)
    expect((await wire.response()).status).toBe(201)
  })

  it("gets a 401 instead of a 100 if the key is missing, and the connection closes", async () => {
    const server = await serve()
    const wire = await Wire.openAndSend(server.port, expecting({}))
    const response = await wire.response()
    expectError(response, 401, "missing_api_key")
    expect(response.header("connection")).toBe("close")
    expect(await wire.rest()).toBe("")
  })

  it("gets a 415 instead of a 100 if the content type is wrong, and the connection closes", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.openAndSend(server.port, expecting({ key, type: "text/plain" }))
    expectError(await wire.response(), 415, "unsupported_media_type")
    expect(await wire.rest()).toBe("")
  })

  it("gets a 413 instead of a 100 if Content-Length exceeds the limit, and the connection closes", async () => {
    const server = await serve({ service: { maxBodyBytes: 28 } })
    const key = await server.issue()
    const wire = await Wire.openAndSend(server.port, expecting({ key }))
    expectError(await wire.response(), 413, "payload_too_large")
    expect(await wire.rest()).toBe("")
    const anonymous = await Wire.openAndSend(server.port, expecting({}))
    expectError(await anonymous.response(), 401, "missing_api_key")
  })

  it("is ignored in HTTP/1.0 (RFC 9110 §10.1.1)", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.openAndSend(server.port, expecting({ key, version: "1.0" }) + body)
    expect((await wire.response()).status).toBe(201)
  })

  it("gets only one 100 from a plain node:http server, which sends it automatically", async () => {
    const service = await openService()
    const key = await service.issue()
    const server = await startHost(await service.listener())
    const wire = await Wire.openAndSend(server.port, expecting({ key }))
    expect((await wire.response()).status).toBe(100)
    await wire.send(body)
    expect((await wire.response()).status).toBe(201)
  })

  it("is the only supported expectation; any other expectation is ignored", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.openAndSend(
      server.port,
      request({ key, body, headers: ["Expect: the unexpected"] })
    )
    expect((await wire.response()).status).toBe(201)
    await wire.send(request({ key }))
    expect((await wire.response()).status).toBe(200)
  })
})

describe("client-supplied headers", () => {
  it("Host, an absolute target and X-Forwarded-Host never change the links in responses", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.openAndSend(
      server.port,
      request({ key, body: pet("a") }) + request({ key, body: pet("b") })
    )
    for (let count = 0; count < 2; count++) {
      const created = await wire.response()
      expect(created.header("location")).toMatch(/^\/v1\/pets\/[12]$/)
    }
    const headers = ["X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"]
    await wire.send(request({ key, target: "http://evil.example/v1/pets?limit=1", headers }))
    const list = await wire.response()
    expect(list.status).toBe(200)
    expect(list.header("link")).toMatch(/^<\/v1\/pets\?limit=1&cursor=[\w-]+>; rel="next"$/)
  })

  it("X-Forwarded-For and Forwarded do not change which rate limit applies", async () => {
    const server = await serve({ service: { anonymousPlan: { perMinute: 9, perDay: 100 } } })
    const wire = await Wire.open(server.port)
    for (let remaining = 8; remaining > 4; remaining--) {
      const address = `10.0.0.${remaining}`
      await wire.send(request({ headers: [`X-Forwarded-For: ${address}`, `Forwarded: for=${address}`] }))
      expect((await wire.response()).header("x-ratelimit-remaining")).toBe(String(remaining))
    }
  })

  it("a request with two Authorization headers gets a 401", async () => {
    const server = await serve()
    const key = await server.issue()
    const wire = await Wire.openAndSend(
      server.port,
      request({ key, headers: [`Authorization: Bearer ${key}`] })
    )
    expectError(await wire.response(), 401, "invalid_api_key")
  })
})

describe("the listener in a host's own server", () => {
  it("interrupts the requests from a client that disconnects", async () => {
    const gate = new Gate()
    const service = await openService({ pets: gate.pets })
    const key = await service.issue()
    const server = await startHost(await service.listener())
    const wire = await Wire.openAndSend(server.port, request({ key }).repeat(3))
    await gate.entered.reaches(3)
    wire.abort()
    await gate.interrupted.reaches(3)
  })

  it("does not handle a request after its client has disconnected", async () => {
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
    const server = await startHost((incoming, response) => {
      response.once("close", () => {
        listener(incoming, response)
        passedOn.increment()
      })
      arrived.increment()
    })
    const wire = await Wire.openAndSend(server.port, request({ key }))
    await arrived.reaches(1)
    wire.abort()
    await passedOn.reaches(1)
    expect(pages.value).toBe(0)
  })

  it("sends nothing if the host has already sent a response", async () => {
    const gate = new Gate()
    const service = await openService({ pets: gate.pets })
    const key = await service.issue()
    const listener = await service.listener()
    const server = await startHost((incoming, response) => {
      listener(incoming, response)
      response.writeHead(503, { "Content-Length": 4 }).write("ho")
      void gate.passed.reaches(1).then(() => response.end("st"))
    })
    const wire = await Wire.openAndSend(server.port, request({ key }))
    await gate.entered.reaches(1)
    gate.open()
    const response = await wire.response()
    expect([response.status, response.body]).toEqual([503, "host"])
  })

  it("writes no body to a response that cannot have one, because the host may reject it", async () => {
    const service = await openService()
    const server = await startHost(await service.listener(), { rejectNonStandardBodyWrites: true })
    const key = await service.issue()
    const pending = ["Content-Length: 5"]
    const wire = await Wire.openAndSend(server.port, request({ key, method: "HEAD" }))
    expect((await wire.response({ head: true })).status).toBe(200)
    await wire.send(request({ method: "HEAD", headers: pending }))
    await wire.send("hello")
    expect((await wire.response({ head: true })).status).toBe(401)
    await wire.send(request({ key, method: "OPTIONS", headers: pending }))
    await wire.send("hello")
    expect((await wire.response()).status).toBe(204)
    await wire.send(request({ key }))
    expect((await wire.response()).body).toBe("[]")
  })

  it("closes the connection when the service fails with a defect", async () => {
    const broken = Service.of({
      handle: () => Effect.die("broken"),
      admit: () => Effect.die("broken"),
      transportError: () => Effect.die("broken"),
      drain: Effect.void,
      isDraining: () => false,
      isBehindProxy: false
    })
    const listener = await Effect.runPromise(Effect.provideService(NodeListener.make, Service, broken))
    const server = await startHost(listener)
    const wire = await Wire.openAndSend(server.port, request({}))
    expect(await wire.rest()).toBe("")
  })

  it("returns 500 when the host has already read the body", async () => {
    const service = await openService()
    const key = await service.issue()
    const listener = await service.listener()
    const server = await startHost((incoming, response) => {
      incoming.resume().once("end", () => listener(incoming, response))
    })
    const wire = await Wire.openAndSend(server.port, request({ key, body: pet("Rex") }))
    const response = await wire.response()
    expectError(response, 500, "internal_error")
    expect(response.body).toContain("before any body parser")
  })

  it("closes a connection after the next response once the service is draining", async () => {
    const service = await openService()
    const key = await service.issue()
    const server = await startHost(await service.listener())
    const wire = await Wire.openAndSend(server.port, request({ key }))
    expect((await wire.response()).header("connection")).toBe("keep-alive")
    await service.run(Service.use(({ drain }) => drain))
    await wire.send(request({ key }))
    const response = await wire.response()
    expect([response.status, response.header("connection")]).toEqual([200, "close"])
    expect(await wire.rest()).toBe("")
  })

  it("leaves no event listeners on the socket after a response", async () => {
    const service = await openService()
    const key = await service.issue()
    const listener = await service.listener()
    const counts: Array<number> = []
    const server = await startHost((incoming, response) => {
      const { socket } = incoming
      counts.push(socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0))
      listener(incoming, response)
    })
    const wire = await Wire.open(server.port)
    for (let index = 0; index < 20; index++) {
      await wire.send(index % 2 === 0 ? request({ key, body: pet("Rex") }) : request({ body: pet("Rex") }))
      await wire.response()
    }
    expect(new Set(counts.slice(1)).size).toBe(1)
  })
})
