/** Checks that CORS adds headers and responds to preflights, and changes nothing else. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import * as Cors from "./Cors.ts"
import { badAuthorization, operation, sent } from "./Service.arbitrary.ts"
import {
  ample,
  enterprise,
  failing,
  open,
  run,
  type Sent,
  type Setup,
  TestResponse
} from "./Service.fixture.ts"
import type { Header } from "./ServiceResponse.ts"

/** Time limit of a law that sends thousands of requests. */
const LAW_TIMEOUT_MS = 120_000

const shop = "https://shop.example"
const localhost = "http://localhost:5173"
const foreign = "https://elsewhere.example"

const origins = fc.constantFrom<string | undefined>(
  undefined,
  shop,
  localhost,
  foreign,
  "null",
  "",
  `${shop}, ${shop}`
)

const policies = [["*"], [shop], [shop, localhost]]

const isCors = ([name]: Header): boolean => /^(?:access-control-|vary$)/i.test(name)

const corsOf = ({ headers }: TestResponse): { readonly [name: string]: string } =>
  Object.fromEntries(headers.filter(isCors).map(([name, value]) => [name.toLowerCase(), value]))

/** A response without CORS headers and without the random half of its id. */
const withoutCorsHeaders = ({ body, headers, status }: TestResponse) => ({
  body,
  status,
  headers: headers
    .filter((header) => !isCors(header))
    .map(([name, value]) => [name, name === "X-Request-Id" ? value.replace(/^[0-9a-f]+/, "") : value])
})

const withHeaders = (request: Sent, additional: ReadonlyArray<Header>): Sent => ({
  ...request,
  headers: [...(request.headers ?? []), ...additional]
})

const originHeader = (origin: string | undefined): ReadonlyArray<Header> =>
  origin === undefined ? [] : [["Origin", origin]]

const preflight = (origin: string | undefined, target = "/v1/pets", method = "POST"): Sent => ({
  method: "OPTIONS",
  target,
  headers: [
    ...originHeader(origin),
    ["Access-Control-Request-Method", method],
    ["Access-Control-Request-Headers", "authorization,content-type,x-other"]
  ]
})

/** The headers that the Fetch standard always exposes. */
const safelisted = [
  "cache-control",
  "content-language",
  "content-length",
  "content-type",
  "expires",
  "pragma"
]

/** Headers that only the browser itself needs; they are not exposed to pages. */
const forBrowser = ["x-content-type-options", "vary", "last-modified"]

/** The name of a key, or the value of an invalid `Authorization` header. */
const anyCaller = fc.oneof(fc.constant("KEY"), fc.constant("TIGHT"), badAuthorization)

/** Returns the `Authorization` header of a caller, with the secrets of the keys. */
const authorizationOf = (
  caller: string | undefined,
  secrets: { readonly [key: string]: string }
): ReadonlyArray<Header> => {
  if (caller === undefined) return []
  const secret = secrets[caller]
  return [["Authorization", secret === undefined ? caller : `Bearer ${secret}`]]
}

const stores: ReadonlyArray<readonly [name: string, setup: Setup, usualStatus: number]> = [
  ["working stores", {}, 200],
  ["an animal store that fails", { pets: failing }, 503],
  ["a rate limit store that fails", { limits: failing }, 503],
  ["a key store that fails", { keys: failing }, 503]
]

