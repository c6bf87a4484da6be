import { once } from "node:events"
import * as net from "node:net"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import * as AuxiliaryServer from "./AuxiliaryServer.ts"

it("an auxiliary server closes a further connection while 100 wait for responses", () =>
  Effect.gen(function* () {
    let requests = 0
    const { port } = yield* AuxiliaryServer.serve(
      { flag: "admin-port", host: "127.0.0.1", port: 0 },
      async () => void requests++
    )
    const connect = () =>
      net
        .connect(port, "127.0.0.1")
        .on("error", () => undefined)
        .resume()
    const busy = Array.from({ length: 100 }, () => {
      const socket = connect()
      socket.write("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return socket
    })
    yield* Effect.promise(() => expect.poll(() => requests, { timeout: 10_000 }).toBe(100))
    yield* Effect.promise(() => once(connect(), "close"))
    expect(busy.some(({ closed }) => closed)).toBe(false)
  }).pipe(Effect.scoped, Effect.runPromise))

it("an auxiliary server accepts a further connection while 100 hold back bodies of requests with a response", () =>
  Effect.gen(function* () {
    let requests = 0
    const { port } = yield* AuxiliaryServer.serve(
      { flag: "admin-port", host: "127.0.0.1", port: 0 },
      async (request, response) => {
        requests++
        response.flushHeaders()
        request.resume().once("end", () => response.end())
      }
    )
    const send = (length: number) => {
      const socket = net.connect(port, "127.0.0.1").on("error", () => undefined)
      socket.write(`POST /admin/v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`)
      return socket.resume()
    }
    const slow = Array.from({ length: 100 }, () => send(1))
    yield* Effect.promise(() => expect.poll(() => requests, { timeout: 10_000 }).toBe(100))
    yield* Effect.promise(() => once(send(0), "data"))
    yield* Effect.promise(() => expect.poll(() => slow.filter(({ closed }) => closed).length).toBe(1))
  }).pipe(Effect.scoped, Effect.runPromise))
