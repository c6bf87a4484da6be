import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as ApiKeySecret from "../access/ApiKeySecret.ts"
import { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { CountPer } from "../limits/CountPer.ts"
import * as Plan from "../limits/Plan.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { enterprise, failing, open, type Sent, start, stocked, type TestResponse } from "./Service.fixture.ts"

/** A well-formed secret that belongs to no stored key. */
const unknownSecret = "ast_00000000000000000000000000010kADx"

const countLinesAbout = (message: string, lines: ReadonlyArray<string>): number =>
  lines.filter((line) => line.includes(message)).length

const bearer = (value: string): Sent => ({ headers: [["Authorization", value]] })

describe("Credentials", () => {
  it.effect("every request without a credential gets the same 401, and the challenge names no error", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue("Free")
      const missing: ReadonlyArray<Sent> = [
        {},
        bearer(""),
        { target: `/v1/pets?access_token=${secret}` },
        { headers: [["Cookie", `Authorization=Bearer ${secret}`]] },
        { headers: [["Proxy-Authorization", `Bearer ${secret}`]] },
        { headers: [["X-API-Key", secret]] },
        { target: "/v1/nothing", method: "FOO" }
      ]
      for (const sent of missing) {
        const response = yield* store.send(sent)
        expect([response.status, response.code]).toEqual([401, "missing_api_key"])
        expect(response.all("WWW-Authenticate")).toEqual(['Bearer realm="animals"'])
        expect(response.body).toBe((yield* store.send()).body)
      }
    })
  )

  it.effect("every invalid credential gets the same 401, which does not reveal the reason", () =>
    Effect.gen(function* () {
      const store = yield* open({ options: { anonymousPlan: { perMinute: 1000, perDay: 1000 } } })
      const { secret } = yield* store.issue("Free")
      const second = yield* store.issue("Free")
      const revoked = yield* store.issue("Free")
      yield* store.revoke(revoked.id)
      const rotated = yield* store.issue("Free")
      yield* store.rotate(rotated.id, 1000)
      yield* TestClock.adjust(1000)
      const hash = yield* Effect.provide(ApiKeySecret.hash(secret), NodeCrypto.layerDigest)
      expect(ApiKeySecret.parse(unknownSecret)).toBeDefined()
      // `Bearer.test.ts` and `ApiKeySecret.laws.test.ts` list the malformed ones.
      const invalid = [
        ...[
          "Bearer",
          `Bearer ${secret} `,
          `Bearer ${secret}, Bearer ${second.secret}`,
          `Basic ${btoa(secret)}`
        ],
        ...[`Bearer ${secret}0`, `Bearer ${"a".repeat(100_000)}`, "Bearer __proto__", "Bearer \0"],
        ...[unknownSecret, hash, revoked.secret, rotated.secret].map((text) => `Bearer ${text}`)
      ]
      const bodies = new Set<string>()
      for (const value of invalid) {
        const response = yield* store.send(bearer(value))
        expect([value, response.status, response.code]).toEqual([value, 401, "invalid_api_key"])
        expect(response.all("WWW-Authenticate")).toEqual(['Bearer realm="animals", error="invalid_token"'])
        bodies.add(response.body)
      }
      expect(bodies.size).toBe(1)
      const twice: Sent = {
        headers: [
          ["Authorization", `Bearer ${secret}`],
          ["authorization", `Bearer ${secret}`]
        ]
      }
      expect((yield* store.send(twice)).code).toBe("invalid_api_key")
      expect((yield* store.send({ key: secret })).rate[1]).toBe(59)
    })
  )

  it.effect("a malformed credential causes no store lookup", () =>
    Effect.gen(function* () {
      let lookups = 0
      const store = yield* open({
        keys: (real) => ({
          ...real,
          findByHash: (hash) => {
            lookups++
            return real.findByHash(hash)
          }
        })
      })
      const { secret } = yield* store.issue("Free")
      for (const key of [
        "x",
        secret.slice(0, -1),
        `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`
      ]) {
        yield* store.send({ key })
      }
      yield* store.send()
      expect(lookups).toBe(0)
      yield* store.send({ key: secret })
      yield* store.send({ key: unknownSecret })
      expect(lookups).toBe(2)
    })
  )
})