describe("CORS", () => {
  it.each(stores)(
    "leaves every response unchanged except for its CORS headers, with %s",
    async (_, setup, usualStatus) => {
      const seen = new Set<number>()
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...policies),
          fc.array(
            fc.tuple(
              fc.oneof(operation, sent({ authorization: fc.constant(undefined) })),
              anyCaller,
              origins
            ),
            { minLength: 1, maxLength: 12 }
          ),
          (corsOrigins, requests) =>
            run(
              Effect.gen(function* () {
                const cursorKey = new Uint8Array(32)
                const openWith = (options: Setup["options"]) =>
                  Effect.gen(function* () {
                    const store = yield* open({ ...setup, options: { cursorKey, ...options } })
                    const keys = {
                      KEY: (yield* store.issue(enterprise(ample.perMinute, ample.perDay))).secret,
                      TIGHT: (yield* store.issue(enterprise(2, 5))).secret
                    }
                    return { store, keys }
                  })
                const withoutCors = yield* openWith({})
                const withCors = yield* openWith({ corsOrigins })
                for (const [request, caller, origin] of requests) {
                  const sentTo = ({ keys, store }: typeof withoutCors) =>
                    store.send(
                      withHeaders(request, [...authorizationOf(caller, keys), ...originHeader(origin)])
                    )
                  const expected = yield* sentTo(withoutCors)
                  const response = yield* sentTo(withCors)
                  seen.add(response.status)
                  expect(withoutCorsHeaders(response)).toEqual(withoutCorsHeaders(expected))
                  yield* TestClock.adjust(100)
                }
              })
            )
        ),
        { numRuns: 60 }
      )
      expect(seen).toContain(usualStatus)
    },
    LAW_TIMEOUT_MS
  )

  it("names the origin of the request only if this origin is allowed, and always sends Vary: Origin", async () => {
    await fc.assert(
      fc.asyncProperty(operation, origins, fc.boolean(), (request, origin, withKey) =>
        run(
          Effect.gen(function* () {
            const store = yield* open({ options: { corsOrigins: [shop, localhost] } })
            const { secret } = yield* store.issue("Free")
            const headers = [
              ...originHeader(origin),
              ...authorizationOf(withKey ? "KEY" : undefined, { KEY: secret })
            ]
            const cors = corsOf(yield* store.send(withHeaders(request, headers)))
            expect(cors.vary).toBe("Origin")
            expect(cors["access-control-allow-origin"]).toBe(
              origin === shop || origin === localhost ? origin : undefined
            )
            expect("access-control-expose-headers" in cors).toBe(origin === shop || origin === localhost)
            expect(cors).not.toHaveProperty("access-control-allow-credentials")
          })
        )
      )
    )
  })

  it(
    "exposes every header of every response, including errors",
    async () => {
      const statuses = new Set<number>()
      const all = sent({ authorization: fc.constant(undefined) })
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.oneof(operation, all), anyCaller), { maxLength: 12 }),
          (requests) =>
            run(
              Effect.gen(function* () {
                const store = yield* open({ options: { corsOrigins: ["*"] } })
                const keys = {
                  KEY: (yield* store.issue(enterprise(ample.perMinute, ample.perDay))).secret,
                  TIGHT: (yield* store.issue(enterprise(1, 5))).secret
                }
                for (const [request, caller] of requests) {
                  const response = yield* store.send(withHeaders(request, authorizationOf(caller, keys)))
                  const cors = corsOf(response)
                  expect(cors["access-control-allow-origin"]).toBe("*")
                  expect(cors).not.toHaveProperty("vary")
                  const readable = [
                    ...safelisted,
                    ...forBrowser,
                    ...(cors["access-control-expose-headers"] ?? "").toLowerCase().split(", ")
                  ]
                  const hidden = response.headers
                    .map(([name]) => name.toLowerCase())
                    .filter((name) => !name.startsWith("access-control-") && !readable.includes(name))
                  expect(hidden).toEqual([])
                  statuses.add(response.status)
                }
              })
            )
        ),
        { numRuns: 80 }
      )
      for (const status of [200, 201, 401, 404, 405, 429]) expect(statuses).toContain(status)
    },
    LAW_TIMEOUT_MS
  )
})

describe("a preflight request", () => {
  it("needs no key, is not counted and allows every method and header, even while stores fail", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("/v1/pets", "/v1/pets/1", "/v1/none", "/livez", "/readyz", "/%zz", "*"),
        fc.constantFrom("GET", "POST", "PUT", "FOO"),
        fc.constantFrom<keyof Setup | undefined>(undefined, "pets", "limits", "keys"),
        fc.constantFrom(...policies),
        (target, method, broken, corsOrigins) =>
          run(
            Effect.gen(function* () {
              const store = yield* open({
                options: { corsOrigins, anonymousPlan: { perMinute: 1, perDay: 1 } },
                ...(broken === undefined ? {} : { [broken]: failing })
              })
              for (let count = 0; count < 5; count++) {
                const response = yield* store.send(preflight(shop, target, method))
                const isOpen = corsOrigins.includes("*")
                expect([response.status, response.body]).toEqual([204, ""])
                expect(corsOf(response)).toEqual({
                  "access-control-allow-origin": isOpen ? "*" : shop,
                  "access-control-allow-methods": "GET, HEAD, POST, *",
                  "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, *",
                  "access-control-max-age": "7200",
                  ...(isOpen ? {} : { vary: "Origin" })
                })
                expect(response.all("X-RateLimit-Limit")).toEqual([])
              }
              // The preflights did not consume the only request that the network may send.
              if (broken === undefined) expect((yield* store.send()).status).toBe(401)
            })
          )
      ),
      { numRuns: 40 }
    )
  })

  it.effect("gets no permission if its origin is not allowed", () =>
    Effect.gen(function* () {
      const store = yield* open({ options: { corsOrigins: [shop] } })
      for (const origin of [foreign, "null", "", `${shop}.evil.example`]) {
        const response = yield* store.send(preflight(origin))
        expect(response.status).toBe(204)
        expect(corsOf(response)).toEqual({ vary: "Origin" })
      }
    })
  )

  it.effect("needs OPTIONS, Origin and Access-Control-Request-Method; other requests need an API key", () =>
    Effect.gen(function* () {
      const store = yield* open({ options: { corsOrigins: ["*"] } })
      const { headers = [] } = preflight(shop)
      for (const request of [
        { ...preflight(shop), method: "GET" },
        { ...preflight(shop), headers: headers.slice(0, 1) },
        { ...preflight(shop), headers: headers.slice(1) }
      ]) {
        expect((yield* store.send(request)).status).toBe(401)
      }
    })
  )
})

