import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import type { Exchange } from "./Exchange.ts"
import { open, run, type Setup, unlimited } from "./Service.fixture.ts"
import type { StaticFile } from "./StaticFiles.ts"

const encoder = new TextEncoder()

const file = (path: string, overrides: Partial<StaticFile> = {}): StaticFile => ({
  path,
  contentType: "text/html; charset=utf-8",
  version: "v1",
  bytes: encoder.encode("<h1>plain</h1>"),
  gzip: Effect.succeed(encoder.encode("compressed")),
  headers: [["Content-Security-Policy", "default-src 'none'"]],
  ...overrides
})

const startPage = file("/", { isForBrowsers: true })
const page = file("/docs")

const setup: Setup = {
  files: [startPage, page],
  options: { anonymousPlan: { perMinute: 1, perDay: 1 } }
}

const browser = ["Accept", "text/html,application/xhtml+xml,*/*;q=0.8"] as const

describe("A file", () => {
  it.effect("needs no key, has no rate limit, and allows only GET, HEAD and OPTIONS", () =>
    Effect.gen(function* () {
      const store = yield* open(setup)
      for (const method of ["GET", "HEAD", "GET"]) {
        const response = yield* store.send({ target: "/docs?x=%zz", method })
        expect(response).toMatchObject({ status: 200, body: "" })
        // All responses share the bytes.
        expect(response.bytes).toBe(page.bytes)
        expect(response.headers.filter(([name]) => name.startsWith("X-RateLimit"))).toEqual([])
      }
      const post = yield* store.send({ target: "/docs", method: "POST" })
      expect([post.status, post.code, post.header("Allow")]).toEqual([
        405,
        "method_not_allowed",
        "GET, HEAD, OPTIONS"
      ])
      expect((yield* store.send({ target: "/docs", method: "OPTIONS" })).status).toBe(204)
      expect((yield* store.send()).rate.slice(0, 2)).toEqual([1, 0])
    })
  )

  it.effect("is the target of a relative redirect from its path with a trailing slash", () =>
    Effect.gen(function* () {
      const store = yield* open({ files: [startPage, page] })
      const response = yield* store.send({ target: "/docs/?x=1" })
      expect([response.status, response.header("Location")]).toEqual([308, "../docs"])
      const location = response.header("Location") ?? ""
      expect(new URL(location, "http://host/api/docs/").pathname).toBe("/api/docs")
      for (const target of ["/docs//", "//", "/other/"]) {
        expect((yield* store.send({ target })).status, target).toBe(401)
      }
      expect((yield* store.send({ target: "/docs/", method: "POST" })).status).toBe(401)
    })
  )

  it.effect("has its own type and headers, each exactly once, and Cache-Control: no-cache", () =>
    Effect.gen(function* () {
      const store = yield* open(setup)
      const response = yield* store.send({ target: "/docs" })
      expect(response.all("Content-Type")).toEqual(["text/html; charset=utf-8"])
      expect(response.all("Cache-Control")).toEqual(["no-cache"])
      expect(response.all("Content-Security-Policy")).toEqual(["default-src 'none'"])
      expect(response.all("X-Content-Type-Options")).toEqual(["nosniff"])
      expect(response.header("X-Request-Id")).toMatch(/./)
    })
  )

  it.effect("is found only at its exact path, and only if it is provided", () =>
    Effect.gen(function* () {
      const storeWithoutFiles = yield* open()
      const { secret } = yield* storeWithoutFiles.issue(unlimited)
      expect((yield* storeWithoutFiles.send({ target: "/docs" })).status).toBe(401)
      expect((yield* storeWithoutFiles.send({ target: "/docs", key: secret })).status).toBe(404)
      const store = yield* open({ files: [page] })
      for (const target of ["/v1/docs", "/DOCS", "/docs/../docs", "//docs"]) {
        expect((yield* store.send({ target })).status, target).toBe(401)
      }
    })
  )

  it.effect("is reported to the observer as a probe, with the bytes that are sent", () =>
    Effect.gen(function* () {
      const exchanges: Array<Exchange> = []
      const store = yield* open({ ...setup, observer: (exchange) => exchanges.push(exchange) })
      yield* store.send({ target: "/docs" })
      yield* store.send({ target: "/docs", headers: [["Accept-Encoding", "gzip"]] })
      expect(
        exchanges.map(({ bodyBytes, isProbe, route, status }) => [route, isProbe, status, bodyBytes])
      ).toEqual([
        ["/docs", true, 200, 14],
        ["/docs", true, 200, 10]
      ])
    })
  )
})

