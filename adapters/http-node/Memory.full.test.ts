/** Checks that the server releases the memory of sockets and of rejected bodies. */
import { Buffer } from "node:buffer"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { collectGarbage, expectError, serve } from "./Server.fixture.ts"
import { request, Wire } from "./Wire.fixture.ts"

const json = "Content-Type: application/json"
const megabyte = Buffer.alloc(1_000_000, " ")

describe("a request whose body is rejected before it arrives", () => {
  it("does not keep its body in memory", async () => {
    const { key, ...server } = await serve()
    const headers = [json, `Content-Length: ${60 * megabyte.length}`]
    const wire = await Wire.openAndSend(server.port, request({ method: "POST", key, headers }))
    expectError(await wire.response(), 413, "payload_too_large")
    await collectGarbage()
    const before = process.memoryUsage()
    for (let sent = 0; sent < 50; sent++) await wire.send(megabyte)
    await collectGarbage()
    const after = process.memoryUsage()
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(10 * megabyte.length)
    expect(after.rss - before.rss).toBeLessThan(100 * megabyte.length)
  })
})

describe("connections", () => {
  it("are garbage-collected after they close", async () => {
    const sockets: Array<WeakRef<Socket>> = []
    // The message type that Node documents for this channel.
    const receive = (message: unknown): void =>
      void sockets.push(new WeakRef((message as { readonly socket: Socket }).socket))
    subscribe("net.server.socket", receive)
    onTestFinished(() => {
      unsubscribe("net.server.socket", receive)
    })
    const { key, ...server } = await serve()
    for (let count = 0; count < 50; count++) {
      const wire = await Wire.openAndSend(server.port, request({ key, headers: ["Connection: close"] }))
      await wire.response()
      await wire.rest()
    }
    await collectGarbage()
    expect(sockets).toHaveLength(50)
    expect(sockets.filter((socket) => socket.deref() !== undefined).length).toBeLessThan(10)
  })
})
