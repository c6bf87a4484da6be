import { Buffer } from "node:buffer"
import { describe, expect, it } from "vitest"
import { expectAlive, expectError, serve } from "./Server.fixture.ts"
import { pet, request, Wire } from "./Wire.fixture.ts"

/** Sends bytes and expects exactly one error response, a closed connection and a live server. */
const expectRejection = async (bytes: string | Uint8Array, status: number, code: string): Promise<void> => {
  const server = await serve()
  const wire = await Wire.openAndSend(server.port, bytes)
  const response = await wire.response()
  expectError(response, status, code)
  expect(response.header("connection")).toBe("close")
  expect(await wire.rest()).toBe("")
  expect(await server.countPets()).toBe(0)
  await expectAlive(server)
}

const head = (...lines: ReadonlyArray<string>): string => `${lines.join("\r\n")}\r\n\r\n`

describe("invalid HTTP", () => {
  const get = "GET /v1/pets HTTP/1.1"
  const post = "POST /v1/pets HTTP/1.1"
  const host = "Host: a"
  const cases: ReadonlyArray<readonly [what: string, bytes: string | Uint8Array]> = [
    ["a request without Host", head(get)],
    ["two Host headers", head(get, host, "hOST: b")],
    ["a request with a body but without Host", `${head(post, "Content-Length: 4")}true`],
    [
      "Content-Length before Transfer-Encoding",
      head(post, host, "Content-Length: 4", "Transfer-Encoding: chunked")
    ],
    [
      "Transfer-Encoding before Content-Length",
      head(post, host, "Transfer-Encoding: chunked", "Content-Length: 4")
    ],
    ["a list in Content-Length", head(post, host, "Content-Length: 1, 2")],
    ["two different Content-Length headers", head(post, host, "Content-Length: 1", "Content-Length: 2")],
    ["two equal Content-Length headers", head(post, host, "Content-Length: 1", "Content-Length: 1")],
    ["a sign in Content-Length", head(post, host, "Content-Length: +4")],
    ["a hexadecimal Content-Length", head(post, host, "Content-Length: 0x4")],
    ["a Content-Length of more than 64 bits", head(post, host, "Content-Length: 99999999999999999999")],
    ["another transfer coding after chunked", head(post, host, "Transfer-Encoding: chunked, gzip")],
    ["NUL in the target", head("GET /v1/pets\0 HTTP/1.1", host)],
    ["NUL in a header", head(get, host, "X: a\0b")],
    ["a space in the target", head("GET /v1/ pets HTTP/1.1", host)],
    ["a target that does not start with a slash", head("GET v1/pets HTTP/1.1", host)],
    ["a line that is not HTTP", "garbage\r\n\r\n"],
    ["a response line instead of a request line", head("HTTP/1.1 200 OK")],
    ["an unknown method", head("FOO /v1/pets HTTP/1.1", host)],
    ["an unknown version", head("GET /v1/pets HTTP/7.3", host)],
    ["a request line without a version", "GET /v1/pets\r\n\r\n"],
    ["a request line without a version before a Host header", head("GET /v1/pets", host)],
    ["HTTP/0.9", head("GET /v1/pets HTTP/0.9", host)],
    ["HTTP/2.0", head("GET /v1/pets HTTP/2.0", host)],
    ["a path in Host", head(get, "Host: a/b")],
    ["a list in Host", head(get, "Host: a, b")],
    ["a user in Host", head(get, "Host: a@b")],
    ["a non-numeric port in Host", head(get, "Host: a:b")],
    ["an unclosed bracket in Host", head(get, "Host: [::1")],
    ["an invalid IPv6 address in Host", head(get, "Host: [1::2::3]")],
    ["an IPv6 zone in Host", head(get, "Host: [fe80::1%25eth0]")],
    ["a bare IPv6 address in Host", head(get, "Host: ::1")],
    ["a percent sign without digits in Host", head(get, "Host: a%z0")],
    ["another transfer coding before chunked", head(post, host, "Transfer-Encoding: gzip, chunked")],
    [
      "another transfer coding before chunked, in separate headers",
      head(post, host, "Transfer-Encoding: gzip", "Transfer-Encoding: chunked")
    ],
    ["chunked in HTTP/1.0", head("POST /v1/pets HTTP/1.0", host, "Transfer-Encoding: chunked")],
    ["bare line feeds", `${get}\nHost: a\n\n`],
    ["a bare line feed within the head", `${get}\r\nHost: a\nX: b\r\n\r\n`],
    ["a bare carriage return", `${get}\r\nHost: a\rX: b\r\n\r\n`],
    ["a space before the colon of a header", head(get, "Host : a")],
    ["a space before the name of the first header", head(get, " Host: a")],
    ["a folded header", head(get, host, "X: a", " b")],
    ["a header without a colon", head(get, host, "X")],
    ["a header without a name", head(get, host, ": a")],
    ["a TLS ClientHello", Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03)],
    ["bytes outside ASCII", Uint8Array.of(0xff, 0xfe, 0x0d, 0x0a, 0x0d, 0x0a)]
  ]

  for (const [what, bytes] of cases) {
    it(`gets a 400 with the Error body, and the connection closes: ${what}`, () =>
      expectRejection(bytes, 400, "malformed_request"))
  }

  it("gets a 400 for an invalid chunk size, even if the service is already reading the body", async () => {
    const { key, ...server } = await serve()
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
    const wire = await Wire.openAndSend(
      server.port,
      `${request({ method: "POST", key, headers })}zz\r\n{}\r\n0\r\n\r\n`
    )
    const response = await wire.response()
    expectError(response, 400, "malformed_request")
    expect(response.header("connection")).toBe("close")
    expect(await wire.rest()).toBe("")
    await expectAlive(server)
  })

  it("gets a 400 for a body that ends early, even if the service is already reading it", async () => {
    const { key, ...server } = await serve()
    const wire = await Wire.openAndSend(server.port, request({ key, body: pet("Rex") }).slice(0, -1))
    wire.end()
    expectError(await wire.response(), 400, "malformed_request")
    expect(await wire.rest()).toBe("")
    expect(await server.countPets()).toBe(0)
  })

  it("is counted for the client's network, even if the head contains a valid key", async () => {
    const server = await serve({ service: { anonymousPlan: { perMinute: 5, perDay: 100 } } })
    const key = await server.issue({ perMinute: 7 })
    const wire = await Wire.openAndSend(server.port, head(get, `Authorization: Bearer ${key}`))
    const rejected = await wire.response()
    expect([rejected.header("x-ratelimit-limit"), rejected.header("x-ratelimit-remaining")]).toEqual([
      "5",
      "4"
    ])
    const admitted = await (await Wire.openAndSend(server.port, request({ key }))).response()
    expect([admitted.header("x-ratelimit-limit"), admitted.header("x-ratelimit-remaining")]).toEqual([
      "7",
      "6"
    ])
  })

  it("gets a response that the client can read even after it has sent twenty more megabytes", async () => {
    const server = await serve()
    const wire = await Wire.openAndSend(server.port, "garbage\r\n")
    for (let sent = 0; sent < 20; sent++) await wire.send(Buffer.alloc(1_000_000, "x"))
    expectError(await wire.response(), 400, "malformed_request")
  })

  it("disconnects a client that never stops sending", async () => {
    const server = await serve()
    const wire = await Wire.openAndSend(server.port, "garbage\r\n")
    const sender = setInterval(() => wire.send("x".repeat(1_000)), 10)
    expectError(await wire.response(), 400, "malformed_request")
    await wire.closed
    clearInterval(sender)
  })
})

