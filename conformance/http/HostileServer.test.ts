/** Tests both transports with responses of hostile or broken servers. */

import { type AddressInfo, createServer, type Socket } from "node:net"
import { gzipSync } from "node:zlib"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { afterEach, describe, expect, it } from "vitest"
import * as FetchTransport from "./FetchTransport.ts"
import * as NodeTransport from "./NodeTransport.ts"
import * as ResponseLimits from "./ResponseLimits.ts"
import type { WireRequest } from "./Wire.ts"

const run = Effect.runPromise

const plain: WireRequest = { method: "GET", target: "/v1/pets", headers: [], body: undefined }

const MB = 1_000_000

const TOO_LONG = { kind: "excess", reason: "the body is longer than 1 MB", hasBegun: true }

const closers: Array<() => Promise<unknown>> = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Sends the parts as fast as the client reads, until all are sent or the connection is closed. */
const pour = (socket: Socket, parts: Iterator<string>): void => {
  for (;;) {
    const { done = false, value } = parts.next()
    if (done || socket.destroyed) return
    if (!socket.write(value, "latin1")) {
      socket.once("drain", () => pour(socket, parts))
      return
    }
  }
}

function* endless(first: string, part: string): Generator<string> {
  yield first
  for (;;) yield part
}

/**
 * Starts a server that passes the socket of each request to `respond`. Returns functions that send a request to it and
 * that return its numbers of open connections, received requests and written bytes.
 */
