/** Sends pipelined requests to a store. */
import * as Net from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { kinds, open, titleEnd } from "./Stores.fixture.ts"

const statusLine = /HTTP\/1\.1 ([0-9]{3}) /g
const STATUS_LINE_LENGTH = 13

/** Reads at least `count` responses and returns their statuses; no body may contain a status line. */
const readStatuses = (socket: Net.Socket, count: number): Promise<ReadonlyArray<number>> =>
  new Promise((resolve, reject) => {
    const statuses: Array<number> = []
    let rest = ""
    socket.setEncoding("latin1").on("data", (text: string) => {
      const all = rest + text
      let end = 0
      for (const { index, 1: status } of all.matchAll(statusLine)) {
        statuses.push(Number(status))
        end = index + STATUS_LINE_LENGTH
      }
      rest = all.slice(Math.max(end, all.length - STATUS_LINE_LENGTH + 1))
      if (statuses.length >= count) resolve(statuses)
    })
    socket.once("close", () => reject(new Error(`closed after ${statuses.length} responses`)))
  })

/** Sends `count` requests at once on one connection, and expects their responses in order. */
const expectOrder = async (database: string, count: number): Promise<void> => {
  const store = await open({ database, databaseTimeoutMs: 60_000 })
  const { key } = await store.keys.issue({
    plan: "Enterprise",
    limits: { perMinute: 1_000_000, perDay: 10_000_000 }
  })
  const { port } = await store.listen({ port: 0 })
  const socket = Net.connect({ port, host: "127.0.0.1" })
  onTestFinished(() => {
    socket.destroy()
  })
  const live = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
  const unknown = `GET /v1/pets/7 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
  // An aperiodic sequence, so that missing or reordered responses are detected.
  const expected = Array.from({ length: count }, (_, index) =>
    (Math.imul(index, index + 7) >>> 5) % 23 === 1 ? 404 : 200
  )
  socket.write(expected.map((status) => (status === 200 ? live : unknown)).join(""))
  expect(await readStatuses(socket, expected.length)).toEqual(expected)
}

for (const kind of kinds) {
  it.skipIf(kind.missing !== undefined)(
    `5,000 pipelined requests on one connection get their responses in order ${titleEnd(kind)}`,
    async () => expectOrder(await kind.address(), 5_000)
  )
}
