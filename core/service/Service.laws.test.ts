import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { catalogue } from "../errors/ErrorCatalogue.ts"
import { badAuthorization, operation, sent } from "./Service.arbitrary.ts"
import {
  ample,
  dying,
  enterprise,
  failing,
  newPet,
  open,
  run,
  type Setup,
  start,
  type TestResponse,
  type TestStore,
  unlimited
} from "./Service.fixture.ts"

const probeTarget = /^(?:[Hh][Tt]{2}[Pp][Ss]?:\/\/[^/?#]*)?\/(?:livez|readyz|openapi\.json)(?:\?|$)/

const statusByCode = new Map<unknown, number>(
  Object.entries(catalogue).map(([code, { status }]) => [code, status])
)

/** Expects the properties that contract §2, §7 and §8.3 and the design promise for every response. */
const expectWellFormed = (response: TestResponse, now: number, isProbe: boolean): void => {
  for (const [, value] of response.headers) expect(value).toMatch(/^[ -~]+$/)
  expect(response.all("Date")).toEqual([new Date(now).toUTCString()])
  expect(response.all("Cache-Control")).toEqual(["no-store"])
  expect(response.all("X-Content-Type-Options")).toEqual(["nosniff"])
  expect(response.all("X-Request-Id")).toHaveLength(1)
  expect(response.all("Content-Type")).toEqual(
    response.body === "" ? [] : ["application/json; charset=utf-8"]
  )
  expect(response.body === "").toBe(response.status === 204)
  for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) {
    expect(response.all(name)).toEqual(isProbe ? [] : [expect.stringMatching(/^(?:0|[1-9][0-9]*)$/)])
  }
  if (!isProbe) {
    const [limit, remaining, reset] = response.rate
    expect(limit).toBeGreaterThanOrEqual(1)
    expect(remaining).toBeLessThan(limit)
    expect(reset).toBeGreaterThanOrEqual(now / 1000)
    const mayRetry = response.status === 429 || response.status === 503
    expect(response.all("Retry-After")).toEqual(mayRetry ? [expect.stringMatching(/^[1-9][0-9]*$/)] : [])
  }
  if (response.status >= 400) {
    const error = response.json
    expect(error).toEqual({
      code: expect.any(String),
      message: expect.stringMatching(/./),
      status: response.status
    })
    expect(statusByCode.get(response.code)).toBe(response.status)
  }
}

/** Creates a service that all runs of a property share. */
const openShared = async (setup: Setup): Promise<TestStore & { readonly secret: string }> => {
  const scope = Scope.makeUnsafe()
  const store = await Effect.runPromise(
    open(setup).pipe(Scope.provide(scope), Effect.provide(TestClock.layer()))
  )
  const { secret } = await Effect.runPromise(store.issue(unlimited))
  return { ...store, secret }
}

/** Runs an effect with a test clock at `start`. */
const atStart = <A>(effect: Effect.Effect<A>): Promise<A> =>
  run(Effect.andThen(TestClock.setTime(start), effect))

const setups: ReadonlyArray<readonly [name: string, setup: Setup]> = [
  ["working stores", { options: { anonymousPlan: ample } }],
  ["strict options", { options: { strict: true } }],
  ["an animal store that fails", { pets: failing }],
  ["an animal store with a defect", { pets: dying }],
  ["a rate limit store that fails", { limits: failing }],
  ["a rate limit store with a defect", { limits: dying }],
  ["a key store that fails", { keys: failing }],
  ["a key store with a defect", { keys: dying }]
]

describe("Service.handle", () => {
  it.each(setups)("returns a well-formed response to any request, with %s", async (_, setup) => {
    const store = await openShared(setup)
    const authorization = fc.oneof(
      { weight: 3, arbitrary: fc.constant(`Bearer ${store.secret}`) },
      { weight: 1, arbitrary: badAuthorization }
    )
    const ids = new Set<string>()
    const statuses = new Set<number>()
    let responses = 0
    await fc.assert(
      fc.asyncProperty(sent({ authorization }), async (request) => {
        const response = await atStart(store.send(request))
        expectWellFormed(response, start, probeTarget.test(request.target ?? ""))
        responses++
        ids.add(response.header("X-Request-Id") ?? "")
        statuses.add(response.status)
      }),
      { numRuns: setup.options?.anonymousPlan === undefined ? 150 : 500 }
    )
    expect(ids.size).toBe(responses)
    // The generated requests must cause all of these statuses.
    if (setup.options?.anonymousPlan !== undefined) {
      expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 204, 400, 401, 404, 405, 415, 500]))
    }
  })

  it("returns a well-formed response to every request while the animal store fails intermittently", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(operation, fc.boolean(), fc.constantFrom("works", "fails", "dies")), {
          maxLength: 12
        }),
        (steps) =>
          run(
            Effect.gen(function* () {
              let state: "works" | "fails" | "dies" = "works"
              const store = yield* open({
                pets: (real) => {
                  const current = { works: real, fails: failing(real), dies: dying(real) }
                  return {
                    insert: (pet) => current[state].insert(pet),
                    find: (id) => current[state].find(id),
                    page: (query) => current[state].page(query)
                  }
                }
              })
              const { secret } = yield* store.issue("Free")
              for (const [request, isAuthenticated, next] of steps) {
                state = next
                expectWellFormed(
                  yield* store.send(isAuthenticated ? { ...request, key: secret } : request),
                  start,
                  false
                )
              }
            })
          )
      ),
      { numRuns: 60 }
    )
  })
})

