/** Checks on every store that pipelined requests get all their responses in order. */
import * as Net from "node:net"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { expect, it, onTestFinished } from "vitest"
import { kinds } from "../sql/Databases.fixture.ts"
import { openAnimalStore } from "./AnimalStore.ts"

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

const memory = { name: "memory", missing: undefined, create: Effect.succeed({ address: "memory:" }) } as const

for (const { create, missing, name } of [memory, ...kinds]) {
  const title = `100,000 pipelined requests on one connection get their responses in order on ${name}`
  const reason = missing === undefined ? "" : ` (skipped, ${missing})`
  it.skipIf(missing !== undefined)(`${title}${reason}`, { timeout: 300_000 }, async () => {
    const scope = Scope.makeUnsafe()
    onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
    const { address } = await Effect.runPromise(Scope.provide(create, scope))
    const store = await openAnimalStore({ database: address })
    onTestFinished(() => store.close())
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
    const expected = Array.from({ length: 100_000 }, (_, index) =>
      (Math.imul(index, index + 7) >>> 5) % 23 === 1 ? 404 : 200
    )
    socket.write(expected.map((status) => (status === 200 ? live : unknown)).join(""))
    expect(await readStatuses(socket, expected.length)).toEqual(expected)
  })
}
