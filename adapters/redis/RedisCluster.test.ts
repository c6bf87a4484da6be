/** Tests the store in a Redis Cluster while a slot moves to another node. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { expect, it } from "vitest"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as KeySlot from "./KeySlot.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

const policy = { plan: { perMinute: 100_000, perDay: 100_000 }, ban: undefined }

type Store = RateLimitStore["Service"]

const count = (store: Store, caller: string) =>
  Effect.runPromise(Effect.exit(Nodes.consume(store, caller, Date.now(), policy)))

const keyOf = (caller: string) => `animal-store:{${caller}}`

const isServed = async (store: Store, caller: string) => Exit.isSuccess(await count(store, caller))

/** Returns the node that owns the slot of a caller, and another node. */
const ownerOf = ({ nodes }: RedisServers.Cluster, caller: string) => {
  const index = Math.floor((KeySlot.of(keyOf(caller)) * 3) / KeySlot.SLOTS)
  const [owner, other] = [nodes[index], nodes[(index + 1) % 3]]
  if (owner === undefined || other === undefined) throw new Error("a node is missing")
  return { owner, other }
}

for (const kind of RedisServers.kinds) {
  RedisServers.describeOn(kind, "a store in a cluster", () => {
    const cluster = Nodes.forAllTests(() => RedisServers.startCluster(kind))

    it("counts every request once while a slot moves to another node", () =>
      Nodes.inScope(
        Effect.gen(function* () {
          const store = yield* Nodes.open(cluster().address, { clock: "database" })
          const caller = "key:moving"
          const { other, owner } = ownerOf(cluster(), caller)
          const slot = String(KeySlot.of(keyOf(caller)))
          yield* Effect.promise(async () => {
            let requests = 0
            const sendAndCheck = async () => {
              for (let round = 0; round < 5; round++) {
                const exits = await Promise.all(Array.from({ length: 4 }, () => count(store, caller)))
                requests += exits.length
                for (const exit of exits) expect(Exit.isSuccess(exit)).toBe(true)
                const [lowest] = exits
                  .map((exit) => (Exit.isSuccess(exit) ? exit.value.remaining : 0))
                  .sort((a, b) => a - b)
                expect(lowest).toBe(policy.plan.perDay - requests)
              }
            }
            await sendAndCheck()
            const [from, to] = [await owner.send("CLUSTER", "MYID"), await other.send("CLUSTER", "MYID")].map(
              String
            )
            await other.send("CLUSTER", "SETSLOT", slot, "IMPORTING", from ?? "")
            await owner.send("CLUSTER", "SETSLOT", slot, "MIGRATING", to ?? "")
            // The old owner still has the key.
            await sendAndCheck()
            await owner.send("MIGRATE", "127.0.0.1", String(other.port), keyOf(caller), "0", "5000")
            // The old owner replies with ASK.
            await sendAndCheck()
            expect(await owner.send("CLUSTER", "COUNTKEYSINSLOT", slot)).toBe(0)
            for (const node of [other, owner]) await node.send("CLUSTER", "SETSLOT", slot, "NODE", to ?? "")
            // The old owner replies with MOVED.
            await sendAndCheck()
            // A store that opens now reads the new slot table.
            expect(
              await Nodes.inScope(
                Effect.map(Nodes.open(cluster().address), (newStore) => isServed(newStore, caller))
              )
            ).toBe(true)
          })
        })
      ))

    it("connects to the cluster even if the first host of the address is unreachable", () =>
      Nodes.inScope(
        Effect.gen(function* () {
          const [first] = cluster().nodes
          const store = yield* Nodes.open(`redis://127.0.0.1:1,127.0.0.1:${first?.port}`, {
            clock: "database"
          })
          for (let index = 0; index < 20; index++) {
            expect(yield* Effect.promise(() => isServed(store, `key:${index}`))).toBe(true)
          }
        })
      ))

    it("rejects a database other than 0, and a host outside the cluster", async () => {
      const server = await RedisServers.startForTest(kind)
      const openNode = (address: string) => Nodes.inScope(Nodes.open(address))
      await expect(openNode(`${cluster().address}/1`)).rejects.toThrow(
        /^limits: the Redis server at 127\.0\.0\.1:\d+ reports: ERR SELECT is not allowed in cluster mode$/
      )
      await expect(openNode(`${server.address},127.0.0.1:${cluster().nodes[0]?.port}`)).rejects.toThrow(
        "limits: several hosts require a Redis Cluster, but this server does not belong to one"
      )
    })
  })
}
