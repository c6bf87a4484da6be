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