describe("Error responses", () => {
  const marker = fc
    .string({
      unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz0123456789"),
      minLength: 12,
      maxLength: 80
    })
    .map((text) => `mark${text}`)

  const places: ReadonlyArray<readonly [place: string, request: (text: string, key: string) => object]> = [
    ["a bearer token", (text) => ({ key: text })],
    ["a token of the right form", (text) => ({ key: `ast_${text.padEnd(33, "0").slice(0, 33)}` })],
    ["other credentials", (text) => ({ headers: [["Authorization", `Basic ${text}`]] })],
    ["the parameter limit", (text, key) => ({ key, target: `/v1/pets?limit=${text}` })],
    ["the parameter status", (text, key) => ({ key, target: `/v1/pets?status=${text}` })],
    ["the parameter cursor", (text, key) => ({ key, target: `/v1/pets?cursor=${text}` })],
    ["an unknown parameter", (text, key) => ({ key, target: `/v1/pets?x=${text}&limit=0` })],
    ["a malformed query", (text, key) => ({ key, target: `/v1/pets?x=${text}%zz` })],
    ["a path", (text, key) => ({ key, target: `/v1/${text}` })],
    ["a petId", (text, key) => ({ key, target: `/v1/pets/${text}` })],
    ["a method", (text, key) => ({ key, method: text })],
    ["a content type", (text, key) => ({ key, method: "POST", headers: [["Content-Type", text]] })],
    ["a content coding", (text, key) => ({ key, method: "POST", headers: [["Content-Encoding", text]] })],
    ["a name", (text, key) => ({ key, method: "POST", json: { name: `${text}\0`, categoryId: 1 } })],
    ["a categoryId", (text, key) => ({ key, method: "POST", json: { name: "x", categoryId: text } })],
    ["a status", (text, key) => ({ key, method: "POST", json: { ...newPet, status: text } })],
    [
      "a status object",
      (text, key) => ({ key, method: "POST", json: { ...newPet, status: { [text]: text } } })
    ],
    ["a value of an unknown field", (text, key) => ({ key, method: "POST", json: { x: text } })],
    ["a body of the wrong type", (text, key) => ({ key, method: "POST", json: [text] })],
    [
      "invalid JSON",
      (text, key) => ({
        key,
        method: "POST",
        headers: [["Content-Type", "application/json"]],
        body: `{"${text}": ${text}}`
      })
    ]
  ]

  it.each(places)("never echo %s", async (_, request) => {
    const stores = await Promise.all([openShared({}), openShared({ options: { strict: true } })])
    await fc.assert(
      fc.asyncProperty(marker, fc.constantFrom(...stores), async (text, store) => {
        const response = await atStart(store.send(request(text, store.secret)))
        expect(response.status).toBeGreaterThanOrEqual(400)
        expect(JSON.stringify([response.headers, response.body])).not.toContain(text.slice(0, 12))
      }),
      { numRuns: 10 }
    )
  })

  it.each([
    ["fails", failing],
    ["has a defect", dying]
  ])("reveal nothing about a store that %s, and no credential is logged", async (_, broken) => {
    for (const port of ["pets", "limits", "keys"] as const) {
      const store = await openShared({ [port]: broken })
      const response = await atStart(store.send({ key: store.secret }))
      expect(response.status).toBeGreaterThanOrEqual(500)
      expect(JSON.stringify([response.headers, response.body])).not.toMatch(/hunter2|driver|bug|ast_/)
      expect(store.logs.join()).toContain("hunter2")
      expect(store.logs.join()).not.toContain(store.secret)
    }
  })
})

