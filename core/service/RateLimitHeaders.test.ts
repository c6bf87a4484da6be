import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { enterprise, failing, open, type TestResponse } from "./Service.fixture.ts"

const standardHeadersOf = (response: TestResponse): ReadonlyArray<string | undefined> => [
  response.header("RateLimit-Policy"),
  response.header("RateLimit")
]

describe("RateLimit and RateLimit-Policy", () => {
  it.effect("show both windows on every response, in addition to the headers of the contract", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const { secret: key } = yield* store.issue(enterprise(2, 3))
      const policy = '"minute";q=2;w=60, "day";q=3;w=86400'
      const first = yield* store.send({ key })
      expect(standardHeadersOf(first)).toEqual([policy, '"minute";r=1;t=30, "day";r=2;t=43200'])
      expect(first.rate.slice(0, 2)).toEqual([2, 1])
      yield* TestClock.adjust(500)
      expect(standardHeadersOf(yield* store.send({ key, method: "PUT" }))).toEqual([
        policy,
        '"minute";r=0;t=30, "day";r=1;t=43200'
      ])
      const denied = yield* store.send({ key })
      expect([denied.status, denied.header("Retry-After")]).toEqual([429, "30"])
      expect(standardHeadersOf(denied)).toEqual([policy, '"minute";r=0;t=30, "day";r=1;t=43200'])
      // This request has the second slot; the next token is refilled earlier.
      const second = yield* store.send({ key })
      expect([second.header("Retry-After"), second.header("RateLimit")]).toEqual([
        "60",
        '"minute";r=0;t=30, "day";r=1;t=43200'
      ])
      yield* TestClock.adjust(60_000)
      const last = yield* store.send({ key })
      expect(last.header("RateLimit")).toBe('"minute";r=1;t=30, "day";r=0;t=43140')
      expect(last.rate.slice(0, 2)).toEqual([3, 0])
    })
  )

  it.effect(
    "show the limits of the network without a key, and 0 remaining while the rate limit store fails",
    () =>
      Effect.gen(function* () {
        const store = yield* open()
        expect(standardHeadersOf(yield* store.send())).toEqual([
          '"minute";q=60;w=60, "day";q=1000;w=86400',
          '"minute";r=59;t=1, "day";r=999;t=43200'
        ])
        const broken = yield* open({ limits: failing })
        const response = yield* broken.send()
        expect([response.status, response.header("RateLimit")]).toEqual([
          503,
          '"minute";r=0;t=5, "day";r=0;t=5'
        ])
        const uncounted = yield* open({ limits: failing, options: { onLimitsUnavailable: "open" } })
        expect((yield* uncounted.send()).header("RateLimit")).toBe('"minute";r=60, "day";r=1000')
      })
  )

  it.effect("are absent from health checks, and from all responses if standardHeaders is false", () =>
    Effect.gen(function* () {
      const enabled = yield* open()
      const disabled = yield* open({ options: { standardHeaders: false } })
      expect(standardHeadersOf(yield* enabled.send({ target: "/livez" }))).toEqual([undefined, undefined])
      for (const sent of [{}, { target: "/v1/pets/1" }, { method: "OPTIONS" }]) {
        const withHeaders = yield* enabled.send(sent)
        const withoutHeaders = yield* disabled.send(sent)
        expect(standardHeadersOf(withoutHeaders)).toEqual([undefined, undefined])
        const otherHeadersOf = (response: TestResponse) =>
          response.headers.filter(([name]) => !/^(?:RateLimit|RateLimit-Policy|X-Request-Id)$/.test(name))
        expect(otherHeadersOf(withoutHeaders)).toEqual(otherHeadersOf(withHeaders))
        expect([withoutHeaders.status, withoutHeaders.body]).toEqual([withHeaders.status, withHeaders.body])
      }
    })
  )
})

describe("deprecationUrl", () => {
  it.effect("adds a link only to responses of deprecated operations", () =>
    Effect.gen(function* () {
      const store = yield* open({ options: { deprecationUrl: "https://docs.example/getPet" } })
      const { secret: key } = yield* store.issue("Free")
      expect((yield* store.send({ key, target: "/v1/pets/1" })).all("Link")).toEqual([
        '</v1/pets>; rel="successor-version", <https://docs.example/getPet>; rel="deprecation"'
      ])
      expect((yield* store.send({ key })).all("Link")).toEqual([])
    })
  )
})
