import { Buffer } from "node:buffer"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import type { RateLimitStore } from "../ports/RateLimitStore.ts"
import * as Exchange from "./Exchange.ts"
import { badAuthorization, sent } from "./Service.arbitrary.ts"
import {
  dying,
  enterprise,
  failing,
  newPet,
  open,
  run,
  type Setup,
  type TestResponse,
  type TestStore,
  unlimited
} from "./Service.fixture.ts"

interface WatchedStore extends TestStore {
  readonly secret: string
  readonly exchanges: Array<Exchange.Exchange>
}

/** Creates a service that all runs of a property share, with the list of exchanges that it reports. */
const openWatched = async (setup: Setup = {}): Promise<WatchedStore> => {
  const exchanges: Array<Exchange.Exchange> = []
  const scope = Scope.makeUnsafe()
  const store = await Effect.runPromise(
    open({ ...setup, observer: (exchange) => exchanges.push(exchange) }).pipe(
      Scope.provide(scope),
      Effect.provide(TestClock.layer())
    )
  )
  const { secret } = await Effect.runPromise(store.issue(unlimited))
  return { ...store, secret, exchanges }
}

/** Generates any requests, most of them with a valid key. */
const anySent = (secret: string) =>
  sent({
    authorization: fc.oneof(
      { weight: 3, arbitrary: fc.constant(`Bearer ${secret}`) },
      { weight: 1, arbitrary: badAuthorization }
    )
  })

const setups: ReadonlyArray<readonly [name: string, setup: Setup]> = [
  ["working stores", {}],
  ["an animal store that fails", { pets: failing }],
  ["an animal store with a defect", { pets: dying }],
  ["a rate limit store that fails", { limits: failing }],
  ["a key store with a defect", { keys: dying }]
]