describe("Limits of requests without a valid key", () => {
  it.effect(
    "are by default those of Free, per network: responses are 401 until the limits are exhausted, then 429",
    () =>
      Effect.gen(function* () {
        const store = yield* open()
        for (let left = 59; left >= 0; left--) {
          const response = yield* store.send(left % 2 === 0 ? {} : { key: unknownSecret })
          expect([response.status, ...response.rate]).toEqual([401, 60, left, start / 1000 + 60 - left])
        }
        const rejected = yield* store.send()
        expect([rejected.status, rejected.code]).toEqual([429, "rate_limit_exceeded"])
        expect(rejected.all("WWW-Authenticate")).toEqual([])
        expect([rejected.header("Retry-After"), ...rejected.rate]).toEqual(["1", 60, 0, start / 1000 + 60])
        expect((yield* store.send({ clientAddress: "192.0.2.2" })).rate).toEqual([60, 59, start / 1000 + 1])
        expect((yield* store.send({ clientAddress: undefined })).status).toBe(401)
        yield* TestClock.adjust(1000)
        expect((yield* store.send()).status).toBe(401)
      })
  )

  it.effect("are counted with the `consume` method of the rate limit store if the store has one", () =>
    Effect.gen(function* () {
      class Counting {
        readonly callers: Array<string> = []
        modify(): Effect.Effect<never> {
          return Effect.die(new Error("modify must not be called"))
        }
        consume(caller: string, now: number, policy: RateLimit.Policy) {
          this.callers.push(caller)
          return Effect.succeed(RateLimit.step(undefined, now, policy)[0])
        }
      }
      const limits = new Counting()
      const store = yield* open({ limits: () => limits })
      const { id, secret } = yield* store.issue("Free")
      expect((yield* store.send({ key: secret })).rate).toEqual([60, 59, start / 1000 + 1])
      expect((yield* store.send()).status).toBe(401)
      expect(limits.callers).toEqual([`key:${id}`, "network:192.0.2.1"])
    })
  )

  it.effect("are stored as one state per network for all unknown keys, and never under a secret", () =>
    Effect.gen(function* () {
      const callers = new Set<string>()
      const store = yield* open({
        limits: (real) => ({
          modify: (caller, step) => {
            callers.add(caller)
            return real.modify(caller, step)
          }
        })
      })
      const { id, secret } = yield* store.issue("Free")
      yield* store.send({ key: secret })
      for (let index = 0; index < 1000; index++) yield* store.send({ key: `ast_${index}` })
      yield* store.send({ key: unknownSecret })
      expect([...callers]).toEqual([`key:${id}`, "network:192.0.2.1"])
    })
  )

  it.effect("never ban a network: further requests after a 429 are only limited", () =>
    Effect.gen(function* () {
      const store = yield* open({ options: { anonymousPlan: { perMinute: 1, perDay: 1000 } } })
      yield* store.send()
      for (let second = 0; second < 59; second++) {
        yield* TestClock.adjust(1000)
        expect((yield* store.send()).code).toBe("rate_limit_exceeded")
      }
      yield* TestClock.adjust(1000)
      expect((yield* store.send()).status).toBe(401)
    })
  )

  it.effect("are 16 times as high for an IPv6 site as for one of its networks", () =>
    Effect.gen(function* () {
      const store = yield* open({ options: { anonymousPlan: { perMinute: 2, perDay: 1000 } } })
      const statusOf = (clientAddress: string) =>
        Effect.map(store.send({ clientAddress }), ({ status }) => status)
      expect(yield* statusOf("2001:db8:1:1::7")).toBe(401)
      expect(yield* statusOf("2001:db8:1:1::8")).toBe(401)
      // Denied requests from a network consume nothing from the site's limit.
      for (let count = 0; count < 40; count++) expect(yield* statusOf("2001:db8:1:1::9")).toBe(429)
      const statuses: Array<number> = []
      for (let network = 2; network < 50; network++)
        statuses.push(yield* statusOf(`2001:db8:1:${network}::7`))
      expect(statuses.filter((status) => status === 401)).toHaveLength(30)
      expect(yield* statusOf("2001:db8:2:1::7")).toBe(401)
      const { rate } = yield* store.send({ clientAddress: "2001:db8:1:99::7" })
      expect(rate.slice(0, 2)).toEqual([32, 0])
    })
  )

  it.effect("apply to the address of the socket, or to the forwarded address if a proxy is trusted", () =>
    Effect.gen(function* () {
      const forgedRequest: Sent = { headers: [["X-Forwarded-For", "198.51.100.7"]] }
      const direct = yield* open()
      yield* direct.send(forgedRequest)
      expect((yield* direct.send()).rate[1]).toBe(58)
      const proxied = yield* open({ options: { trustedProxyHops: 1 } })
      yield* proxied.send(forgedRequest)
      expect((yield* proxied.send()).rate[1]).toBe(59)
      expect((yield* proxied.send(forgedRequest)).rate[1]).toBe(58)
    })
  )
})

