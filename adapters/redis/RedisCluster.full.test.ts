/** Tests stores in a Redis Cluster after a primary fails; the cluster takes seconds to replace it. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { expect, it, onTestFinished } from "vitest"
import { open } from "../embed/Stores.fixture.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import * as KeySlot from "./KeySlot.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

const plan = { perMinute: 100_000, perDay: 100_000 }

for (const kind of RedisServers.kinds) {
  RedisServers.describeOn(kind, "a cluster with a replica that replaces a failed primary", () => {
    it("serves all callers of a rate limit store again", async () => {
      const cluster = await RedisServers.startCluster(kind, 1)
      onTestFinished(cluster.stop)
      await Nodes.inScope(
        Effect.gen(function* () {
          const store = yield* Nodes.open(cluster.address, { clock: "database", timeoutMs: 500 })
          const callers = Array.from({ length: 30 }, (_, index) => `key:${index}`)
          const isServed = (caller: string) =>
            Effect.runPromise(
              Effect.exit(Nodes.consume(store, caller, Date.now(), { plan, ban: undefined }))
            ).then(Exit.isSuccess)
          const areServed = async () => (await Promise.all(callers.map(isServed))).every(Boolean)
          // The first primary owns the first third of the slots.
          const areAffected = callers.some(
            (caller) => KeySlot.of(`animal-store:{${caller}}`) < KeySlot.SLOTS / 3
          )
          expect(areAffected).toBe(true)
          yield* Effect.promise(async () => {
            await RedisServers.until(areServed)
            await cluster.nodes[0]?.kill()
            // A cluster without a primary for some slots may reject all requests until the replica takes over.
            await RedisServers.until(areServed)
          })
        })
      )
    })
  })
}

RedisServers.describeOn(RedisServers.redis, "an animal store whose rate limits are in a cluster", () => {
  it("returns 200 or 503 while a replica replaces a primary, then 200 for all keys", async () => {
    const cluster = await RedisServers.startCluster(RedisServers.redis, 1)
    onTestFinished(cluster.stop)
    const { address } = await Databases.createForTest(Databases.sqlite)
    const store = await open({ database: address, limits: cluster.address, databaseTimeoutMs: 400 })
    const issued = await Promise.all(
      Array.from({ length: 12 }, () => store.keys.issue({ plan: "Enterprise", limits: plan }))
    )
    const sendWithEachKey = () =>
      Promise.all(
        issued.map(async ({ key }) => {
          const headers = { Authorization: `Bearer ${key}` }
          const { status } = await store.fetch(new Request("http://store.test/v1/pets", { headers }))
          expect([200, 503]).toContain(status)
          return status
        })
      )
    const areServed = async () => (await sendWithEachKey()).every((status) => status === 200)
    await RedisServers.until(areServed)
    await cluster.nodes[0]?.kill()
    expect(await sendWithEachKey()).toContain(503)
    await RedisServers.until(areServed)
  })
})
