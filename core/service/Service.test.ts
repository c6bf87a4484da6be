import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { catalogue, codes } from "../errors/ErrorCatalogue.ts"
import * as Operations from "../operations/Operations.ts"
import {
  dying,
  enterprise,
  failing,
  newPet,
  open,
  outage,
  request,
  type Sent,
  start,
  stocked,
  sunset,
  unlimited
} from "./Service.fixture.ts"
import { HostBusy } from "./ServiceRequest.ts"
import { pairs } from "./ServiceResponse.ts"

const json: Sent["headers"] = [["Content-Type", "application/json"]]
const oversized = "x".repeat(65_537)

describe("Service.handle", () => {
  it.effect(
    "authenticates before it applies limits: a revoked key gets a 401 even if its limits are exhausted",
    () =>
      Effect.gen(function* () {
        const store = yield* open()
        const { id, secret } = yield* store.issue(enterprise(1, 1))
        yield* store.send({ key: secret })
        expect((yield* store.send({ key: secret })).status).toBe(429)
        yield* store.revoke(id)
        expect((yield* store.send({ key: secret })).status).toBe(401)
      })
  )

  it.effect("applies limits before it routes: an exhausted key gets a 429 for an unknown path", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(enterprise(1, 1))
      expect((yield* store.send({ key: secret, target: "/v1/nothing" })).status).toBe(404)
      expect((yield* store.send({ key: secret, target: "/v1/nothing" })).status).toBe(429)
    })
  )

  const adjacent: ReadonlyArray<readonly [earlier: number, later: string, sent: Sent]> = [
    [404, "the method (405)", { method: "FOO", target: "/v1/nothing" }],
    [405, "the content type (415)", { method: "PUT", headers: [["Content-Type", "text/plain"]] }],
    [415, "the size (413)", { method: "POST", headers: [["Content-Type", "text/plain"]], body: oversized }],
    [413, "the body (400)", { method: "POST", headers: json, body: oversized }],
    [413, "the query (400)", { method: "POST", headers: json, body: oversized, target: "/v1/pets?a=%zz" }],
    [400, "whether the animal exists (404)", { target: "/v1/pets/999?a=%zz" }]
  ]

  it.effect.each(adjacent)("returns %i before checking %s", ([status, , sent]) =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(unlimited)
      expect((yield* store.send({ ...sent, key: secret })).status).toBe(status)
    })
  )

  it.effect("returns 400 for an invalid query even if the operation is removed (410)", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(unlimited)
      yield* TestClock.setTime(sunset)
      expect((yield* store.send({ key: secret, target: "/v1/pets/1?a=%zz" })).status).toBe(400)
      expect((yield* store.send({ key: secret, target: "/v1/pets/1" })).status).toBe(410)
    })
  )

  it.effect("reads the body only of admitted requests to operations with a body", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(enterprise(4, 1000))
      const post = { method: "POST", headers: json, body: oversized }
      expect(yield* store.send(post)).toMatchObject({ status: 401, requestedBytes: undefined })
      const first = yield* store.send({ key: secret, body: oversized })
      expect(first).toMatchObject({ status: 200, requestedBytes: undefined })
      expect(yield* store.send({ ...post, key: secret, target: "/v1/x" })).toMatchObject({
        status: 404,
        requestedBytes: undefined
      })
      expect(yield* store.send({ ...post, key: secret, headers: [] })).toMatchObject({
        status: 415,
        requestedBytes: undefined
      })
      expect(yield* store.send({ ...post, key: secret })).toMatchObject({
        status: 413,
        requestedBytes: 65_536
      })
      expect(yield* store.send({ ...post, key: secret })).toMatchObject({
        status: 429,
        requestedBytes: undefined
      })
    })
  )
})