describe("Plans", () => {
  it.effect.each(["Free", "Pro", "Business"] as const)("%s has the limits of contract §8.2", (plan) =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(plan)
      const { perDay, perMinute } = Plan.standard[plan]
      const response = yield* store.send({ key: secret })
      expect(response.rate.slice(0, 2)).toEqual([perMinute, perMinute - 1])
      expect(response.header("RateLimit-Policy")).toBe(
        `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`
      )
    })
  )

  it.effect(
    "of a key deny requests above the minute's limit for a minute, and above the day's until midnight",
    () =>
      Effect.gen(function* () {
        const [perMinute, perDay] = [60, 1000]
        const store = yield* open()
        const { secret } = yield* store.issue("Free")
        const send = store.send({ key: secret, target: "/v1/nothing" })
        for (let used = 1; used < perMinute; used++) yield* send
        expect((yield* send).rate).toEqual([perMinute, 0, start / 1000 + 60])
        for (let used = perMinute; used < perDay; used += perMinute) {
          yield* TestClock.adjust(60_000)
          for (let sent = 0; sent < Math.min(perMinute, perDay - used); sent++) yield* send
        }
        yield* TestClock.adjust(60_000)
        const rejected = yield* send
        const midnight = Date.UTC(2027, 0, 2) / 1000
        const now = (yield* TestClock.testClockWith(({ currentTimeMillis }) => currentTimeMillis)) / 1000
        expect([rejected.status, ...rejected.rate]).toEqual([429, perDay, 0, midnight])
        expect(rejected.header("Retry-After")).toBe(String(midnight - now))
        yield* TestClock.setTime(midnight * 1000 - 1)
        expect((yield* send).status).toBe(429)
        yield* TestClock.setTime(midnight * 1000)
        expect((yield* send).status).toBe(404)
      })
  )
})

