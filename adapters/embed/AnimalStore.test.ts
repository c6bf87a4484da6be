import { once } from "node:events"
import { createServer, request as httpRequest, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import * as fc from "fast-check"
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest"
import {
  type AnimalStore,
  type AnimalStoreOptions,
  ApiKeyRevoked,
  ApiKeyUnknown,
  InvalidDatabase,
  InvalidOption,
  ListenFailed,
  openAnimalStore,
  PlanInvalid,
  RotationUnfinished
} from "./index.ts"

const opened: Array<AnimalStore> = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

const open = async (options?: AnimalStoreOptions): Promise<AnimalStore> => {
  const store = await openAnimalStore(options)
  opened.push(store)
  return store
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "not rejected",
    (reason: unknown) => reason
  )

const get = (store: AnimalStore, path: string, key?: string): Promise<Response> =>
  store.fetch(
    new Request(`http://store.test${path}`, {
      headers: key === undefined ? {} : { Authorization: `Bearer ${key}` }
    })
  )

const create = (store: AnimalStore, key: string) =>
  store.fetch(
    new Request("http://store.test/v1/pets", {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: '{"name":"Rex","categoryId":1}'
    })
  )

describe("openAnimalStore", () => {
  it("opens a usable store without options", async () => {
    const store = await open()
    const { key } = await store.keys.issue({ plan: "Free" })
    expect((await create(store, key)).status).toBe(201)
  })

  it.each<readonly [AnimalStoreOptions, string, RegExp]>([
    [{ basePath: "v1" }, "basePath", /^basePath: must be empty or a path/],
    [{ publicBaseUrl: "example.org" }, "publicBaseUrl", /^publicBaseUrl: must be an absolute http/],
    [{ maxBodyBytes: -1 }, "maxBodyBytes", /^maxBodyBytes: must be/],
    [{ trustedProxyHops: 0.5 }, "trustedProxyHops", /^trustedProxyHops: must be/],
    [
      { anonymousPlan: { perMinute: 0, perDay: 1 } },
      "anonymousPlan",
      /^anonymousPlan: perMinute must be a whole number/
    ],
    [{ cursorKey: new Uint8Array(8) }, "cursorKey", /^cursorKey: must be a Uint8Array of at least 32 bytes/],
    [{ ban: { strikes: 0 } }, "ban", /^ban: strikes must be a whole number/],
    [{ ban: { cleanMs: Number.NaN } }, "ban", /^ban: cleanMs must be a whole number/]
  ])("rejects %j with an InvalidOption that names the option", async (options, option, message) => {
    const reason = await rejection(openAnimalStore(options))
    expect(reason).toBeInstanceOf(InvalidOption)
    expect(reason).toMatchObject({ option, message: expect.stringMatching(message) })
  })

  it.each(["", "memory", "oracle:x"])(
    "rejects the database '%s' with an InvalidDatabase",
    async (database) => {
      const reason = await rejection(openAnimalStore({ database }))
      expect(reason).toBeInstanceOf(InvalidDatabase)
      expect(reason).toMatchObject({ message: expect.stringMatching(/^database: must be 'memory:'/) })
    }
  )

  it("opens stores that share neither animals nor keys, and that close independently", async () => {
    const [first, second] = [await open(), await open()]
    const { key } = await first.keys.issue({ plan: "Free" })
    expect((await create(first, key)).status).toBe(201)
    expect((await create(second, key)).status).toBe(401)
    expect(await second.keys.list()).toEqual([])
    await first.close()
    const issued = await second.keys.issue({ plan: "Free" })
    expect(await (await get(second, "/v1/pets", issued.key)).text()).toBe("[]")
  })
})

describe("keys", () => {
  it("list returns all keys, oldest first, without secrets", async () => {
    const store = await open()
    const first = await store.keys.issue({ plan: "Pro", label: "till" })
    const second = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 5, perDay: 50 } })
    const listed = await store.keys.list()
    expect(listed).toMatchObject([
      { id: first.id, plan: "Pro", label: "till", limits: { perMinute: 300, perDay: 10_000 } },
      { id: second.id, plan: "Enterprise", limits: { perMinute: 5, perDay: 50 } }
    ])
    expect(first).toEqual({
      ...{ id: first.id, plan: "Pro", label: "till", limits: { perMinute: 300, perDay: 10_000 } },
      ...{ key: first.key, expiresAt: undefined, oldKeyExpiresAt: undefined }
    })
    const text = JSON.stringify(listed)
    for (const { key } of [first, second]) expect(text).not.toContain(key.slice(4, 20))
    expect(first.key).toMatch(/^ast_[0-9A-Za-z]{33}$/)
  })

  it("list rejects an account that is undefined, which selects no account", async () => {
    const store = await openAnimalStore()
    const account: string | undefined = undefined
    // @ts-expect-error only a string
    await expect(store.keys.list({ account })).rejects.toThrow("account: must not be undefined")
    await store.close()
  })

  it("revoke invalidates a key: requests get 401, and rotate rejects", async () => {
    const store = await open()
    const { id, key } = await store.keys.issue({ plan: "Free" })
    const revoked = await store.keys.revoke(id)
    expect(revoked).toMatchObject({ id, revokedAt: expect.any(Number) })
    expect(await store.keys.revoke(id)).toEqual(revoked)
    expect((await get(store, "/v1/pets", key)).status).toBe(401)
    const reason = await rejection(store.keys.rotate(id, { overlapMs: 0 }))
    expect(reason).toBeInstanceOf(ApiKeyRevoked)
    expect(reason).toMatchObject({ id, message: expect.stringContaining(id) })
  })

  it("limits follow fake timers with now: () => Date.now(), as embedding.md states", async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const store = await open({ now: () => Date.now() })
    const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 1, perDay: 10 } })
    const status = async () => (await get(store, "/v1/pets", key)).status
    expect([await status(), await status()]).toEqual([200, 429])
    vi.advanceTimersByTime(60_000)
    expect(await status()).toBe(200)
  })

  it("rotate rejects within the overlap of an earlier rotation, unless force is true", async () => {
    const store = await open()
    const { id, key } = await store.keys.issue({ plan: "Free" })
    const { oldKeyExpiresAt } = await store.keys.rotate(id, { overlapMs: 60_000 })
    const reason = await rejection(store.keys.rotate(id, { overlapMs: 60_000 }))
    expect(reason).toBeInstanceOf(RotationUnfinished)
    expect(reason).toMatchObject({ id, secretExpiresAt: oldKeyExpiresAt })
    expect((await get(store, "/v1/pets", key)).status).toBe(200)
    const forced = await store.keys.rotate(id, { overlapMs: 60_000, force: true })
    expect((await get(store, "/v1/pets", forced.key)).status).toBe(200)
    expect((await get(store, "/v1/pets", key)).status).toBe(401)
  })

  it("revoke and rotate reject an unknown id with ApiKeyUnknown", async () => {
    const store = await open()
    for (const reason of [
      await rejection(store.keys.revoke("key_none")),
      await rejection(store.keys.rotate("key_none", { overlapMs: 0 }))
    ]) {
      expect(reason).toBeInstanceOf(ApiKeyUnknown)
      expect(reason).toMatchObject({ id: "key_none", message: expect.stringContaining("key_none") })
    }
  })

  it("issue rejects invalid limits with PlanInvalid", async () => {
    const store = await open()
    const reason = await rejection(store.keys.issue({ plan: "Enterprise", limits: { perDay: 5 } }))
    expect(reason).toBeInstanceOf(PlanInvalid)
    expect(reason).toMatchObject({ message: "Enterprise needs both perMinute and perDay" })
    expect(await store.keys.list()).toEqual([])
  })
})