describe("Paths", () => {
  const valid: ReadonlyArray<readonly [target: string, status: number]> = [
    ["/v1/pets", 200],
    ["/v1/pets?", 200],
    ["/v1/p%65ts", 200],
    ["/%76%31/pets", 200],
    ["http://evil.example/v1/pets", 200],
    ["HTTPS://user@evil.example:1/v1/pets?limit=5", 200],
    ["/v1/pets/1", 200],
    ["/v1/pets/%31", 200],
    ["http://evil.example/v1/pets/1", 200]
  ]
  const missing = [
    ...["", "*", "/", "/v1", "/v1/", "/pets", "/v2/pets", "/v1/store/orders", "/V1/pets", "/v1/PETS"],
    ...["/v1/pets/", "/v1/pets//", "/v1/pets/1/", "//v1/pets", "/v1//pets", "/v1/pets//1", "/v1/pets/1/2"],
    ...[
      "/v1/pets/%zz",
      "/v1/pets/%",
      "/v1/pets/%ff",
      "/v1%2Fpets",
      "/v1/pets%2F1",
      "/v1/pets/1%2F",
      "/v1/pets/%00"
    ],
    ...["/v1/../v1/pets", "/v1/./pets", "/v1/pets/..", "/v1/pets/%2e%2e/", "/v1/pets/..;/1", "/v1/pets#x"],
    ...[
      "http://evil.example",
      "http:/v1/pets",
      "ftp://evil.example/v1/pets",
      "evil.example/v1/pets",
      "v1/pets"
    ],
    ...[
      "/v1/pets/abc",
      "/v1/pets/01",
      "/v1/pets/1.0",
      "/v1/pets/+1",
      "/v1/pets/%201",
      "/v1/pets/1e0",
      "/v1/pets/0x1"
    ],
    ...["/v1/pets/0", "/v1/pets/-1", "/v1/pets/-0", "/v1/pets/\u0661", "/v1/pets/%D9%A1", "/v1/pets/NaN"],
    ...["/v1/pets/9223372036854775807", "/v1/pets/9223372036854775808", "/v1/pets/18446744073709551617"],
    ...["/v1/pets/__proto__", "/v1/pets/constructor", "/__proto__", `/v1/pets/${"1".repeat(65_536)}`]
  ]

  it.effect.each(valid)("the target %s is routed to an operation", ([target, status]) =>
    Effect.gen(function* () {
      const store = yield* open({ pets: stocked(3) })
      const { secret } = yield* store.issue(unlimited)
      expect((yield* store.send({ key: secret, target })).status).toBe(status)
    })
  )

  it.effect("an unknown path gets a 404 with a key and a 401 without a key, never a redirect", () =>
    Effect.gen(function* () {
      const store = yield* open({
        pets: stocked(3),
        options: { anonymousPlan: { perMinute: 1000, perDay: 1000 } }
      })
      const { secret } = yield* store.issue(unlimited)
      for (const target of missing) {
        const known = yield* store.send({ key: secret, target })
        expect([target, known.status, known.code]).toEqual([target, 404, "not_found"])
        expect((yield* store.send({ target })).status).toBe(401)
      }
    })
  )

  it.effect(
    "a path with a trailing slash or a malformed encoding gets a 404 for every method, before and after the sunset",
    () =>
      Effect.gen(function* () {
        const store = yield* open()
        const { secret } = yield* store.issue(unlimited)
        for (const now of [start, sunset]) {
          yield* TestClock.setTime(now)
          for (const target of ["/v1/pets/", "/v1/pets/%zz"]) {
            for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
              expect((yield* store.send({ key: secret, method, target, json: newPet })).status).toBe(404)
            }
          }
        }
      })
  )

  it.effect("operations are served below an empty base path and below a base path of three segments", () =>
    Effect.gen(function* () {
      for (const basePath of ["", "/a/b.c/v1"]) {
        const store = yield* open({ options: { basePath }, pets: stocked(25) })
        const { secret } = yield* store.issue(unlimited)
        const page = yield* store.send({ key: secret, target: `${basePath}/pets` })
        expect(page.status).toBe(200)
        expect(page.next).toMatch(new RegExp(`^${basePath}/pets\\?limit=20&cursor=`))
        expect((yield* store.send({ key: secret, target: `${basePath}/pets/1` })).status).toBe(200)
        expect((yield* store.send({ key: secret, target: "/v1/pets" })).status).toBe(404)
      }
    })
  )
})