describe("a valid head", () => {
  it.each([
    "",
    "a",
    "a:",
    "a:80",
    "animals.example:8080",
    "[::1]",
    "[::1]:80",
    "[v1.a:b]",
    "127.0.0.1",
    "%41",
    "a_b"
  ])("is accepted with %j as Host", async (value) => {
    const { key, ...server } = await serve()
    const wire = await Wire.openAndSend(
      server.port,
      head("GET /v1/pets HTTP/1.1", `Host: ${value}`, `Authorization: Bearer ${key}`)
    )
    expect((await wire.response()).status).toBe(200)
  })

  it("is accepted without Host in HTTP/1.0", async () => {
    const { key, ...server } = await serve()
    const wire = await Wire.openAndSend(
      server.port,
      head("GET /v1/pets HTTP/1.0", `Authorization: Bearer ${key}`)
    )
    const response = await wire.response()
    expect([response.status, response.body]).toEqual([200, "[]"])
    expect(await wire.rest()).toBe("")
  })
})

describe("a 431 with the Error body", () => {
  const get = "GET /v1/pets HTTP/1.1"

  it.each([
    ["a header section above 16 KiB", head(get, "Host: a", `X: ${"a".repeat(16_384)}`)],
    ["a header section of a megabyte", head(get, "Host: a", `X: ${"a".repeat(1_000_000)}`)],
    ["more than 100 headers", head(get, "Host: a", ...Array(100).fill("X: a"))],
    ["thousands of headers", head(get, "Host: a", ...Array(4_000).fill("X: a"))],
    ["a target above 8 KiB", head(`GET /${"a".repeat(8_192)} HTTP/1.1`, "Host: a")]
  ])("is the response to %s", (_, bytes) => expectRejection(bytes, 431, "headers_too_large"))

  it("is the response to trailers above 16 KiB", async () => {
    const { key, ...server } = await serve()
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
    const start = request({ method: "POST", key, headers })
    const wire = await Wire.openAndSend(
      server.port,
      `${start}2\r\n{}\r\n0\r\nX: ${"a".repeat(20_000)}\r\n\r\n`
    )
    expectError(await wire.response(), 431, "headers_too_large")
    expect(await wire.rest()).toBe("")
  })

  it("is not the response to 100 headers and a target of 8 KiB", async () => {
    const { key, ...server } = await serve()
    const target = `/v1/pets?x=${"a".repeat(8_192 - 11)}`
    const wire = await Wire.openAndSend(
      server.port,
      request({ key, target, headers: Array(98).fill("X: a") })
    )
    expect((await wire.response()).status).toBe(200)
  })
})