describe("A compressed file", () => {
  it("is sent if and only if Accept-Encoding names gzip with a weight above 0", () =>
    fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          fc.record({
            name: fc.constantFrom("gzip", "GZIP", "br", "identity", "x-gzip", "gzipped", "*"),
            weight: fc.constantFrom("", ";q=1", "; q=0.5", ";q=0", " ; Q=0.000", ";q=0.001")
          }),
          { selector: ({ name }) => name.toLowerCase(), maxLength: 5 }
        ),
        fc.constantFrom(",", ", ", " , "),
        (codings, comma) => {
          const list = codings.map(({ name, weight }) => name + weight).join(comma)
          const gzip = codings.find(({ name }) => name.toLowerCase() === "gzip")
          const isAccepted = gzip !== undefined && !/q=0(?:\.0+)?$/i.test(gzip.weight)
          return run(
            Effect.gen(function* () {
              const store = yield* open(setup)
              const response = yield* store.send({ target: "/docs", headers: [["Accept-Encoding", list]] })
              expect(response.all("Content-Encoding")).toEqual(isAccepted ? ["gzip"] : [])
              expect(response.header("ETag")).toBe(isAccepted ? '"v1-gzip"' : '"v1"')
              expect(response.header("Vary")).toBe("Accept-Encoding")
              expect(response.bytes?.length).toBe(isAccepted ? 10 : 14)
            })
          )
        }
      ),
      { numRuns: 50 }
    ))
})

describe("If-None-Match", () => {
  it.effect.each([
    ['"v1"', 304],
    ['W/"v1"', 304],
    ['"v0", "v1"', 304],
    ["*", 304],
    ['"v0"', 200],
    ['"v1-gzip"', 200],
    ["v1", 200]
  ] as const)("the value %s results in the status %i", ([ifNoneMatch, status]) =>
    Effect.gen(function* () {
      const store = yield* open(setup)
      const response = yield* store.send({ target: "/docs", headers: [["If-None-Match", ifNoneMatch]] })
      expect(response).toMatchObject({ status, body: "" })
      expect(response.header("ETag")).toBe('"v1"')
      expect(response.all("Cache-Control")).toEqual(["no-cache"])
      expect(response.header("Content-Type")).toBe(status === 304 ? undefined : "text/html; charset=utf-8")
    })
  )
})

describe("A file for browsers", () => {
  it.effect("is sent if Accept names text/html", () =>
    Effect.gen(function* () {
      const store = yield* open(setup)
      const response = yield* store.send({ target: "/", headers: [browser] })
      expect(response).toMatchObject({ status: 200, bytes: startPage.bytes })
      expect(response.header("Vary")).toBe("Accept, Accept-Encoding")
    })
  )

  it.effect.each([
    { headers: [] },
    { headers: [["Accept", "*/*"] as const] },
    { headers: [["Accept", "application/json"] as const] },
    { headers: [["Accept", "text/html;q=0, */*"] as const] },
    { method: "POST", headers: [browser] },
    { method: "OPTIONS", headers: [browser] }
  ])("is treated as an unknown path for any other request: %j", (sent) =>
    Effect.gen(function* () {
      const store = yield* open({ files: [startPage] })
      const storeWithoutFiles = yield* open()
      for (const { issue, send } of [store, storeWithoutFiles]) {
        const { secret } = yield* issue(unlimited)
        expect((yield* send({ ...sent, target: "/" })).code).toBe("missing_api_key")
        expect((yield* send({ ...sent, target: "/", key: secret })).code).toBe("not_found")
      }
    })
  )
})
