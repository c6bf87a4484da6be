/** Checks rate limits that are stored in Redis, with animals and keys in another database. */
import { describe, expect, it, onTestFinished } from "vitest"
import * as RedisServers from "../redis/RedisServers.fixture.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import * as FaultyNetwork from "./FaultyNetwork.fixture.ts"
import { type AnimalStoreOptions, openAnimalStore } from "./index.ts"

const open = async (options: AnimalStoreOptions) => {
  const lines: Array<string> = []
  const store = await openAnimalStore({
    log: (line) => void lines.push(line),
    databaseTimeoutMs: 20_000,
    ...options
  })
  onTestFinished(() => store.close())
  const send = (target: string, key?: string) =>
    store.fetch(
      new Request(
        `http://store.test${target}`,
        key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } }
      )
    )
  return { lines, send, store }
}

const newFile = async () => (await Databases.createForTest(Databases.sqlite)).address

RedisServers.describeOn(RedisServers.redis, "a store with rate limits", () => {
  it("shares the counts with another store on the same databases", async () => {
    const { address: limits } = await RedisServers.startForTest(RedisServers.redis)
    const database = await newFile()
    const first = await open({ database, limits, keyCacheMs: 0 })
    const { id, key } = await first.store.keys.issue({
      plan: "Enterprise",
      limits: { perMinute: 2, perDay: 10 }
    })
    const second = await open({ database, limits })
    const responses = [
      await first.send("/v1/pets", key),
      await second.send("/v1/pets", key),
      await first.send("/v1/pets", key)
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(await second.store.keys.show(id)).toMatchObject({ usage: { day: { used: 2 } } })
    expect((await second.send("/v1/pets")).headers.get("X-RateLimit-Remaining")).toBe("59")
    expect((await first.send("/v1/pets")).headers.get("X-RateLimit-Remaining")).toBe("58")
    // Nothing was counted in the database of animals and keys.
    const withoutRedis = await open({ database })
    expect((await withoutRedis.send("/v1/pets", key)).headers.get("X-RateLimit-Remaining")).toBe("1")
  })

  it("returns 503 and is not ready while Redis is down, and recovers when Redis is back", async () => {
    const server = await RedisServers.startForTest(RedisServers.redis)
    const { lines, send, store } = await open({ database: await newFile(), limits: server.address })
    const { key } = await store.keys.issue({ plan: "Free" })
    expect((await send("/v1/pets", key)).status).toBe(200)
    expect((await send("/readyz")).status).toBe(200)
    await server.kill()
    const response = await send("/v1/pets", key)
    expect(response.status).toBe(503)
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("0")
    expect(await response.json()).toMatchObject({ code: "service_unavailable" })
    await RedisServers.until(async () => (await send("/readyz")).status === 503)
    expect((await send("/livez")).status).toBe(200)
    expect(lines.join("\n")).not.toContain("undefined")
    await server.restart()
    await RedisServers.until(async () => (await send("/v1/pets", key)).status === 200)
    await RedisServers.until(async () => (await send("/readyz")).status === 200)
  })

  it("counts requests while Redis takes 100 ms, and returns 503 while Redis takes longer than the timeout", async () => {
    const timeoutMs = 1_500
    const server = await RedisServers.startForTest(RedisServers.redis)
    const network = await FaultyNetwork.make("127.0.0.1", server.port)
    onTestFinished(network.close)
    const { send, store } = await open({
      database: await newFile(),
      limits: `redis://127.0.0.1:${network.port}`,
      databaseTimeoutMs: timeoutMs
    })
    const { key } = await store.keys.issue({ plan: "Free" })
    /** Returns whether five concurrent requests all get this status. */
    const areAll = async (status: number) =>
      (await Promise.all(Array.from({ length: 5 }, () => send("/v1/pets", key)))).every(
        (response) => response.status === status
      )
    network.delay(100)
    await RedisServers.until(() => areAll(200))
    network.delay(60_000)
    expect(await areAll(503)).toBe(true)
    network.delay(0)
    await RedisServers.until(async () => (await send("/v1/pets", key)).status === 200)
  })

  it("admits requests without counting them while Redis hangs if onLimitsUnavailable is open", async () => {
    const server = await RedisServers.startForTest(RedisServers.redis)
    const { send, store } = await open({
      database: await newFile(),
      limits: server.address,
      databaseTimeoutMs: 1_000,
      onLimitsUnavailable: "open"
    })
    const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 1, perDay: 10 } })
    const statuses = async () => [(await send("/v1/pets", key)).status, (await send("/v1/pets", key)).status]
    expect(await statuses()).toEqual([200, 429])
    server.pause()
    expect(await statuses()).toEqual([200, 200])
    server.resume()
    await RedisServers.until(async () => (await send("/v1/pets", key)).status === 429)
  })

  it("labels the metrics of Redis calls with the database system redis", async () => {
    const { address: limits } = await RedisServers.startForTest(RedisServers.redis)
    const { send, store } = await open({ database: await newFile(), limits, metrics: true })
    const { key } = await store.keys.issue({ plan: "Free" })
    await send("/v1/pets", key)
    expect(store.metrics()).toMatch(
      /db_client_operation_duration_seconds_count\{db_system_name="redis",db_operation_name="count_request"\} 1/
    )
  })

  it("logs a warning at startup only if Redis may evict rate-limit states", async () => {
    const server = await RedisServers.startForTest(RedisServers.redis)
    const quiet = await open({ database: "memory:", limits: server.address })
    expect(quiet.lines.join("\n")).not.toContain("evict")
    await server.send("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    const { lines } = await open({ database: "memory:", limits: server.address })
    expect(lines.join("\n")).toMatch(
      /level=WARN message="Redis may evict .* maxmemory-policy is allkeys-lru: set it to noeviction"/
    )
  })
})

describe("openAnimalStore with a Redis address", () => {
  it("rejects a Redis address for the `database` option", async () => {
    for (const database of ["redis://:s3cret@h", "rediss://h1,h2"]) {
      await expect(openAnimalStore({ database })).rejects.toThrow(
        /^database: redis:\/\/ can store only rate limits: pass it as `limits`, and use SQLite or PostgreSQL for animals and keys$/
      )
    }
  })

  it("rejects an invalid or unreachable limits address with the option's name and the reason", async () => {
    await expect(openAnimalStore({ limits: "redis://u:s3cret@h?x=1" })).rejects.toThrow(
      /^limits: must have no parameters after/
    )
    await expect(openAnimalStore({ limits: "oracle://u:s3cret@h" })).rejects.toThrow(
      "limits: must be 'memory:', 'sqlite:PATH', 'postgres://user:password@host:port/database' or 'redis://user:password@host:port'"
    )
    await expect(openAnimalStore({ limits: "redis://127.0.0.1:1" })).rejects.toThrow(
      "limits: cannot reach the Redis server at 127.0.0.1:1: connect ECONNREFUSED"
    )
  })
})
