import type { Socket } from "node:net"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureOf, plain, serve } from "./RawServer.fixture.ts"
import { bytes, text } from "./Wire.ts"

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

const run = Effect.runPromise

describe("NodeTransport", () => {
  it.each([
    "/v1/pets?limit=%zz&status=a%20b",
    "/v1//pets/../pets",
    "/v1/pets/%2e%2e/x",
    "/v1/pets?",
    "/V1/Pets/",
    "//evil.example/pets",
    "/v1/pets?q=[]{}|^`'\"",
    "/v1/pets#x",
    "*"
  ])("sends the target %s unchanged", async (target) => {
    const { received, transport, url } = await serve(() => OK)
    await run(transport({ ...plain, target }))
    expect(received[0]?.split("\r\n")[0]).toBe(`GET ${target} HTTP/1.1`)
    expect(received[0]).toContain(`\r\nHost: ${url.host}\r\n`)
  })

  it("sends headers in the given order and letter case, including repeated headers", async () => {
    const { received, transport } = await serve(() => OK)
    await run(
      transport({
        ...plain,
        headers: [
          ["Authorization", "Bearer one"],
          ["x-ODD-case", "  inner  spaces"],
          ["authorization", "Bearer two"],
          ["X-Empty", ""],
          ["X-Latin", "caf\u00e9"]
        ]
      })
    )
    const lines = received[0]?.split("\r\n") ?? []
    const from = lines.indexOf("Authorization: Bearer one")
    expect(from).toBeGreaterThan(0)
    expect(lines.slice(from, from + 5)).toEqual([
      "Authorization: Bearer one",
      "x-ODD-case:   inner  spaces",
      "authorization: Bearer two",
      "X-Empty: ",
      "X-Latin: caf\u00e9"
    ])
  })

  it("sends only the headers Host and Connection with a GET without headers", async () => {
    const { received, transport } = await serve(() => OK)
    await run(transport(plain))
    const names = (received[0]?.split("\r\n").slice(1) ?? []).flatMap((line) =>
      line === "" ? [] : [line.split(":")[0]?.toLowerCase()]
    )
    expect(names.toSorted()).toEqual(["connection", "host"])
  })

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get", "Post"])(
    "sends the method %s and the body, byte for byte",
    async (method) => {
      const { received, transport } = await serve(() => OK)
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (body) => {
          const before = received.map((data) => data.length)
          await run(transport({ ...plain, method, body }))
          const sent = received.map((data, index) => data.slice(before[index] ?? 0)).join("")
          expect(sent.startsWith(`${method} `)).toBe(true)
          expect(sent.match(/\r\nContent-Length: (\d+)\r\n/)?.[1]).toBe(String(body.length))
          expect(sent.slice(sent.indexOf("\r\n\r\n") + 4)).toBe(Buffer.from(body).toString("latin1"))
        }),
        { numRuns: 15 }
      )
    }
  )

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE"])(
    "sends no body with the method %s if no body is given",
    async (method) => {
      const { received, transport } = await serve(() => OK)
      await run(transport({ ...plain, method }))
      const [head = "", body] = received[0]?.split("\r\n\r\n") ?? []
      expect(body).toBe("")
      expect(head.toLowerCase()).not.toContain("transfer-encoding")
    }
  )

  it("reuses an open connection, and opens another after a close or for a concurrent request", async () => {
    const persistent = await serve(() => OK)
    for (let index = 0; index < 5; index++) await run(persistent.transport(plain))
    expect(persistent.received).toHaveLength(1)
    const closed = await serve((_request, socket) => {
      socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
      return undefined
    })
    for (let index = 0; index < 3; index++) await run(closed.transport(plain))
    expect(closed.received).toHaveLength(3)
    const many: Array<Socket> = []
    const parallel = await serve((_request, socket) => {
      many.push(socket)
      if (many.length === 12) for (const socket of many) socket.write(OK)
      return undefined
    })
    await run(
      Effect.all(
        Array.from({ length: 12 }, () => parallel.transport(plain)),
        { concurrency: 12 }
      )
    )
    expect(parallel.received).toHaveLength(12)
  })

  it("closes its connection when the scope closes", async () => {
    const { close, openConnections, transport } = await serve(() => OK)
    await run(transport(plain))
    expect(openConnections()).toBe(1)
    await close()
    await expect.poll(openConnections).toBe(0)
  })
})

