/** Runs the conformance suite at design level against the fetch handler and against the Node server. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, expect, it } from "vitest"
import * as Conformance from "../../conformance/Conformance.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { plans } from "../../conformance/subjects/ServiceTarget.ts"
import * as RedisServers from "../redis/RedisServers.fixture.ts"
import { describeOn, kinds } from "../sql/Databases.fixture.ts"
import { openAnimalStore } from "./index.ts"

const cleanups: Array<() => Promise<void>> = []

afterAll(async () => {
  for (const cleanUp of cleanups.toReversed()) await cleanUp()
})

/** Opens a store with an adjustable clock, and issues the keys that the suite needs. */
const open = async (database: string, limits?: string) => {
  // The clock starts at a fixed time before getPet is removed.
  let offset = Date.UTC(2027, 0, 1, 9) - Date.now()
  const clock = {
    now: () => Date.now() + offset,
    advance: (ms: number) => {
      offset += ms
    }
  }
  const store = await openAnimalStore({ database, limits, now: clock.now, log: () => undefined })
  cleanups.push(store.close)
  const issue = async (limits: { readonly perMinute: number; readonly perDay: number }) => ({
    ...limits,
    ...(await store.keys.issue({ plan: "Enterprise", limits }))
  })
  const main = await issue(plans.main)
  const tiny = await issue(plans.tiny)
  const victim = await issue(plans.victim)
  const revoked = await issue(plans.tiny)
  await store.keys.revoke(revoked.id)
  const keys = {
    main: main.key,
    tiny: { ...plans.tiny, secret: tiny.key },
    victim: { ...plans.victim, secret: victim.key },
    revoked: revoked.key
  }
  return { clock, keys, store }
}

/** Opens a store on a database, serves it on a free port, and returns it as a subject of the suite. */
const serve = async (name: string, database: string, limits?: string) => {
  const { clock, keys, store } = await open(database, limits)
  const { port } = await store.listen({ port: 0, host: "127.0.0.1" })
  return Conformance.server({ name, url: `http://127.0.0.1:${port}/v1`, keys, clock })
}

type Opened = Awaited<ReturnType<typeof open>>

/** Returns the fetch handler of a store as a subject of the suite. */
const handlerOf = ({ clock, keys, store }: Opened) =>
  Conformance.handler({ name: "the fetch handler", fetch: store.fetch, basePath: "/v1", keys, clock })

it("Conformance.check passes a second time although the first run created animals with the same names", async () => {
  const opened = await open("memory:")
  for (const seed of [1, 2]) {
    const only = ["create.any-body", "product.list"]
    const report = await Conformance.check(await handlerOf(opened), { level: "spec", seed, only })
    expect(report.verdict).toBe("selection-passed")
  }
})

suite(await handlerOf(await open("memory:")), {
  level: "design"
})

suite(await serve("the Node server", "memory:"), { level: "design" })

for (const kind of kinds) {
  const scope = Scope.makeUnsafe()
  cleanups.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const subject =
    kind.missing === undefined
      ? await serve("the Node server", (await Effect.runPromise(Scope.provide(kind.create, scope))).address)
      : undefined
  describeOn(kind, "the service", () => {
    if (subject !== undefined) suite(subject, { level: "design" })
  })
}

const redis =
  RedisServers.redis.missing === undefined ? await RedisServers.start(RedisServers.redis) : undefined
if (redis !== undefined) cleanups.push(redis.stop)
const withRedis =
  redis === undefined
    ? undefined
    : await serve("the Node server with limits in Redis", "memory:", redis.address)
RedisServers.describeOn(RedisServers.redis, "the service with limits", () => {
  if (withRedis !== undefined) suite(withRedis, { level: "design" })
})