const serve = async (respond: (socket: Socket) => void, timeoutMs = 20_000) => {
  const sockets = new Set<Socket>()
  let requests = 0
  let written = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.once("close", () => {
      written += socket.bytesWritten
      sockets.delete(socket)
    })
    socket.on("data", (chunk: Buffer) => {
      if (!chunk.includes("\r\n\r\n")) return
      requests++
      respond(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  // Safe: the address of a server that listens on a port is an object.
  const { port } = server.address() as AddressInfo
  const scope = Scope.makeUnsafe()
  const transport = await run(
    Scope.provide(NodeTransport.make(new URL(`http://127.0.0.1:${port}/v1`), timeoutMs), scope)
  )
  closers.push(async () => {
    await run(Scope.close(scope, Effect.runSync(Effect.exit(Effect.void))))
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    failure: () => run(Effect.flip(transport(plain))),
    response: () => run(transport(plain)),
    openConnections: () => sockets.size,
    requests: () => requests,
    written: () => written
  }
}

const head = (...headers: ReadonlyArray<string>): string =>
  `${["HTTP/1.1 200 OK", ...headers].join("\r\n")}\r\n\r\n`

const sized = (body: string): string => head(`Content-Length: ${body.length}`) + body

describe("NodeTransport", () => {
  it.each<readonly [string, (socket: Socket) => void, object]>([
    ["of 8 MiB", (socket) => void socket.write(sized("x".repeat(8_388_608))), TOO_LONG],
    ["of one byte too many", (socket) => void socket.write(sized("x".repeat(MB + 1))), TOO_LONG],
    [
      "that never ends, in large chunks",
      (socket) =>
        pour(socket, endless(head("Transfer-Encoding: chunked"), `10000\r\n${"x".repeat(65_536)}\r\n`)),
      TOO_LONG
    ],
    [
      "that never ends, without chunks and without a length",
      (socket) => pour(socket, endless(head("Connection: close"), "x".repeat(65_536))),
      TOO_LONG
    ],
    [
      "that never ends, in chunks of one byte",
      (socket) => pour(socket, endless(head("Transfer-Encoding: chunked"), "1\r\nx\r\n".repeat(10_000))),
      TOO_LONG
    ],
    [
      "with chunk extensions that never end",
      (socket) => pour(socket, endless(`${head("Transfer-Encoding: chunked")}1;`, "x".repeat(10_000))),
      { kind: "excess", reason: "the chunk extensions are longer than 16 KiB", hasBegun: true }
    ],
    [
      "with headers that never end",
      (socket) => pour(socket, endless("HTTP/1.1 200 OK\r\n", "a: b\r\n".repeat(1_000))),
      { kind: "excess", reason: "the header section is longer than 16 KiB", hasBegun: true }
    ],
    [
      "with one header of 1 MB",
      (socket) => void socket.write(head(`X-Long: ${"x".repeat(MB)}`)),
      { kind: "excess", reason: "the header section is longer than 16 KiB", hasBegun: true }
    ],
    [
      "with 100,000 headers",
      (socket) => void socket.write(head("Content-Length: 0", ...Array<string>(100_000).fill("a: b"))),
      { kind: "excess", reason: "the header section is longer than 16 KiB", hasBegun: true }
    ],
    [
      "with 200 short headers",
      (socket) => void socket.write(head("Content-Length: 0", ...Array<string>(200).fill("a: b"))),
      { kind: "excess", reason: "the header section has more than 128 fields", hasBegun: true }
    ],
    [
      "with a status line of 1 MB",
      (socket) => void socket.write(`HTTP/1.1 200 ${"x".repeat(MB)}\r\n\r\n`),
      { kind: "excess", reason: "the header section is longer than 16 KiB", hasBegun: true }
    ],
    [
      "with trailers that never end",
      (socket) =>
        pour(socket, endless(`${head("Transfer-Encoding: chunked")}0\r\n`, "a: b\r\n".repeat(1_000))),
      { kind: "excess", reason: "the header section is longer than 16 KiB", hasBegun: true }
    ],
    [
      "after interim responses that never end",
      (socket) => pour(socket, endless("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100))),
      { kind: "excess", reason: "more than 32 interim responses (1xx)", hasBegun: true }
    ],
    [
      "that ends within its declared length",
      (socket) => void socket.end(`${head("Content-Length: 10")}abc`),
      { kind: "connection", hasBegun: true }
    ]
  ])("fails and closes the connection for a response %s", async (_what, respond, expected) => {
    const { failure, openConnections, written } = await serve(respond)
    // Twice, because the first response may have damaged a connection that the second request reuses.
    for (let index = 0; index < 2; index++) expect(await failure()).toMatchObject(expected)
    await expect.poll(openConnections).toBe(0)
    // Much more than the maximum of 1 MB, because the server may also fill the buffers of two connections.
    expect(written()).toBeLessThan(60 * MB)
  })

  it("fails at the timeout, with hasBegun true, when a response arrives too slowly", async () => {
    const { failure, openConnections } = await serve((socket) => {
      socket.write(head("Content-Length: 100000"))
      const timer = setInterval(() => socket.write("x"), 10)
      socket.once("close", () => clearInterval(timer))
    }, 200)
    expect(await failure()).toMatchObject({ kind: "timeout", hasBegun: true })
    await expect.poll(openConnections).toBe(0)
  })

  it("fails at the timeout, with hasBegun false, when the server sends nothing", async () => {
    const { failure } = await serve(() => undefined, 100)
    expect(await failure()).toMatchObject({ kind: "timeout", hasBegun: false })
  })

  it("reads a body of 1 MB and a body of 20,000 one-byte chunks completely", async () => {
    const body = "abcdefghij".repeat(100_000)
    const whole = await serve((socket) => void socket.write(sized(body)))
    expect(Buffer.from((await whole.response()).body).toString()).toBe(body)
    const parts = await serve((socket) => {
      const chunks = body.slice(0, 20_000).replaceAll(/./g, "1\r\n$&\r\n")
      socket.write(`${head("Transfer-Encoding: chunked")}${chunks}0\r\n\r\n`)
    })
    expect(Buffer.from((await parts.response()).body).toString()).toBe(body.slice(0, 20_000))
  })

  it("returns a redirect without following it", async () => {
    const { response, requests } = await serve(
      (socket) => void socket.write("HTTP/1.1 302 Found\r\nLocation: /v1/pets\r\nContent-Length: 0\r\n\r\n")
    )
    expect((await response()).status).toBe(302)
    expect(requests()).toBe(1)
  })

  it("returns a compressed body without decompressing it", async () => {
    const bomb = gzipSync(Buffer.alloc(50 * MB))
    const { response } = await serve((socket) => {
      socket.write(head("Content-Encoding: gzip", `Content-Length: ${bomb.length}`))
      socket.write(bomb)
    })
    expect(Buffer.from((await response()).body).equals(bomb)).toBe(true)
  })
})

describe("FetchTransport", () => {
  const stream = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>) =>
    new Response(new ReadableStream({ pull }))

  const failure = (handler: FetchTransport.FetchHandler, timeoutMs = 20_000) =>
    run(Effect.flip(FetchTransport.make(handler, undefined, timeoutMs)(plain)))

  it("fails for a body of more than 1 MB, in one part or in many, and cancels a stream", async () => {
    let isCanceled = false
    expect(await failure(() => new Response(new Uint8Array(8_388_608)))).toMatchObject(TOO_LONG)
    const endlessly = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
          cancel: () => {
            isCanceled = true
          }
        })
      )
    expect(await failure(endlessly)).toMatchObject(TOO_LONG)
    expect(isCanceled).toBe(true)
  })

  it("reads a body of 1 MB completely", async () => {
    const transport = FetchTransport.make(() => new Response("é".repeat(MB / 2)))
    expect((await run(transport(plain))).body).toHaveLength(MB)
  })

  it.each<readonly [string, () => Response]>([
    ["never has a part", () => stream(() => new Promise(() => undefined))],
    ["has only empty parts", () => stream((controller) => controller.enqueue(new Uint8Array(0)))]
  ])("fails at the timeout when the body %s", async (_what, respond) => {
    expect(await failure(respond, 100)).toMatchObject({ kind: "timeout", hasBegun: true })
  })

  it.each<readonly [string, ReadonlyArray<readonly [string, string]>, string]>([
    ["one long header", [["X-Long", "x".repeat(20_000)]], "the header section is longer than 16 KiB"],
    [
      "many headers",
      Array.from({ length: 200 }, (_, index) => [`X-${index}`, "a"] as const),
      "the header section has more than 128 fields"
    ]
  ])("fails for a response with %s", async (_what, headers, reason) => {
    const handler = () => new Response("[]", { headers: headers.map(([name, value]) => [name, value]) })
    expect(await failure(handler)).toMatchObject({ kind: "excess", reason, hasBegun: true })
  })

  it("fails with hasBegun true when a part of the body is not a Uint8Array", async () => {
    const text = new ReadableStream({ start: (controller) => controller.enqueue("text") })
    expect(await failure(() => new Response(text))).toMatchObject({ kind: "connection", hasBegun: true })
  })
})

describe("ResponseLimits.boundedBody", () => {
  it("rejects each part that would exceed the maximum size, and keeps all other parts", () => {
    const body = ResponseLimits.boundedBody()
    expect(body.add(new Uint8Array(ResponseLimits.MAX_BODY - 1))).toBe(true)
    expect(body.add(new Uint8Array(2))).toBe(false)
    expect(body.add(new Uint8Array([7]))).toBe(true)
    expect(body.add(new Uint8Array(1))).toBe(false)
    expect(body.bytes()).toHaveLength(ResponseLimits.MAX_BODY)
    expect(body.bytes().at(-1)).toBe(7)
  })
})