describe("the objects that a store in memory returns", () => {
  it("are copies: a program that changes them does not change the store", async () => {
    const store = await openAnimalStore()
    const created = await store.pets.create({ name: "Rex", categoryId: 1n })
    Object.assign(created, { name: "changed" })
    Object.assign((await store.pets.get(1n)) ?? {}, { name: "changed" })
    Object.assign((await store.pets.list())[0] ?? {}, { name: "changed" })
    expect((await store.pets.get(1n))?.name).toBe("Rex")
    const { id, key, limits } = await store.keys.issue({ plan: "Free", metadata: { crm: 7 } })
    const verified = await store.keys.verify(key)
    Object.assign(limits, { perMinute: 1 })
    Object.assign(verified?.limits ?? {}, { perMinute: 2 })
    Object.assign(verified?.metadata ?? {}, { crm: 8 })
    const another = await store.keys.issue({ plan: "Free" })
    for (const issued of [id, another.id]) {
      expect((await store.keys.show(issued)).limits).toEqual({ perMinute: 60, perDay: 1_000 })
    }
    expect((await store.keys.show(id)).metadata).toEqual({ crm: 7 })
    await store.close()
  })
})

describe("the `now` option", () => {
  it("sets the clock that rate limits use", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.nat({ max: 1_000 }), async (perMinute, early) => {
        let now = Date.UTC(2026, 11, 1)
        const store = await openAnimalStore({ now: () => now })
        const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute, perDay: 99 } })
        const status = async () => (await get(store, "/v1/pets", key)).status
        for (let count = 0; count < perMinute; count++) expect(await status()).toBe(200)
        expect(await status()).toBe(429)
        now += 60_000 / perMinute - early - 1
        expect(await status()).toBe(429)
        now += early + 1
        expect(await status()).toBe(200)
        await store.close()
      }),
      { numRuns: 10 }
    )
  })

  it("may return fractions of milliseconds", async () => {
    const log: Array<string> = []
    const store = await openAnimalStore({ now: () => 1_800_000_000_000.9, log: (line) => log.push(line) })
    const { id, key } = await store.keys.issue({ plan: "Free", expires: { inMs: 1_000 } })
    expect(await store.keys.show(id)).toMatchObject({
      createdAt: 1_800_000_000_000,
      expiresAt: 1_800_000_001_000
    })
    expect((await get(store, "/v1/pets", key)).status).toBe(200)
    expect(log[0]).toContain("2027-01-15T08:00:00.000Z")
    await store.close()
  })

  it("sets the clock that decides when getPet starts to return 410", async () => {
    let now = Date.UTC(2030, 11, 5) - 1
    const store = await open({ now: () => now })
    const { key } = await store.keys.issue({ plan: "Free" })
    await create(store, key)
    expect((await get(store, "/v1/pets/1", key)).status).toBe(200)
    now += 1
    const gone = await get(store, "/v1/pets/1", key)
    expect([gone.status, gone.headers.get("Date")]).toEqual([410, "Thu, 05 Dec 2030 00:00:00 GMT"])
  })
})