describe("Bans", () => {
  const slowPlan = enterprise(1, 1000)

  /** Exhausts the key, then sends a request per second until it is banned; returns that 429 and the strike count. */
  const sendUntilBanned = Effect.fnUntraced(function* (send: Effect.Effect<TestResponse>) {
    let response = yield* send
    while (response.status !== 429) response = yield* send
    let strikes = 0
    while (response.code !== "api_key_banned") {
      expect(response.code).toBe("rate_limit_exceeded")
      yield* TestClock.adjust(1000)
      strikes++
      response = yield* send
      if (response.status !== 429) response = yield* send
    }
    return { strikes, response }
  })

  it.effect("20 requests before the end of Retry-After ban the key from all operations for a minute", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(slowPlan)
      const { response, strikes } = yield* sendUntilBanned(store.send({ key: secret }))
      expect(strikes).toBe(20)
      const banEnd = start / 1000 + 20 + 60
      expect([response.status, ...response.rate]).toEqual([429, 1, 0, banEnd])
      expect(response.header("Retry-After")).toBe("60")
      for (const sent of [{ target: "/v1/nothing" }, { target: "/v1/pets/1" }, { method: "FOO" }]) {
        expect((yield* store.send({ ...sent, key: secret })).code).toBe("api_key_banned")
      }
    })
  )

  it.effect("the two secrets of a rotated key share the limits and the ban", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { id, secret: old } = yield* store.issue("Free")
      yield* store.send({ key: old })
      const current = yield* store.rotate(id, 86_400_000)
      expect((yield* store.send({ key: current })).rate[1]).toBe(58)
      expect((yield* store.send({ key: old })).rate[1]).toBe(57)
      const banned = yield* store.issue(slowPlan)
      const successor = yield* store.rotate(banned.id, 86_400_000)
      yield* sendUntilBanned(store.send({ key: banned.secret }))
      expect((yield* store.send({ key: successor })).code).toBe("api_key_banned")
      expect((yield* store.send({ key: current })).status).toBe(200)
    })
  )
})

describe("Store failures", () => {
  const reset = start / 1000 + 5

  it.effect(
    "without the rate limit store, the response is a 503 with the key's limit, Remaining 0 and Retry-After",
    () =>
      Effect.gen(function* () {
        const store = yield* open({ limits: failing })
        const { secret } = yield* store.issue("Pro")
        const response = yield* store.send({ key: secret })
        expect([response.status, response.code, ...response.rate]).toEqual([
          503,
          "service_unavailable",
          300,
          0,
          reset
        ])
        expect(response.header("Retry-After")).toBe("5")
        const anonymous = yield* store.send()
        expect([anonymous.status, ...anonymous.rate]).toEqual([503, 60, 0, reset])
      })
  )

  it.effect(
    'an anonymous IPv6 request calls a failing rate limit store only once if onLimitsUnavailable is "open"',
    () =>
      Effect.gen(function* () {
        let calls = 0
        const store = yield* open({
          limits: (real) => ({
            ...failing(real),
            modify: (key, step) => {
              calls++
              return failing(real).modify(key, step)
            }
          }),
          options: { onLimitsUnavailable: "open" }
        })
        expect((yield* store.send({ clientAddress: "2001:db8::7" })).status).toBe(401)
        expect([calls, countLinesAbout("request not counted", store.logs)]).toEqual([1, 1])
      })
  )

  it.effect(
    'requests are served uncounted if the rate limit store fails and onLimitsUnavailable is "open"',
    () =>
      Effect.gen(function* () {
        const store = yield* open({
          limits: failing,
          options: { onLimitsUnavailable: "open" },
          pets: stocked(1)
        })
        const { secret } = yield* store.issue("Pro")
        for (let count = 0; count < 400; count++) {
          const response = yield* store.send({ key: secret })
          expect([response.status, ...response.rate]).toEqual([200, 300, 300, start / 1000])
        }
        const anonymous = yield* store.send()
        expect([anonymous.status, ...anonymous.rate]).toEqual([401, 60, 60, start / 1000])
        expect(countLinesAbout("request not counted", store.logs)).toBe(401)
      })
  )

  it.effect(
    "without the key store, well-formed credentials get a 503 with the limits of Free, and other requests a 401",
    () =>
      Effect.gen(function* () {
        const store = yield* open({ keys: failing, options: { anonymousPlan: { perMinute: 9, perDay: 90 } } })
        const { secret } = yield* store.issue("Business")
        const response = yield* store.send({ key: secret })
        expect([response.status, response.code, ...response.rate]).toEqual([
          503,
          "service_unavailable",
          60,
          0,
          reset
        ])
        expect(response.header("Retry-After")).toBe("5")
        expect((yield* store.send()).rate.slice(0, 2)).toEqual([9, 8])
        expect((yield* store.send({ key: "x" })).status).toBe(401)
      })
  )

  it.effect(
    "without the animal store, the response is a 503 with the caller's limits and consumes a token",
    () =>
      Effect.gen(function* () {
        const store = yield* open({ pets: failing })
        const { secret } = yield* store.issue("Business")
        const response = yield* store.send({ key: secret })
        expect([response.status, response.code, response.rate[0], response.rate[1]]).toEqual([
          503,
          "service_unavailable",
          1000,
          999
        ])
        expect(response.header("Retry-After")).toBe("5")
        expect((yield* store.send({ key: secret, target: "/v1/pets/1" })).rate[1]).toBe(998)
        expect((yield* store.send({ key: secret, target: "/v1/pets/x" })).status).toBe(404)
      })
  )
})

