/** Tests that commands sent in one turn of the event loop share writes to the socket. */
import * as Net from "node:net"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { expect, it, onTestFinished, vi } from "vitest"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

const policy = { plan: { perMinute: 100_000, perDay: 100_000 }, ban: undefined }

/** Counts the writes to sockets that are connected to `port`; the returned function returns their number. */
const countWrites = (port: number): (() => number) => {
  let count = 0
  for (const method of ["_write", "_writev"] as const) {
    const original = Net.Socket.prototype[method]
    if (original === undefined) throw new Error(`a socket has no ${method}`)
    const spy = vi.spyOn(Net.Socket.prototype, method).mockImplementation(function (
      this: Net.Socket,
      ...args: Array<unknown>
    ) {
      if (this.remotePort === port) count++
      Reflect.apply(original, this, args)
    })
    onTestFinished(() => spy.mockRestore())
  }
  return () => count
}

for (const kind of RedisServers.kinds) {
  RedisServers.describeOn(kind, "RedisRateLimitStore", () => {
    it("counts 64 requests in one turn of the event loop with at most two socket writes", async () => {
      const server = await RedisServers.startForTest(kind)
      await Nodes.inScope(
        Effect.gen(function* () {
          const store = yield* Nodes.open(server.address)
          const callers = Array.from({ length: 64 }, (_, index) => `key:${index}`)
          const countAll = Effect.forEach(
            callers,
            (caller) => Effect.exit(Nodes.consume(store, caller, 0, policy)),
            { concurrency: "unbounded" }
          )
          // Loads the script.
          yield* countAll
          const writes = countWrites(server.port)
          const exits = yield* countAll
          expect(exits.filter(Exit.isSuccess).map(({ value }) => value.remaining)).toEqual(
            callers.map(() => policy.plan.perMinute - 2)
          )
          expect(writes()).toBeGreaterThan(0)
          expect(writes()).toBeLessThanOrEqual(2)
        })
      )
    })
  })
}
