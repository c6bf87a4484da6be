import { readdirSync, readFileSync } from "node:fs"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Wire from "../../http/Wire.ts"
import * as Choices from "./Choices.ts"
import { json, numberIn, rex, serverOf } from "./Server.fixture.ts"
import * as Variants from "./Variants.ts"

const { defaults } = Choices
const variants = Variants.of(1)
const anyVariant = fc.constantFrom(...variants)
const nested = (depth: number) => `{"name":${"[".repeat(depth)}${"]".repeat(depth)},"categoryId":1}`

describe("the conforming variants", () => {
  it("import only Wire.ts, Effect and the table of pairs", () => {
    const directory = new URL("./", import.meta.url)
    const sources = readdirSync(directory)
      .filter((name) => !/\.(?:test|fixture)\.ts$/.test(name))
      .map((name) => readFileSync(new URL(name, directory), "utf8"))
    const imported = sources.flatMap((source) =>
      [...source.matchAll(/(?:from|import) ?\(?"([^"]+)"/g)].map(([, module = ""]) => module)
    )
    const external = new Set(imported.filter((module) => !module.startsWith("./")))
    expect([...external].sort()).toEqual([
      "../../http/Wire.ts",
      "../../programs/Pairs.ts",
      "effect/Effect",
      "effect/Random"
    ])
  })

  it("remove getPet while it is 5 December 2030 in some time zone", () => {
    for (const { choices } of variants) {
      const removedAt = Date.parse(choices.removedAt ?? defaults.removedAt)
      expect(removedAt).toBeGreaterThanOrEqual(Date.parse("2030-12-05T00:00:00+14:00"))
      expect(removedAt).toBeLessThan(Date.parse("2030-12-06T00:00:00-12:00"))
    }
  })

  const target = fc.oneof(
    fc.constantFrom("/v1/pets", "/v1/pets/1", "/v1/pets/%zz", "/v1/pets/", "/", "", "*", "/v2/pets"),
    fc.string({ unit: "binary", maxLength: 12 }).map((tail) => `/v1/pets/${tail}`),
    fc
      .array(
        fc.tuple(fc.constantFrom("limit", "status", "offset", "__proto__"), fc.string({ unit: "binary" }))
      )
      .map((pairs) => `/v1/pets?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`),
    fc.constantFrom("/v1/pets?limit=%", "/v1/pets?status=%ff&limit=%E0%A4%A", "/v1/pets?limit=1e9&?&=")
  )
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.json().map(Wire.bytes),
    fc
      .record({ name: fc.string({ unit: "binary" }), categoryId: fc.jsonValue(), status: fc.jsonValue() })
      .map((value) => Wire.bytes(JSON.stringify(value))),
    fc.constantFrom(rex, "", "null", "[]", "{", `{"__proto__":1,"name":"x","categoryId":2}`).map(Wire.bytes),
    fc.constantFrom(nested(50), nested(100_000)).map(Wire.bytes)
  )
  const request = fc.record({
    method: fc.oneof(
      fc.constantFrom("GET", "POST", "HEAD", "OPTIONS", "DELETE", "get", "constructor", ""),
      fc.string({ maxLength: 5 })
    ),
    target,
    key: fc.constantFrom("key", "key", "other", "revoked", "wrong", "key key", undefined),
    body: fc.option(body, { nil: undefined }),
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200_000 }), fc.constant(5e10))
  })

  it("respond to random requests with the required headers and error body, never with 500", () => {
    fc.assert(
      fc.property(anyVariant, fc.array(request, { maxLength: 25 }), ({ choices }, requests) => {
        const { send, clock } = serverOf(choices, { perMinute: 4, perDay: 9 })
        for (const { body, key, method, target, waitMs } of requests) {
          clock.now += waitMs
          const response = send(method, target, { key, ...(body === undefined ? {} : { body }) })
          expect(response.status === 501 || response.status < 500).toBe(true)
          for (const name of ["limit", "remaining", "reset"]) {
            expect(Wire.header(response, `x-ratelimit-${name}`)).toMatch(/^\d+$/)
          }
          expect(numberIn(response, "x-ratelimit-remaining")).toBeLessThanOrEqual(
            numberIn(response, "x-ratelimit-limit")
          )
          expect(numberIn(response, "x-ratelimit-reset") * 1000).toBeGreaterThanOrEqual(clock.now)
          if (response.status === 429) expect(Wire.header(response, "retry-after")).toMatch(/^[1-9]|GMT$/)
          if (key !== "key" && key !== "other") expect([401, 403, 404, 429]).toContain(response.status)
          if (method === "HEAD" || response.status === 204) {
            expect(response.body.length).toBe(0)
          } else if (response.status >= 400) {
            expect(json(response)).toMatchObject({
              code: expect.stringMatching(/./),
              message: expect.stringMatching(/./),
              status: response.status
            })
          }
        }
      }),
      { numRuns: 400 }
    )
  })

  it("return 400 for JSON that is nested 100,000 levels deep", () => {
    const depth = 100_000
    const deep = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
    for (const body of [nested(depth), deep, `{"name":"x","categoryId":1,"other":${deep}}`]) {
      expect(serverOf().create(body).status).toBe(400)
    }
  })
})