describe("Methods", () => {
  const unsupported = [
    "PUT",
    "PATCH",
    "DELETE",
    "TRACE",
    "CONNECT",
    "FOO",
    "get",
    "",
    "__proto__",
    "constructor"
  ]

  /** Returns the methods of the operations with a path, in the order of the operations. */
  const methodsOf = (path: string): ReadonlyArray<string> =>
    Operations.all
      .filter((operation) => operation.path === path)
      .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))

  it.effect.each([
    ["/v1/pets", methodsOf("/pets")],
    ["/v1/pets/1", methodsOf("/pets/{petId}")]
  ] as const)(
    "%s allows %j: Allow lists these methods in the 204 for OPTIONS and in the 405 for other methods",
    ([target, methods]) =>
      Effect.gen(function* () {
        expect(methods).toContain("GET")
        const allow = [...methods, "OPTIONS"].join(", ")
        const others = ["POST", ...unsupported].filter((method) => !methods.includes(method))
        const store = yield* open()
        const { secret } = yield* store.issue(unlimited)
        const options = yield* store.send({ key: secret, target, method: "OPTIONS" })
        expect([options.status, options.header("Allow"), options.body]).toEqual([204, allow, ""])
        for (const method of others) {
          const response = yield* store.send({ key: secret, target, method, json: newPet })
          expect([method, response.status, response.header("Allow"), response.code]).toEqual([
            method,
            405,
            allow,
            "method_not_allowed"
          ])
        }
        expect((yield* store.send({ target, method: "OPTIONS" })).status).toBe(401)
      })
  )

  it.effect("HEAD returns the same status and headers as GET and consumes a token", () =>
    Effect.gen(function* () {
      const store = yield* open({ pets: stocked(30) })
      const { secret } = yield* store.issue("Pro")
      for (const target of ["/v1/pets", "/v1/pets/1", "/v1/pets/99", "/v1/pets?limit=0"]) {
        const get = yield* store.send({ key: secret, target })
        const head = yield* store.send({ key: secret, target, method: "HEAD" })
        const volatile = /^(?:X-RateLimit-Remaining|X-RateLimit-Reset|RateLimit|X-Request-Id)$/
        expect(head.headers.filter(([name]) => !volatile.test(name))).toEqual(
          get.headers.filter(([name]) => !volatile.test(name))
        )
        expect([head.status, head.body]).toEqual([get.status, get.body])
        expect(head.rate[1]).toBe(get.rate[1] - 1)
      }
    })
  )

  it.effect("the header X-HTTP-Method-Override is ignored", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(unlimited)
      const response = yield* store.send({
        key: secret,
        method: "POST",
        headers: [["X-HTTP-Method-Override", "GET"]]
      })
      expect(response.status).toBe(415)
    })
  )
})