describe("the `now` option of a program without types", () => {
  it.each([
    ["a Date", () => new Date()],
    ["a text", () => "1800000000000"],
    ["NaN", () => Number.NaN]
  ])("cannot return %s", async (_, now) => {
    // The cast gives the option a value that its type forbids.
    const opening = openAnimalStore({ now: now as () => number })
    await expect(opening).rejects.toMatchObject({ _tag: "InvalidOption", option: "now" })
  })

  it("makes what needs the time fail with a reason if it returns no time later", async () => {
    let time = 1_800_000_000_000
    const store = await openAnimalStore({ now: () => time })
    time = Number.NaN
    await expect(store.keys.issue({ plan: "Free" })).rejects.toThrow(
      "the option now must return epoch milliseconds, not NaN"
    )
    time = 1_800_000_000_000
    await store.close()
  })
})

describe("the `ban` option", () => {
  const exhaust = async (store: AnimalStore): Promise<ReadonlyArray<unknown>> => {
    const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 1, perDay: 9 } })
    const codes: Array<unknown> = []
    for (let count = 0; count < 4; count++) {
      const body: unknown = await (await get(store, "/v1/pets", key)).json()
      codes.push(typeof body === "object" && body !== null && "code" in body ? body.code : 200)
    }
    return codes
  }
  const now = () => Date.UTC(2026, 11, 1)

  it("overrides only the given fields of the standard policy", async () => {
    const store = await open({ now, ban: { strikes: 1 } })
    expect(await exhaust(store)).toEqual([200, "rate_limit_exceeded", "api_key_banned", "api_key_banned"])
  })

  it("uses the standard policy if the option or its fields are undefined", async () => {
    const limited = [200, "rate_limit_exceeded", "rate_limit_exceeded", "rate_limit_exceeded"]
    expect(await exhaust(await open({ now }))).toEqual(limited)
    const untyped: object = { strikes: undefined, durationsMs: undefined }
    expect(await exhaust(await open({ now, ban: untyped }))).toEqual(limited)
  })
})

describe("the `clientAddress` option", () => {
  it("gives each client network its own anonymous rate limit", async () => {
    const clientAddress = (request: Request) => new URL(request.url).searchParams.get("from") ?? undefined
    const store = await open({ clientAddress })
    const remaining = async (from: string) =>
      (await get(store, `/v1/pets?from=${from}`)).headers.get("X-RateLimit-Remaining")
    expect([
      await remaining("203.0.113.1"),
      await remaining("203.0.113.1"),
      await remaining("203.0.113.2")
    ]).toEqual(["59", "58", "59"])
  })
})