describe("the observer", () => {
  it.each(setups)(
    "with %s, gets exactly one exchange per response, and it describes that response",
    async (_, setup) => {
      const { exchanges, secret, send } = await openWatched(setup)
      await fc.assert(
        fc.asyncProperty(anySent(secret), async (request) => {
          exchanges.length = 0
          const response = await run(send(request))
          expect(exchanges).toEqual([
            expect.objectContaining({
              requestId: response.header("X-Request-Id"),
              status: response.status,
              errorCode: response.status >= 400 ? response.code : undefined,
              isProbe: response.header("X-RateLimit-Limit") === undefined,
              bodyBytes: request.method === "HEAD" ? 0 : Buffer.byteLength(response.body)
            })
          ])
        }),
        { numRuns: 200 }
      )
    }
  )

  it("gets a bounded number of methods and routes", async () => {
    const { exchanges, secret, send } = await openWatched()
    await fc.assert(
      fc.asyncProperty(anySent(secret), async (request) => void (await run(send(request)))),
      { numRuns: 300 }
    )
    for (const { method, route } of exchanges) {
      expect(method).toMatch(/^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|QUERY|_OTHER)$/)
      expect([undefined, "/v1/pets", "/v1/pets/{petId}", "/livez", "/readyz", "/openapi.json"]).toContain(
        route
      )
    }
  })

  it("gets no secret, whichever part of the request contains the secret", async () => {
    const { exchanges, secret, send } = await openWatched({ options: { requestIdHeader: "X-Request-Id" } })
    const places = [
      { method: secret },
      { target: `/v1/${secret}` },
      { target: `/v1/pets/${secret}` },
      { target: `/v1/pets?${secret}=${secret}` },
      { target: `http://${secret}@host/v1/pets` },
      { headers: [["X-Request-Id", secret] as const] },
      { method: "POST", json: { ...newPet, name: secret } },
      { method: "POST", body: secret },
      { headers: [["Authorization", `Basic ${secret}`] as const] }
    ]
    for (const place of places) {
      await run(send(place))
      await run(send({ key: secret, ...place }))
    }
    expect(exchanges).toHaveLength(places.length * 2)
    expect(JSON.stringify(exchanges)).not.toContain(secret)
  })

  it("gets the beginning of a path, without the query, if and only if no resource has the path", async () => {
    const { exchanges, secret, send } = await openWatched()
    const target = fc.oneof(
      fc.constantFrom("/v1/pets", "/v1/pets/7", "/livez"),
      fc.webPath(),
      fc.string({ maxLength: 400 }).map((text) => `/${text}`)
    )
    await fc.assert(
      fc.asyncProperty(target, fc.constantFrom("", "?a=b"), async (path, query) => {
        exchanges.length = 0
        await run(send({ key: secret, target: path + query }))
        const [exchange] = exchanges
        const isKnown = exchange?.route !== undefined
        expect(exchange?.unknownPath).toBe(isKnown ? undefined : path.replace(/\?.*$/s, "").slice(0, 200))
      })
    )
  })

  it("gets the client's network: an IPv4 address or an IPv6 /64, as trusted proxies report it", async () => {
    const networkOf = async (trustedProxyHops: number, clientAddress: string | undefined) => {
      const { exchanges, send } = await openWatched({ options: { trustedProxyHops } })
      await run(send({ clientAddress, headers: [["X-Forwarded-For", "192.0.2.7, 198.51.100.1"]] }))
      return exchanges[0]?.network
    }
    expect(await networkOf(0, "::ffff:203.0.113.9")).toBe("203.0.113.9")
    expect(await networkOf(0, "2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64")
    expect(await networkOf(0, undefined)).toBeUndefined()
    expect(await networkOf(2, "203.0.113.9")).toBe("192.0.2.7")
  })

  it("gets the client's request id from the configured header if it is printable ASCII, cut to 128 characters", async () => {
    const { exchanges, send } = await openWatched({ options: { requestIdHeader: "X-Correlation-ID" } })
    const idOf = async (value: string, name = "x-correlation-id"): Promise<string | undefined> => {
      exchanges.length = 0
      await run(send({ headers: [[name, value]] }))
      return exchanges[0]?.clientRequestId
    }
    expect(await idOf(' a-1 "b" ')).toBe('a-1 "b"')
    expect(await idOf("x".repeat(129))).toBe("x".repeat(128))
    for (const value of ["", " ", "a\u0007b", "é", "a\nb"])
      expect([value, await idOf(value)]).toEqual([value, undefined])
    expect(await idOf("a", "x-request-id")).toBeUndefined()
  })

  it("gets an outcome if and only if the request was counted", async () => {
    let countedRequests = 0
    const limits: NonNullable<Setup["limits"]> = (real) => {
      const modify: RateLimitStore["Service"]["modify"] = (key, step) => {
        // An IPv6 request is also counted against its site, and a probe is not counted against any caller.
        if (!key.includes("/48")) countedRequests++
        return real.modify(key, step)
      }
      return { modify }
    }
    const { exchanges, issue, send } = await openWatched({ limits })
    const { id, secret } = await Effect.runPromise(issue(enterprise(2, 3)))
    await fc.assert(
      fc.asyncProperty(anySent(secret), async (request) => void (await run(send(request)))),
      { numRuns: 300 }
    )
    const outcomes = exchanges.filter(({ outcome }) => outcome !== undefined)
    expect(outcomes).toHaveLength(countedRequests)
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toContain("limited")
    for (const { keyId, plan } of exchanges) {
      expect([keyId, plan]).toEqual(keyId === id ? [id, "Enterprise"] : [undefined, undefined])
    }
  })

  it("does not affect the response when it throws", async () => {
    const observer = () => {
      throw new Error("the observer is broken")
    }
    const response: TestResponse = await run(Effect.flatMap(open({ observer }), ({ send }) => send()))
    expect([response.status, response.code]).toEqual([401, "missing_api_key"])
  })

  it.effect("gets one exchange for a transport error", () =>
    Effect.gen(function* () {
      const exchanges: Array<Exchange.Exchange> = []
      const { service } = yield* open({ observer: (exchange) => exchanges.push(exchange) })
      const response = yield* service.transportError("malformed_request", "192.0.2.1")
      expect(exchanges).toEqual([
        expect.objectContaining({
          method: "_OTHER",
          status: response.status,
          errorCode: "malformed_request",
          outcome: "admitted"
        })
      ])
    })
  )

  it.effect("gets an exchange without a status when the client disconnects", () =>
    Effect.gen(function* () {
      const exchanges: Array<Exchange.Exchange> = []
      const isAdmitted = yield* Deferred.make<void>()
      const store = yield* open({
        observer: (exchange) => exchanges.push(exchange),
        pets: (real) => ({
          ...real,
          page: () => Effect.andThen(Deferred.succeed(isAdmitted, undefined), Effect.never)
        })
      })
      const { id, secret } = yield* store.issue("Free")
      const fiber = yield* Effect.forkChild(store.send({ key: secret }))
      yield* Deferred.await(isAdmitted)
      yield* Fiber.interrupt(fiber)
      expect(exchanges).toEqual([
        expect.objectContaining({ status: undefined, keyId: id, route: "/v1/pets", outcome: "admitted" })
      ])
    })
  )

  it.effect("gets the duration from the arrival of a request to its response", () =>
    Effect.gen(function* () {
      const exchanges: Array<Exchange.Exchange> = []
      const store = yield* open({
        observer: (exchange) => exchanges.push(exchange),
        limits: (real) => ({
          ...real,
          modify: (key, step) => Effect.andThen(Effect.sleep("250 millis"), real.modify(key, step))
        })
      })
      const fiber = yield* Effect.forkChild(store.send())
      yield* TestClock.adjust("250 millis")
      yield* Fiber.join(fiber)
      expect(exchanges.map(({ durationMs }) => durationMs)).toEqual([250])
    })
  )
})