describe("/readyz after failed requests, while the probe succeeds", () => {
  /** Opens a service in which the calls in `failingCalls` fail; reads of the probe always succeed. */
  const openWithFailures = Effect.gen(function* () {
    const failingCalls = new Set<"insert" | "page">()
    const store = yield* open({
      pets: (real) => ({
        ...real,
        insert: (pet) => (failingCalls.has("insert") ? Effect.fail(outage) : real.insert(pet)),
        page: (query) =>
          failingCalls.has("page") && query.limit > 1 ? Effect.fail(outage) : real.page(query)
      })
    })
    const { secret } = yield* store.issue(unlimited)
    const statusOf = (sent: Sent) => Effect.map(store.send(sent), ({ status }) => status)
    return {
      failingCalls,
      ready: statusOf({ target: "/readyz" }),
      list: statusOf({ key: secret }),
      create: statusOf({ key: secret, method: "POST", json: newPet }),
      anonymous: statusOf({}),
      unknownPath: statusOf({ key: secret, target: "/v1/none" })
    }
  })

  it.effect("returns 503 from the fifth consecutive failure until the operation succeeds", () =>
    Effect.gen(function* () {
      const { create, failingCalls, list, ready } = yield* openWithFailures
      failingCalls.add("insert")
      for (let count = 0; count < 4; count++) expect(yield* create).toBe(503)
      expect(yield* ready).toBe(200)
      expect(yield* create).toBe(503)
      expect(yield* ready).toBe(503)
      // The success of another operation does not reset the count of failures.
      expect(yield* list).toBe(200)
      expect(yield* ready).toBe(503)
      failingCalls.clear()
      expect(yield* create).toBe(201)
      expect(yield* ready).toBe(200)
    })
  )

  it.effect("returns 200 ten seconds after the last failure, and 503 after the next failure", () =>
    Effect.gen(function* () {
      const { failingCalls, list, ready } = yield* openWithFailures
      failingCalls.add("page")
      for (let count = 0; count < 5; count++) yield* list
      yield* TestClock.adjust(9_999)
      expect(yield* ready).toBe(503)
      yield* TestClock.adjust(1)
      expect(yield* ready).toBe(200)
      expect(yield* list).toBe(503)
      expect(yield* ready).toBe(503)
    })
  )

  it.effect("is not affected by client errors", () =>
    Effect.gen(function* () {
      const { anonymous, create, failingCalls, ready, unknownPath } = yield* openWithFailures
      for (let count = 0; count < 100; count++) expect([401, 404, 429]).toContain(yield* anonymous)
      for (let count = 0; count < 10; count++) expect(yield* unknownPath).toBe(404)
      expect(yield* ready).toBe(200)
      // Client errors do not reset the count of failures either.
      failingCalls.add("insert")
      for (let count = 0; count < 5; count++) {
        yield* create
        yield* anonymous
        yield* unknownPath
      }
      expect(yield* ready).toBe(503)
    })
  )
})