describe("a request with a key, while the store takes 100 ms", () => {
  it.effect("has its turn before most requests of a network that sends other garbage each time", () =>
    Effect.gen(function* () {
      const store = yield* open({
        limits: (limits) => ({
          ...limits,
          modify: (key, step) => Effect.andThen(Effect.sleep(100), limits.modify(key, step))
        })
      })
      const { secret } = yield* store.issue({ plan: "Free" })
      const flood = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 2_000 }, (_, n) => `Bearer garbage${n}`),
          (authorization) => store.send({ headers: [["Authorization", authorization]] }),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.yieldNow
      const response = yield* Effect.forkChild(store.send({ key: secret }))
      // The first 256 requests, then one of the network and this one.
      for (let round = 0; round < 2; round++) yield* TestClock.adjust(100)
      expect(response.pollUnsafe()).toMatchObject({ value: { status: 200 } })
      expect(flood.pollUnsafe()).toBeUndefined()
      yield* Fiber.interrupt(flood)
    })
  )
})

const outage = Effect.fail(new StoreUnavailable({ retryable: true, cause: new Error("no connection") }))

describe("Usage that is carried over to accounts", () => {
  it.effect(
    "is so for at most eight keys at once; after a failure, all that wait call the store at once",
    () =>
      Effect.gen(function* () {
        let inProgress = 0
        let most = 0
        let isOutage = false
        const store = yield* open({
          limits: (limits) => ({
            ...limits,
            read: (keys, at) =>
              Effect.sync(() => ({
                at,
                states: new Map(keys.map((key) => [key, RateLimit.initial(at, Plan.standard.Pro)]))
              })),
            consume: (key, now, policy) => limits.modify(key, (state) => RateLimit.step(state, now, policy)),
            modify: (key, step) =>
              Effect.suspend(() => {
                most = Math.max(most, ++inProgress)
                return Effect.andThen(Effect.sleep(100), isOutage ? outage : limits.modify(key, step))
              }).pipe(Effect.ensuring(Effect.sync(() => inProgress--)))
          })
        }).pipe(Effect.provideService(CountPer, "account"))
        const sendFor = Effect.fnUntraced(function* (prefix: string) {
          const issued = []
          for (let n = 0; n < 50; n++)
            issued.push(yield* store.issue({ plan: "Pro", account: `${prefix} ${n}` }))
          const statuses = Effect.forEach(
            issued,
            ({ secret }) => Effect.map(store.send({ key: secret }), ({ status }) => status),
            { concurrency: "unbounded" }
          )
          const fiber = yield* Effect.forkChild(statuses)
          while (fiber.pollUnsafe() === undefined) {
            yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
            yield* TestClock.adjust(100)
          }
          return new Set(yield* Fiber.join(fiber))
        })
        expect(yield* sendFor("carried")).toEqual(new Set([200]))
        expect(most).toBe(8)

        isOutage = true
        expect(yield* sendFor("failed")).toEqual(new Set([503]))
        expect(most).toBeGreaterThan(8)
      })
  )
})