describe("a ban", () => {
  it.effect("is reported and logged once, with the id of the request that caused the ban", () =>
    Effect.gen(function* () {
      const exchanges: Array<Exchange.Exchange> = []
      const store = yield* open({ observer: (exchange) => exchanges.push(exchange) })
      const { id, secret } = yield* store.issue(enterprise(1, 1_000))
      for (let second = 0; second < 40; second++) {
        yield* store.send({ key: secret })
        yield* store.send({ key: secret })
        yield* TestClock.adjust("1 second")
      }
      const [ban, ...others] = exchanges.filter(({ bannedUntil }) => bannedUntil !== undefined)
      expect([ban?.outcome, others]).toEqual(["banned", []])
      const lines = store.logs.filter((line) => line.includes("key banned"))
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain(`"request":"${ban?.requestId}"`)
      expect(lines[0]).toContain(`"key":"${id}"`)
      expect(lines[0]).toContain(`"until":"${new Date(ban?.bannedUntil ?? 0).toISOString()}"`)
    })
  )
})

describe("an outage of the stores", () => {
  it.effect("is logged once when it begins and once when it ends, with its duration", () =>
    Effect.gen(function* () {
      let isDown = false
      const store = yield* open({
        pets: (real) => {
          const broken = failing(real)
          return { ...real, page: (query) => (isDown ? broken : real).page(query) }
        }
      })
      const { secret } = yield* store.issue(unlimited)
      const sendAll = Effect.repeat(
        Effect.andThen(store.send({ key: secret }), TestClock.adjust("1 second")),
        { times: 4 }
      )
      yield* sendAll
      isDown = true
      yield* sendAll
      isDown = false
      yield* sendAll
      expect(store.logs.filter((line) => line.includes("database"))).toEqual([
        expect.stringMatching(/^\["?database unavailable.*"request":"/),
        expect.stringMatching(/^\["?database available again.*"afterMs":5000/)
      ])
    })
  )

  it.effect("is also logged when only the rate limit store fails and requests are admitted uncounted", () =>
    Effect.gen(function* () {
      let isDown = false
      const store = yield* open({
        limits: (real) => {
          const broken = failing(real)
          return { ...real, modify: (caller, step) => (isDown ? broken : real).modify(caller, step) }
        },
        options: { onLimitsUnavailable: "open" }
      })
      const { secret } = yield* store.issue(unlimited)
      const sendAll = Effect.repeat(
        Effect.andThen(
          Effect.andThen(store.send({ key: secret }), store.send()),
          TestClock.adjust("1 second")
        ),
        { times: 19 }
      )
      yield* sendAll
      isDown = true
      yield* sendAll
      yield* TestClock.adjust("10 seconds")
      expect((yield* store.send({ target: "/readyz" })).status).toBe(200)
      isDown = false
      const unauthorized = yield* store.send()
      expect(unauthorized.status).toBe(401)
      expect(store.logs.filter((line) => line.includes("database"))).toEqual([
        expect.stringMatching(/^\["?database unavailable.*"request":"/),
        expect.stringMatching(/^\["?database available again.*"afterMs":30000/)
      ])
    })
  )

  it.effect("is logged with the id of the request in each line", () =>
    Effect.gen(function* () {
      const store = yield* open({ limits: failing })
      const response = yield* store.send()
      expect(response.status).toBe(503)
      expect(store.logs).toHaveLength(2)
      for (const line of store.logs) expect(line).toContain(response.header("X-Request-Id"))
      const openStore = yield* open({ limits: failing, options: { onLimitsUnavailable: "open" } })
      const uncounted = yield* openStore.send()
      expect(openStore.logs).toHaveLength(2)
      for (const line of openStore.logs) expect(line).toContain(uncounted.header("X-Request-Id"))
    })
  )
})

describe("Exchange.combine", () => {
  it("calls all observers even when one throws, and returns undefined without observers", () => {
    const called: Array<string> = []
    const combined = Exchange.combine([
      undefined,
      () => called.push("a"),
      () => {
        throw new Error("broken")
      },
      () => called.push("b")
    ])
    combined?.({} as Exchange.Exchange, undefined) // the observers ignore it
    expect(called).toEqual(["a", "b"])
    expect(Exchange.combine([undefined])).toBeUndefined()
  })
})