describe("requests to switch protocols", () => {
  it("CONNECT closes the connection without a response", async () => {
    const server = await serve()
    const wire = await Wire.openAndSend(server.port, head("CONNECT animals.example:443 HTTP/1.1", "Host: a"))
    expect(await wire.rest()).toBe("")
    await expectAlive(server)
  })

  it("an HTTP/2 preface closes the connection", async () => {
    const server = await serve()
    const wire = await Wire.openAndSend(server.port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    await wire.rest()
    await expectAlive(server)
  })

  it("Upgrade is ignored, and the connection stays alive", async () => {
    const { key, ...server } = await serve()
    const headers = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    const wire = await Wire.openAndSend(server.port, request({ key, headers }))
    expect((await wire.response()).status).toBe(200)
    await wire.send(request({ key }))
    expect((await wire.response()).status).toBe(200)
  })
})

describe("a client that resets its connection", () => {
  it("consumes no token if the request was incomplete", async () => {
    const server = await serve({ service: { anonymousPlan: { perMinute: 5, perDay: 100 } } })
    for (const bytes of ["", "GET /v1", request({}).slice(0, -2)]) {
      const wire = await Wire.openAndSend(server.port, bytes)
      wire.abort()
    }
    await expectAlive(server)
    const response = await (await Wire.openAndSend(server.port, request({}))).response()
    expect(response.header("x-ratelimit-remaining")).toBe("4")
  })
})

describe("Access-Control-Allow-Origin of responses to transport errors", () => {
  const shop = "https://shop.example"
  const origin = `Origin: ${shop}`
  const longRequestLine = `GET /v1/pets?x=${"x".repeat(9_000)} HTTP/1.1`
  const postHead = head(
    "POST /v1/pets HTTP/1.1",
    "Host: a",
    origin,
    "Authorization: Bearer KEY",
    "Content-Type: application/json",
    "Content-Length: 9"
  )

  it.each([
    ["is the only allowed origin after an incomplete head", [shop], "garbage\r\n\r\n", 400, shop],
    ["is * after an incomplete head if all origins are allowed", ["*"], "garbage\r\n\r\n", 400, "*"],
    [
      "is absent after an incomplete head if several origins are allowed",
      [shop, "http://b"],
      "garbage\r\n\r\n",
      400,
      undefined
    ],
    [
      "is the request's origin after a target that is too long",
      [shop, "http://b"],
      head(longRequestLine, "Host: a", origin),
      431,
      shop
    ],
    [
      "is the request's origin after a head without Host",
      [shop, "http://b"],
      head("GET /v1/pets HTTP/1.1", origin),
      400,
      shop
    ],
    ["is the request's origin after an incomplete body", [shop, "http://b"], `${postHead}x`, 408, shop]
  ])("%s", async (_, corsOrigins, bytes, status, allowedOrigin) => {
    const { key, ...server } = await serve({ service: { corsOrigins }, server: { requestTimeoutMs: 300 } })
    const response = await (await Wire.openAndSend(server.port, bytes.replace("KEY", key))).response()
    expect([response.status, response.header("access-control-allow-origin")]).toEqual([status, allowedOrigin])
    expect(response.header("vary")).toBe(allowedOrigin === "*" ? undefined : "Origin")
  })
})