describe("the `log` option", () => {
  /** Creates a request that throws while it is handled. */
  const brokenRequest = (key: string): Request => {
    const request = new Request("http://store.test/v1/pets", {
      method: "POST",
      headers: { Authorization: `Bearer ${key}` }
    })
    const get = (name: string): string | null => {
      if (name === "content-encoding") throw new Error("the host is broken")
      return Headers.prototype.get.call(request.headers, name)
    }
    Object.defineProperty(request.headers, "get", { value: get })
    return request
  }

  it("receives the cause of a 500 response and its X-Request-Id, but no key", async () => {
    const lines: Array<string> = []
    const store = await open({ logLevel: "warn", log: (line) => lines.push(line) })
    const { key } = await store.keys.issue({ plan: "Free" })
    expect((await create(store, key)).status).toBe(201)
    expect(lines).toEqual([])
    const response = await store.fetch(brokenRequest(key))
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain("the host is broken")
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain("the host is broken")
    expect(lines[0]).toContain(response.headers.get("X-Request-Id"))
    expect(lines[0]).not.toContain(key)
  })

  it("can throw an error without affecting the response", async () => {
    const store = await open({
      log: () => {
        throw new Error("disk full")
      }
    })
    const { key } = await store.keys.issue({ plan: "Free" })
    expect((await store.fetch(brokenRequest(key))).status).toBe(500)
  })

  it("can return a rejected promise without causing an unhandled rejection", async () => {
    const unhandled: Array<unknown> = []
    const collect = (reason: unknown): void => void unhandled.push(reason)
    process.on("unhandledRejection", collect)
    const store = await open({
      log: async () => {
        throw new Error("disk full")
      }
    })
    const { key } = await store.keys.issue({ plan: "Free" })
    expect((await store.fetch(brokenRequest(key))).status).toBe(500)
    await new Promise(setImmediate)
    process.off("unhandledRejection", collect)
    expect(unhandled).toEqual([])
  })

  it("receives the first of 50 equal failures as a line, and counts the others in summaries", async () => {
    const lines: Array<string> = []
    const store = await openAnimalStore({ logLevel: "warn", log: (line) => lines.push(line) })
    const { key } = await store.keys.issue({ plan: "Free" })
    for (let count = 0; count < 50; count++) await store.fetch(brokenRequest(key))
    await store.close()
    expect(lines[0]).toMatch(/message="500 internal_error" cause=.* request=/)
    expect(lines.length).toBeLessThan(50)
    const counts = lines.slice(1).map((line) => Number(/500 internal_error × (\d+) in/.exec(line)?.[1]))
    expect(counts.reduce((sum, count) => sum + count, 1)).toBe(50)
  })
})

describe("listen", () => {
  it("listens on the loopback address if the host option is undefined", async () => {
    const store = await open()
    // An untyped program passes `undefined` for an environment variable that is not set.
    const address: unknown = await Reflect.apply(store.listen, undefined, [{ host: undefined, port: 0 }])
    expect(address).toMatchObject({ address: "127.0.0.1" })
  })

  it("serves HTTP requests until the store is closed", async () => {
    const store = await open()
    const { address, port } = await store.listen({ port: 0 })
    expect(address).toBe("127.0.0.1")
    expect((await fetch(`http://127.0.0.1:${port}/v1/pets`)).status).toBe(401)
    await store.close()
    await expect(fetch(`http://127.0.0.1:${port}/v1/pets`)).rejects.toThrow("fetch failed")
  })

  it("rejects with the address and the reason if the port is in use, and succeeds once the port is free", async () => {
    const otherServer = createServer()
    await new Promise<void>((resolve) => otherServer.listen(0, "127.0.0.1", resolve))
    const { port } = otherServer.address() as AddressInfo // a TCP listener's address is neither a pipe name nor null
    const store = await open()
    const reason = await rejection(store.listen({ port }))
    await new Promise((resolve) => otherServer.close(resolve))
    expect(reason).toBeInstanceOf(ListenFailed)
    expect(reason).toMatchObject({
      message: expect.stringMatching(
        new RegExp(`^cannot listen on 127\\.0\\.0\\.1:${port}: .*address already in use`)
      )
    })
    expect((await store.listen({ port })).port).toBe(port)
  })
})

describe("drain", () => {
  const hasSettled = async (promise: Promise<void>, afterMs: number): Promise<boolean> => {
    const timeout = new Promise<false>((resolve) => setTimeout(resolve, afterMs, false))
    return Promise.race([promise.then(() => true), timeout])
  }

  it("makes /readyz return 503 and closes connections after a response, while requests and listen still work", async () => {
    const store = await open()
    const { key } = await store.keys.issue({ plan: "Free" })
    expect((await get(store, "/readyz")).status).toBe(200)
    const drained = store.drain(60_000)
    const { port } = await store.listen({ port: 0 })
    expect((await get(store, "/readyz")).status).toBe(503)
    expect((await create(store, key)).status).toBe(201)
    const headers = { Authorization: `Bearer ${key}` }
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers })
    expect([response.status, response.headers.get("connection")]).toEqual([200, "close"])
    expect(await hasSettled(drained, 50)).toBe(false)
    await store.close()
    await drained
  })

  it("resolves after the given number of milliseconds", async () => {
    const store = await open()
    await get(store, "/readyz")
    const startedAt = performance.now()
    await store.drain(100)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(99)
    expect((await get(store, "/readyz")).status).toBe(503)
  })

  it("resolves immediately if the store has received no request, or when the store closes", async () => {
    const store = await open()
    await store.drain(60_000)
    await get(store, "/livez")
    const closed = store.close()
    await store.drain(60_000)
    await closed
  })
})