describe("Probes", () => {
  const targets = ["/livez", "/readyz", "/openapi.json", "/livez?x=%zz", "http://host/livez"]

  it.effect.each(targets)("%s needs no key and has no rate limit", (target) =>
    Effect.gen(function* () {
      const store = yield* open({ options: { anonymousPlan: { perMinute: 1, perDay: 1 } } })
      for (const method of ["GET", "HEAD", "GET"]) {
        const response = yield* store.send({ target, method })
        expect(response.status).toBe(200)
        expect(response.json).toBeTypeOf("object")
        expect(response.headers.filter(([name]) => name.startsWith("X-RateLimit"))).toEqual([])
      }
      expect((yield* store.send({ target, method: "POST" })).header("Allow")).toBe("GET, HEAD, OPTIONS")
      expect((yield* store.send({ target, method: "OPTIONS" })).status).toBe(204)
      expect((yield* store.send({ target, method: "POST" })).code).toBe("method_not_allowed")
      expect((yield* store.send()).rate.slice(0, 2)).toEqual([1, 0])
    })
  )

  it.effect(
    "large responses to clients without a key share the room of one caller, whatever their addresses",
    () =>
      Effect.gen(function* () {
        const { service } = yield* open()
        const callers: Array<string> = []
        const room = (_: number, caller: string) => {
          callers.push(caller)
          return undefined
        }
        for (const clientAddress of ["192.0.2.1", "2001:db8::1"]) {
          yield* service.handle({ ...request({ target: "/openapi.json", clientAddress }), room })
          yield* service.handle({ ...request({ target: "/livez", clientAddress }), room })
        }
        expect(callers).toEqual(["", ""])
      })
  )

  it.effect("a 503 because the host has no room, or because the service stops, has Retry-After", () =>
    Effect.gen(function* () {
      const { service } = yield* open()
      const room = () => Effect.fail(new HostBusy())
      const busy = yield* service.handle({ ...request({ target: "/openapi.json" }), room })
      yield* service.drain
      const stopping = yield* service.handle(request({ target: "/readyz" }))
      for (const { headers, status } of [busy, stopping]) {
        expect([status, headers[headers.indexOf("Retry-After") + 1]]).toEqual([503, "5"])
      }
    })
  )

  it.effect("/livez, /readyz and /openapi.json exist only outside the base path", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(unlimited)
      for (const target of ["/v1/livez", "/v1/readyz", "/v1/openapi.json", "/livez/", "/LIVEZ", "//livez"]) {
        expect((yield* store.send({ target })).status).toBe(401)
        expect((yield* store.send({ target, key: secret })).status).toBe(404)
      }
    })
  )

  it.effect("while the service drains, /readyz returns 503, and requests are still handled", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(unlimited)
      expect((yield* store.send({ target: "/readyz" })).status).toBe(200)
      expect(store.service.isDraining()).toBe(false)
      yield* store.service.drain
      expect(store.service.isDraining()).toBe(true)
      expect((yield* store.send({ target: "/readyz" })).status).toBe(503)
      expect((yield* store.send({ target: "/livez" })).status).toBe(200)
      expect((yield* store.send({ key: secret })).status).toBe(200)
    })
  )

  it.effect("/readyz reports whether the stores work, and probes them at most once per second", () =>
    Effect.gen(function* () {
      let probes = 0
      let isDown = false
      const readiness = Effect.suspend(() => {
        probes++
        return isDown ? Effect.fail(outage) : Effect.void
      })
      const store = yield* open({ readiness })
      const ready = Effect.map(store.send({ target: "/readyz" }), ({ status }) => status)
      for (let count = 0; count < 10; count++) expect(yield* ready).toBe(200)
      isDown = true
      expect([yield* ready, probes]).toEqual([200, 1])
      yield* TestClock.adjust(1000)
      const response = yield* store.send({ target: "/readyz" })
      expect([response.status, response.code]).toEqual([503, "service_unavailable"])
      expect(response.body).not.toContain("hunter2")
      expect((yield* store.send({ target: "/livez" })).status).toBe(200)
      isDown = false
      yield* TestClock.adjust(1000)
      expect([yield* ready, probes]).toEqual([200, 3])
    })
  )

  it.effect("/readyz probes again after a second even if the wall clock does not advance", () =>
    Effect.gen(function* () {
      let probes = 0
      const store = yield* open({ readiness: Effect.sync(() => void probes++) })
      let nanos = 0n
      const clock: Clock.Clock = {
        ...(yield* Clock.Clock),
        currentTimeMillis: Effect.succeed(start),
        currentTimeMillisUnsafe: () => start,
        monotonicTimeNanos: Effect.sync(() => nanos)
      }
      for (const [afterNanos, expected] of [
        [0n, 1],
        [999_999_999n, 1],
        [1_000_000_000n, 2]
      ] as const) {
        nanos = afterNanos
        yield* Effect.provideService(store.send({ target: "/readyz" }), Clock.Clock, clock)
        expect(probes).toBe(expected)
      }
    })
  )

  it.effect("/readyz returns 500 when the probe has a defect", () =>
    Effect.gen(function* () {
      const store = yield* open({ readiness: Effect.die(new Error("hunter2")) })
      const response = yield* store.send({ target: "/readyz" })
      expect([response.status, response.body.includes("hunter2")]).toEqual([500, false])
    })
  )

  it.effect("all endpoints except /readyz return 200 while every store is unavailable", () =>
    Effect.gen(function* () {
      const store = yield* open({ pets: failing, limits: failing, keys: failing })
      for (const target of targets) {
        expect((yield* store.send({ target })).status, target).toBe(target === "/readyz" ? 503 : 200)
      }
    })
  )

  it.effect.each(["pets", "limits", "keys"] as const)(
    "/readyz returns 503 while the port %s fails, and only the log contains the reason",
    (port) =>
      Effect.gen(function* () {
        const store = yield* open({ [port]: failing })
        const response = yield* store.send({ target: "/readyz" })
        expect([response.status, response.code]).toEqual([503, "service_unavailable"])
        expect(response.body).not.toContain("hunter2")
        expect(store.logs.join()).toMatch(/not ready.*hunter2/)
      })
  )

  it.effect("/readyz ignores the rate limit store if requests are admitted without it", () =>
    Effect.gen(function* () {
      const store = yield* open({ limits: failing, options: { onLimitsUnavailable: "open" } })
      expect((yield* store.send({ target: "/readyz" })).status).toBe(200)
    })
  )
})