describe("Rate limits", () => {
  const anonymous = { perMinute: 7, perDay: 1000 }
  const networks: ReadonlyArray<readonly [address: string | undefined, network: string]> = [
    ["192.0.2.1", "a"],
    ["::ffff:192.0.2.1", "a"],
    ["192.0.2.2", "b"],
    ["2001:db8::1", "c"],
    ["2001:db8:0:0:ffff::9", "c"],
    ["2001:db8:0:1::1", "d"],
    [undefined, "unknown"]
  ]

  interface Step {
    readonly request: object
    readonly caller: "first" | "second" | "anonymous"
    readonly from: readonly [address: string | undefined, network: string]
    readonly bad: string | undefined
  }

  const step: fc.Arbitrary<Step> = fc.record({
    request: operation,
    caller: fc.constantFrom("first", "second", "anonymous"),
    from: fc.constantFrom(...networks),
    bad: badAuthorization
  })

  it("consume one token from exactly one limit per response except 429, and the headers show that limit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.constantFrom<NonNullable<Setup["pets"]> | undefined>(undefined, failing, dying),
        (steps, pets) =>
          run(
            Effect.gen(function* () {
              const store = yield* open({
                options: { anonymousPlan: anonymous },
                ...(pets === undefined ? undefined : { pets })
              })
              const keys = {
                first: yield* store.issue(enterprise(11, 1000)),
                second: yield* store.issue(enterprise(1000, 9))
              }
              const limits: { [name: string]: number } = { first: 11, second: 9 }
              const used = new Map<string, number>()
              for (const { bad, caller, from, request } of steps) {
                const [clientAddress, network] = from
                const response = yield* store.send({
                  ...request,
                  clientAddress,
                  ...(caller === "anonymous"
                    ? { headers: bad === undefined ? [] : [["Authorization", bad]] }
                    : { key: keys[caller].secret })
                })
                const limitName = caller === "anonymous" ? `network ${network}` : caller
                const limit = limits[limitName] ?? anonymous.perMinute
                const before = used.get(limitName) ?? 0
                const isAdmitted = before < limit
                expect(response.status === 429).toBe(!isAdmitted)
                if (isAdmitted) expect(response.status === 401).toBe(caller === "anonymous")
                if (isAdmitted) used.set(limitName, before + 1)
                expect(response.rate.slice(0, 2)).toEqual([limit, isAdmitted ? limit - before - 1 : 0])
              }
            })
          )
      ),
      { numRuns: 60 }
    )
  })

  it("admit requests sent after Retry-After, for any plan, and never ban clients that wait that long", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), operation), { minLength: 20, maxLength: 60 }),
        (perMinute, perDay, steps) =>
          run(
            Effect.gen(function* () {
              const store = yield* open()
              const { secret } = yield* store.issue(enterprise(perMinute, perDay))
              for (const [pause, request] of steps) {
                yield* TestClock.adjust(pause)
                const response = yield* store.send({ ...request, key: secret })
                if (response.status !== 429) continue
                expect(response.code).toBe("rate_limit_exceeded")
                yield* TestClock.adjust(response.number("Retry-After") * 1000)
                const retried = yield* store.send({ ...request, key: secret })
                expect(retried.status).not.toBe(429)
              }
            })
          )
      ),
      { numRuns: 40 }
    )
  })
})