describe("NodeTransport with a complete response", () => {
  it("returns status, headers and bytes as received, including letter case and repeated headers", async () => {
    const { transport } = await serve(
      () =>
        "HTTP/1.1 429 Slow Down\r\nx-ratelimit-LIMIT: 5\r\nX-RateLimit-Limit: 6\r\nX-Empty:\r\nContent-Length: 3\r\n\r\n\xff\x00a"
    )
    expect(await run(transport(plain))).toEqual({
      status: 429,
      headers: [
        ["x-ratelimit-LIMIT", "5"],
        ["X-RateLimit-Limit", "6"],
        ["X-Empty", ""],
        ["Content-Length", "3"]
      ],
      body: new Uint8Array([0xff, 0, 0x61])
    })
  })

  it("returns responses that are chunked, end with the connection, follow interim responses or have no body", async () => {
    const chunked = await serve(
      () => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    )
    expect(text((await run(chunked.transport(plain))).body)).toBe("abc")
    const ended = await serve((_request, socket) => {
      socket.end(`HTTP/1.1 200 OK\r\n\r\n${"abc".repeat(50_000)}`)
      return undefined
    })
    expect((await run(ended.transport(plain))).body).toHaveLength(150_000)
    const hinted = await serve(() => `HTTP/1.1 103 Early Hints\r\n\r\n${OK}`)
    expect((await run(hinted.transport(plain))).status).toBe(200)
    const empty = await serve(() => "HTTP/1.1 204 No Content\r\n\r\n")
    expect((await run(empty.transport(plain))).status).toBe(204)
    const head = await serve(() => "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
    for (let index = 0; index < 2; index++) {
      const { body, headers } = await run(head.transport({ ...plain, method: "HEAD" }))
      expect(body).toHaveLength(0)
      expect(headers).toContainEqual(["Content-Length", "500"])
    }
    expect(head.received).toHaveLength(1)
  })
})

describe("NodeTransport without a complete response", () => {
  it("fails with NoResponse at the timeout, and closes the connection", async () => {
    const { openConnections, transport } = await serve(() => undefined, 60)
    expect(await failureOf(transport)).toMatchObject({
      _tag: "NoResponse",
      kind: "timeout",
      reason: "no complete response within 60 ms",
      hasBegun: false
    })
    await expect.poll(openConnections).toBe(0)
  })

  it("fails with NoResponse when no server listens", async () => {
    const { stop, transport, url } = await serve(() => OK)
    await stop()
    const failure = await failureOf(transport)
    expect(failure).toMatchObject({ _tag: "NoResponse", kind: "connection" })
    expect(failure.reason).toContain(`ECONNREFUSED ${url.host}`)
  })

  it.each([
    ["closed immediately", (socket: Socket) => void socket.end()],
    ["reset immediately", (socket: Socket) => void socket.resetAndDestroy()],
    [
      "reset during the body",
      (socket: Socket) =>
        void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", () => socket.resetAndDestroy())
    ],
    [
      "closed during a chunk",
      (socket: Socket) => void socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc")
    ],
    ["closed during the headers", (socket: Socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-")],
    ["used for another protocol", (socket: Socket) => void socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
    [
      "closed after a response with two lengths",
      (socket: Socket) =>
        void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")
    ],
    [
      "switched to a protocol that was not requested",
      (socket: Socket) =>
        void socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
    ]
  ])("fails with NoResponse when the connection is %s", async (_what, endConnection) => {
    const { transport } = await serve((_request, socket) => {
      endConnection(socket)
      return undefined
    }, 60_000)
    const failure = await failureOf(transport)
    expect(failure).toMatchObject({ _tag: "NoResponse", kind: "connection" })
    expect(failure.reason).not.toBe("")
  })

  it("fails with NoResponse for the method CONNECT, even if the server sends 200", async () => {
    const { transport } = await serve(() => OK, 500)
    expect((await failureOf(transport, { ...plain, method: "CONNECT" }))._tag).toBe("NoResponse")
  })

  it("succeeds again for the next request", async () => {
    let count = 0
    const { transport } = await serve((_request, socket) => {
      if (count++ > 0) return OK
      socket.resetAndDestroy()
      return undefined
    })
    await failureOf(transport)
    expect((await run(transport(plain))).status).toBe(200)
  })
})

describe("a request that NodeTransport cannot send", () => {
  it.each([
    ["target", { ...plain, target: "/a b" }],
    ["header", { ...plain, headers: [["X-A", "a\r\nX-B: b"]] as const }],
    ["header name", { ...plain, headers: [["X A", "a"]] as const }],
    ["method", { ...plain, method: "G ET" }]
  ])("is not sent, and says so, if its %s is invalid", async (_what, request) => {
    const { received, transport } = await serve(() => OK, 20)
    expect((await failureOf(transport, request)).kind).toBe("unsent")
    // Waits longer than the timeout, in case a timer is still active.
    await run(Effect.sleep(40))
    expect(received.join("")).toBe("")
  })
})

describe("an interrupted request of NodeTransport", () => {
  it("closes its connection", async () => {
    const { openConnections, received, transport } = await serve(() => undefined)
    const fiber = Effect.runFork(transport({ ...plain, body: bytes("x") }))
    await expect.poll(() => received.length).toBe(1)
    await run(Fiber.interrupt(fiber))
    await expect.poll(openConnections).toBe(0)
  })
})