describe("the `corsOrigins` option", () => {
  it.effect("adds no CORS headers if it is empty; a preflight request then needs a key", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret } = yield* store.issue("Free")
      const list = yield* store.send({ key: secret, headers: [["Origin", shop]] })
      expect([list.status, corsOf(list)]).toEqual([200, {}])
      const response = yield* store.send(preflight(shop))
      expect([response.status, corsOf(response)]).toEqual([401, {}])
      const options = yield* store.send({ ...preflight(shop), key: secret })
      expect([options.status, corsOf(options), options.header("Allow")]).toEqual([
        204,
        {},
        "GET, HEAD, POST, OPTIONS"
      ])
    })
  )

  it.effect.each([{ corsOrigins: [] }, { corsOrigins: [shop] }, { corsOrigins: ["*"] }])(
    "allows all pages to read /openapi.json, whatever its value: %j",
    (options) =>
      Effect.gen(function* () {
        const store = yield* open({ options })
        for (const method of ["GET", "HEAD", "PUT"]) {
          const response = yield* store.send({
            method,
            target: "/openapi.json",
            headers: [["Origin", foreign]]
          })
          expect(response.status).toBe(method === "PUT" ? 405 : 200)
          expect(corsOf(response)).toMatchObject({ "access-control-allow-origin": "*" })
          expect(corsOf(response)).not.toHaveProperty("vary")
        }
        const permitted = yield* store.send(preflight(foreign, "/openapi.json", "GET"))
        expect(corsOf(permitted)).toMatchObject({ "access-control-allow-origin": "*" })
      })
  )
})

describe("the response to a transport error", () => {
  it.effect("names the allowed origin of the request, or the only allowed origin if Origin is unknown", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<
        readonly [origins: ReadonlyArray<string>, origin: string | undefined, named: string | undefined]
      > = [
        [[], shop, undefined],
        [["*"], undefined, "*"],
        [[shop], undefined, shop],
        [[shop], shop, shop],
        [[shop], foreign, undefined],
        [[shop, localhost], undefined, undefined],
        [[shop, localhost], localhost, localhost]
      ]
      for (const [corsOrigins, origin, named] of cases) {
        const { service } = yield* open({ options: { corsOrigins } })
        const response = yield* service.transportError("request_timeout", "192.0.2.1", origin)
        const cors = corsOf(new TestResponse(response, undefined))
        expect(cors["access-control-allow-origin"]).toBe(named)
        expect("vary" in cors).toBe(corsOrigins.length > 0 && !corsOrigins.includes("*"))
      }
    })
  )
})

describe("Cors.isOrigin", () => {
  it("accepts the origin of every URL, and rejects strings that browsers never send", () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ["http", "https"], withQueryParameters: true }), (url) => {
        const { origin } = new URL(url)
        expect(Cors.isOrigin(origin)).toBe(true)
        expect(Cors.isOrigin(`${origin}/`)).toBe(false)
        expect(Cors.isOrigin(url)).toBe(url === origin)
      })
    )
    fc.assert(
      fc.property(fc.string(), fc.nat(70_000), (host, port) => {
        const text = `http://${host}:${port}`
        // URL parsers treat every host that ends in a number as an IPv4 address.
        if (/(?:^|\.)(?:0x[0-9a-f]*|[0-9]+)$/.test(host)) return
        if (Cors.isOrigin(text)) expect(new URL(text).origin).toBe(text)
      })
    )
  })

  it("rejects an origin with a control character, white space, a comma or a non-ASCII letter", () => {
    fc.assert(
      fc.property(fc.constantFrom("\r", "\n", " ", "\t", "\0", ",", "é"), fc.nat(20), (character, index) => {
        const origin = "https://shop.example"
        expect(Cors.isOrigin(origin.slice(0, index) + character + origin.slice(index))).toBe(false)
      })
    )
  })
})
