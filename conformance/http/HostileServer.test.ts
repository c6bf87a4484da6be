/** Tests both transports with responses of hostile or broken servers. */
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as FetchTransport from "./FetchTransport.ts"
import { failureOf, plain, serve } from "./RawServer.fixture.ts"
import * as ResponseLimits from "./ResponseLimits.ts"

const run = Effect.runPromise

const MB = 1_000_000

const TOO_LONG = { kind: "excess", reason: "the body is longer than 1 MB", hasBegun: true }

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
      "that never ends, in chunks of twenty bytes",
      (socket) =>
        pour(
          socket,
          endless(head("Transfer-Encoding: chunked"), `14\r\n${"x".repeat(20)}\r\n`.repeat(10_000))
        ),
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
    const { openConnections, transport, written } = await serve((_request, socket) => {
      respond(socket)
      return undefined
    })
    // Twice, because the first response may have damaged a connection that the second request reuses.
    for (let index = 0; index < 2; index++) expect(await failureOf(transport)).toMatchObject(expected)
    await expect.poll(openConnections).toBe(0)
    // Much more than the maximum of 1 MB, because the server may also fill the buffers of two connections.
    expect(written()).toBeLessThan(60 * MB)
  })

  it("fails at the timeout, with hasBegun true, when a response arrives too slowly", async () => {
    const { openConnections, transport } = await serve((_request, socket) => {
      const timer = setInterval(() => socket.write("x"), 10)
      socket.once("close", () => clearInterval(timer))
      return head("Content-Length: 100000")
    }, 200)
    expect(await failureOf(transport)).toMatchObject({ kind: "timeout", hasBegun: true })
    await expect.poll(openConnections).toBe(0)
  })

  it("reads a body of 1 MB and a body of 20,000 one-byte chunks completely", async () => {
    const body = "abcdefghij".repeat(100_000)
    const whole = await serve(() => sized(body))
    expect(Buffer.from((await run(whole.transport(plain))).body).toString()).toBe(body)
    const chunks = body.slice(0, 20_000).replaceAll(/./g, "1\r\n$&\r\n")
    const parts = await serve(() => `${head("Transfer-Encoding: chunked")}${chunks}0\r\n\r\n`)
    expect(Buffer.from((await run(parts.transport(plain))).body).toString()).toBe(body.slice(0, 20_000))
  })

  it("returns a redirect without following it", async () => {
    const { received, transport } = await serve(
      () => "HTTP/1.1 302 Found\r\nLocation: /v1/pets\r\nContent-Length: 0\r\n\r\n"
    )
    expect((await run(transport(plain))).status).toBe(302)
    expect(received.join("").match(/^GET /gm)).toHaveLength(1)
  })

  it("returns a compressed body without decompressing it", async () => {
    const bomb = gzipSync(Buffer.alloc(50 * MB))
    const { transport } = await serve(
      () => head("Content-Encoding: gzip", `Content-Length: ${bomb.length}`) + bomb.toString("latin1")
    )
    expect(Buffer.from((await run(transport(plain))).body).equals(bomb)).toBe(true)
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