describe("Defects", () => {
  const broken = () => {
    throw new Error("hunter2")
  }

  it.effect("an exception in a store results in a 500 response", () =>
    Effect.gen(function* () {
      for (const port of ["pets", "limits", "keys"] as const) {
        const store = yield* open({
          [port]: (real: object) => new Proxy(real, { get: () => broken })
        })
        const { secret } = yield* store.issue(unlimited)
        for (const target of ["/v1/pets", "/v1/pets/1"]) {
          const response = yield* store.send({ key: secret, target })
          expect([port, response.status, response.code]).toEqual([port, 500, "internal_error"])
          expect(store.logs.join()).toContain(response.header("X-Request-Id"))
        }
      }
    })
  )

  it.effect("an exception in the request object of the host results in a 500 response", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const intact = request({})
      const header = yield* store.service.handle({ ...intact, header: broken })
      expect(header.status).toBe(500)
      const address = yield* store.service.handle({
        ...intact,
        get clientAddress(): string {
          return broken()
        }
      })
      expect(address.status).toBe(500)
    })
  )

  it.effect("a body that the host has already read results in a 500 response that names the cause", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue(unlimited)
      const response = yield* store.send({ key: secret, method: "POST", json: newPet, bodyConsumed: true })
      expect([response.status, response.code]).toEqual([500, "internal_error"])
      expect(response.json).toMatchObject({ message: expect.stringContaining("body parser") })
    })
  )

  it.effect(
    "an interrupted body interrupts the request: no response is sent, nothing is logged, no animal is stored",
    () =>
      Effect.gen(function* () {
        const store = yield* open()
        const { secret } = yield* store.issue(unlimited)
        const sent = request({ key: secret, method: "POST", headers: json })
        const exit = yield* Effect.exit(store.service.handle({ ...sent, body: () => Effect.interrupt }))
        expect(Exit.hasInterrupts(exit)).toBe(true)
        const fiber = yield* Effect.forkChild(store.service.handle({ ...sent, body: () => Effect.never }))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        expect((yield* store.send({ key: secret })).body).toBe("[]")
        expect(store.logs).toEqual([])
      })
  )
})

describe("Time", () => {
  it.effect("the time is read from the clock in the context of the request, not at construction", () =>
    Effect.gen(function* () {
      const store = yield* open({ pets: stocked(1) })
      const { secret } = yield* store.issue(unlimited)
      const clock = yield* Clock.Clock
      const later = {
        ...clock,
        currentTimeMillis: Effect.succeed(sunset),
        currentTimeMillisUnsafe: () => sunset
      }
      const send = store.send({ key: secret, target: "/v1/pets/1" })
      expect((yield* send).status).toBe(200)
      const response = yield* Effect.provideService(send, Clock.Clock, later)
      expect([response.status, response.header("Date")]).toEqual([410, "Thu, 05 Dec 2030 00:00:00 GMT"])
    })
  )
})

