/** Starts TCP servers that respond with any bytes, for tests of `NodeTransport`. */
import { type AddressInfo, createServer, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { onTestFinished } from "vitest"
import * as NodeTransport from "./NodeTransport.ts"
import type { NoResponse, Transport, WireRequest } from "./Wire.ts"

/** A request without headers and body. */
export const plain: WireRequest = { method: "GET", target: "/v1/pets", headers: [], body: undefined }

/** Returns the failure of a request. */
export const failureOf = (transport: Transport, request = plain): Promise<NoResponse> =>
  Effect.runPromise(Effect.flip(transport(request)))

/**
 * Starts a server that passes each request to `respond`, and sends the returned text, if any. It is stopped after the
 * test, as is the transport to it, which has the given timeout.
 */
export const serve = async (
  respond: (request: string, socket: Socket) => string | undefined,
  timeoutMs?: number
) => {
  const received: Array<string> = []
  const sockets = new Set<Socket>()
  let written = 0
  const server = createServer((socket) => {
    const index = received.push("") - 1
    let pending = ""
    sockets.add(socket)
    socket.once("close", () => {
      written += socket.bytesWritten
      sockets.delete(socket)
    })
    socket.on("error", () => undefined)
    socket.on("data", (chunk) => {
      const data = chunk.toString("latin1")
      received[index] += data
      pending += data
      const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(pending)?.[1] ?? 0)
      const head = pending.indexOf("\r\n\r\n")
      if (head === -1 || pending.length < head + 4 + length) return
      const response = respond(pending, socket)
      pending = ""
      if (response !== undefined) socket.write(response, "latin1")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  // Safe: the address of a server that listens on a port is an object.
  const { port } = server.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}/v1`)
  const scope = Scope.makeUnsafe()
  const transport = await Effect.runPromise(Scope.provide(NodeTransport.make(url, timeoutMs), scope))
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const stop = async (): Promise<void> => {
    await close()
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  onTestFinished(stop)
  return {
    transport,
    url,
    /** The text that the server received over each connection. */
    received,
    /** Returns the number of connections that are open at the server. */
    openConnections: () => sockets.size,
    /** Returns the number of bytes that were written to closed connections. */
    written: () => written,
    /** Closes the transport. */
    close,
    stop
  }
}