describe("close", () => {
  it("makes listen reject, even before the store is closed", async () => {
    const store = await openAnimalStore()
    const closed = store.close()
    expect(await rejection(store.listen({ port: 0 }))).toMatchObject({ message: "the store is closed" })
    await closed
    expect(await rejection(store.listen({ port: 0 }))).toMatchObject({ message: "the store is closed" })
  })

  it("can be called several times, before and after the store is closed", async () => {
    const store = await openAnimalStore()
    await store.listen({ port: 0 })
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  it("drains for drainMs milliseconds first: requests still succeed, and /readyz returns 503", async () => {
    const store = await openAnimalStore()
    const { key } = await store.keys.issue({ plan: "Free" })
    const { port } = await store.listen({ port: 0 })
    const headers = { Authorization: `Bearer ${key}` }
    await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers })
    const startedAt = performance.now()
    const closed = store.close({ drainMs: 500 })
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers })
    expect([response.status, response.headers.get("connection")]).toEqual([200, "close"])
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503)
    await closed
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(499)
    await expect(fetch(`http://127.0.0.1:${port}/readyz`)).rejects.toThrow("fetch failed")
  })

  it("ends a running drain when it is called again without drainMs, and returns the same promise", async () => {
    const store = await openAnimalStore()
    await get(store, "/livez")
    // Longer than the timeout of a test.
    const drained = store.close({ drainMs: 3_600_000 })
    expect(store.close({ drainMs: 3_600_000 })).toBe(drained)
    expect(store.close()).toBe(drained)
    await drained
  })

  /** Closes the store while a request is in flight, and then calls `finish`, which completes the request. */
  const closeDuringRequest = async (store: AnimalStore, response: Promise<number>, finish: () => void) => {
    let isClosed = false
    const closed = store.close()
    const closedAgain = store.close().then(() => {
      isClosed = true
    })
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    const isClosedEarly = isClosed
    finish()
    const status = await response
    await Promise.all([closed, closedAgain])
    return { isClosedEarly, status }
  }

  it("waits for a request in flight that arrived through fetch", async () => {
    const store = await openAnimalStore()
    const { key } = await store.keys.issue({ plan: "Free" })
    let finish: () => void = () => undefined
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        finish = () => {
          controller.enqueue(new TextEncoder().encode('{"name":"Rex","categoryId":1}'))
          controller.close()
        }
      }
    })
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
    const init = { method: "POST", headers, body: stream, duplex: "half" as const }
    const response = store.fetch(new Request("http://store.test/v1/pets", init))
    const status = response.then((response) => response.status)
    expect(await closeDuringRequest(store, status, finish)).toEqual({ isClosedEarly: false, status: 201 })
  })

  it("waits for a request in flight that arrived through a socket", async () => {
    const store = await openAnimalStore()
    const { key } = await store.keys.issue({ plan: "Free" })
    const { port } = await store.listen({ port: 0 })
    const body = '{"name":"Rex","categoryId":1}'
    const request = httpRequest({
      port,
      method: "POST",
      path: "/v1/pets",
      headers: {
        Authorization: `Bearer ${key}`,
        "Content-Type": "application/json",
        "Content-Length": body.length,
        // The server sends "100 Continue" after it has admitted the request, so the request is then in flight.
        Expect: "100-continue"
      }
    })
    request.flushHeaders()
    await once(request, "continue")
    const response = new Promise<number>((resolve, reject) => {
      request.once("error", reject)
      request.once("response", (response: IncomingMessage) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
    })
    const finish = () => void request.end(body)
    expect(await closeDuringRequest(store, response, finish)).toEqual({ isClosedEarly: false, status: 201 })
  })

  it("keeps a memory store readable, but makes /readyz return 503", async () => {
    const store = await openAnimalStore()
    const { key } = await store.keys.issue({ plan: "Free" })
    await store.close()
    expect((await get(store, "/readyz")).status).toBe(503)
    expect((await get(store, "/v1/pets", key)).status).toBe(200)
  })
})