describe("Transport errors", () => {
  const errors = ["malformed_request", "request_timeout", "headers_too_large"] as const

  it.effect.each(errors)("%s gets a complete response and is counted against the network", (error) =>
    Effect.gen(function* () {
      const store = yield* open()
      const response = yield* store.service.transportError(error, "192.0.2.1")
      expect(response.status).toBe(catalogue[error].status)
      const headers = new Map(pairs(response.headers))
      expect(headers.get("X-RateLimit-Limit")).toBe("60")
      expect(headers.get("X-RateLimit-Remaining")).toBe("59")
      expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8")
      expect(headers.has("X-Request-Id")).toBe(true)
      expect(JSON.parse(response.body)).toMatchObject({ code: error, status: response.status })
      expect((yield* store.send()).rate[1]).toBe(58)
      expect((yield* store.send({ clientAddress: "192.0.2.2" })).rate[1]).toBe(59)
    })
  )

  it.effect("a transport error gets a response even when the rate limit store fails", () =>
    Effect.gen(function* () {
      for (const limits of [failing, dying]) {
        const store = yield* open({ limits })
        const response = yield* store.service.transportError("request_timeout", undefined)
        expect(response.status).toBe(408)
        expect(new Map(pairs(response.headers)).get("X-RateLimit-Limit")).toBe("60")
        expect(new Map(pairs(response.headers)).get("X-RateLimit-Remaining")).toBe("0")
      }
    })
  )
})

describe("Error codes", () => {
  it.effect("requests can cause every error code except the codes of transport errors", () =>
    Effect.gen(function* () {
      const seen = new Set<unknown>()
      const store = yield* open({ pets: stocked(1), ban: banAtOnce })
      const { secret: key } = yield* store.issue(unlimited)
      const { secret: small } = yield* store.issue(enterprise(1, 1000))
      const send = (sent: Sent) => Effect.map(store.send(sent), ({ code }) => seen.add(code))
      yield* send({})
      yield* send({ key: "x" })
      yield* send({ key, target: "/v1/x" })
      yield* send({ key, method: "PUT" })
      yield* send({ key, method: "POST" })
      yield* send({ key, method: "POST", headers: json, body: oversized })
      yield* send({ key, method: "POST", headers: json, body: "{" })
      yield* send({ key, method: "POST", json: {} })
      yield* send({ key, target: "/v1/pets?limit=0" })
      yield* send({ key: small })
      yield* send({ key: small })
      yield* TestClock.adjust(1000)
      yield* send({ key: small })
      yield* send({ key, method: "POST", json: newPet, bodyConsumed: true })
      yield* TestClock.setTime(sunset)
      yield* send({ key, target: "/v1/pets/1" })
      const broken = yield* open({ keys: failing })
      seen.add((yield* broken.send({ key })).code)
      for (const outcome of ["Mismatch", "InProgress"] as const) {
        const idempotent = yield* open({
          pets: (real) => ({ ...real, insertOnce: () => Effect.succeed({ _tag: outcome }) })
        })
        const { secret } = yield* idempotent.issue(unlimited)
        for (const value of ["a", ""]) {
          const headers: Sent["headers"] = [...(json ?? []), ["Idempotency-Key", value]]
          const { code } = yield* idempotent.send({
            key: secret,
            method: "POST",
            headers,
            body: '{"name":"R","categoryId":1}'
          })
          seen.add(code)
        }
      }
      seen.delete(undefined)
      const transport = ["malformed_request", "request_timeout", "headers_too_large"]
      expect([...seen].sort()).toEqual(codes.filter((code) => !transport.includes(code)).sort())
    })
  )

  const banAtOnce = {
    strikes: 1,
    withinMs: 300_000,
    strikeIntervalMs: 1000,
    durationsMs: [60_000],
    cleanMs: 86_400_000
  } as const
})
