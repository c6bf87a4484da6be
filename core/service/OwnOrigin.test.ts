import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as OwnOrigin from "./OwnOrigin.ts"
import { open, request, type Setup } from "./Service.fixture.ts"
import type { Header } from "./ServiceResponse.ts"

const originOf = (target: string, ...headers: ReadonlyArray<Header>) =>
  OwnOrigin.of(request({ target, headers }))

const serverOf = (setup: Setup, headers: ReadonlyArray<Header>, target = "/openapi.json") =>
  Effect.gen(function* () {
    const store = yield* open(setup)
    const { json } = yield* store.send({ target, headers })
    return JSON.parse(JSON.stringify(json)).servers[0].url
  })

describe("OwnOrigin.of", () => {
  it.each([
    ["localhost:3000", "http://localhost:3000"],
    ["LOCALHOST", "http://localhost"],
    ["127.0.0.1:80", "http://127.0.0.1:80"],
    ["[::1]:8080", "http://[::1]:8080"]
  ])("returns the origin for the local host %s", (host, origin) => {
    expect(originOf("/openapi.json", ["Host", host])).toBe(origin)
    expect(originOf(`http://${host}/openapi.json`)).toBe(origin)
  })

  it.each([
    "api.example",
    "10.0.0.1",
    "localhost.example",
    "127.0.0.1.example",
    "localhost:x",
    "",
    "a@localhost"
  ])("returns undefined over http for the host %s, which is not a local host", (host) => {
    expect(originOf("/openapi.json", ["Host", host])).toBeUndefined()
    expect(originOf(`http://${host}/openapi.json`)).toBeUndefined()
  })

  it("returns the origin over https, because the service itself then terminates TLS", () => {
    expect(originOf("https://api.example/openapi.json")).toBe("https://api.example")
    expect(originOf("https://user@api.example/openapi.json")).toBeUndefined()
  })

  it.each(["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"])(
    "returns undefined for a request with the header %s",
    (name) => {
      expect(originOf("/openapi.json", ["Host", "localhost"], [name, "x"])).toBeUndefined()
    }
  )

  it("never returns a character that could end a JSON string or the authority of a URL", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.constantFrom("", "http://", "https://"),
        (host, scheme) => {
          const origin = scheme === "" ? originOf("/", ["Host", host]) : originOf(`${scheme}${host}/`)
          if (origin !== undefined) expect(origin).toMatch(/^https?:\/\/[a-z0-9.:[\]-]+$/)
        }
      )
    )
  })
})

describe("the OpenAPI document", () => {
  it.effect("has an absolute server URL if the origin is known, and otherwise a path", () =>
    Effect.gen(function* () {
      const local: ReadonlyArray<Header> = [["Host", "127.0.0.1:3000"]]
      expect(yield* serverOf({}, local)).toBe("http://127.0.0.1:3000/v1")
      // Clients append the paths of the document, which begin with a slash.
      expect(yield* serverOf({ options: { basePath: "" } }, local)).toBe("http://127.0.0.1:3000")
      expect(yield* serverOf({ options: { trustedProxyHops: 1 } }, local)).toBe("/v1")
      expect(yield* serverOf({}, [["Host", "api.example"]])).toBe("/v1")
      expect(yield* serverOf({}, [])).toBe("/v1")
      const publicBaseUrl = "https://api.example/v1"
      expect(yield* serverOf({ options: { publicBaseUrl } }, local)).toBe(publicBaseUrl)
    })
  )

  it.effect("differs between hosts only in the server URL", () =>
    Effect.gen(function* () {
      const store = yield* open()
      const read = (host: string) =>
        Effect.map(store.send({ target: "/openapi.json", headers: [["Host", host]] }), ({ body }) => body)
      const bodies = [yield* read("localhost:1"), yield* read("api.example"), yield* read("localhost:2")]
      expect(new Set(bodies).size).toBe(3)
      expect(new Set(bodies.map((body) => body.replace(/http:\/\/localhost:[12]/, ""))).size).toBe(1)
    })
  )
})
