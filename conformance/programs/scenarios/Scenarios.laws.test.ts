import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Header, WireResponse } from "../../http/Wire.ts"
import { bytes, NoResponse } from "../../http/Wire.ts"
import * as ArrayStores from "../../selftest/ArrayStores.ts"
import * as ServiceTarget from "../../selftest/ServiceTarget.ts"
import type { HttpTarget } from "../../subjects/HttpSubject.ts"
import type { Program } from "../Program.ts"
import { programs, scenarios } from "../Programs.ts"
import * as Requests from "../Requests.ts"
import * as Traffic from "../Traffic.ts"

const { MORNING, plans, stoppedTime } = ServiceTarget

/** Runs a scenario on a server, and then something else; returns the number of its requests and what follows. */
const run = <A>(
  target: HttpTarget,
  scenario: Program,
  seed: number,
  then: (traffic: Traffic.Traffic) => Effect.Effect<A, unknown>
) =>
  Effect.gen(function* () {
    let names = 0
    const traffic = yield* Traffic.make({
      target,
      budget: { requests: 10_000, milliseconds: 60_000 },
      see: () => {},
      name: (tail = "") => `Animal${names++}${tail}`
    })
    // Some animals of earlier programs.
    const json = '{"name":"Rex","categoryId":1}'
    yield* Effect.replicateEffect(Effect.ignore(traffic.send({ method: "POST", path: "/pets", json })), 40)
    const before = traffic.requests()
    yield* scenario.run(traffic).pipe(Effect.ignore, Random.withSeed(String(seed)))
    const requests = traffic.requests() - before
    return [requests, yield* then(traffic)] as const
  })

const number = fc.oneof(fc.constantFrom(0, 1, 5, 40), fc.nat(100_000), fc.nat()).map(String)

const oddResponse = fc.record({
  status: fc.constantFrom(200, 201, 400, 401, 403, 404, 410, 429, 429, 500),
  headers: fc
    .record({
      "X-RateLimit-Limit": number,
      "X-RateLimit-Remaining": number,
      "X-RateLimit-Reset": fc.oneof(number, fc.nat(2_000_000_000).map(String)),
      "Retry-After": fc.oneof(number, fc.constantFrom("-1", "soon", "Thu, 01 Dec 2033 16:00:00 GMT"))
    })
    .map((headers): ReadonlyArray<Header> => Object.entries(headers)),
  body: fc.constantFrom("[]", "{}", "null", "", '{"id":1,"name":"a","categoryId":1}').map(bytes)
}) satisfies fc.Arbitrary<WireResponse>

/** A server that gives the responses in turn; `undefined` is none. */
const oddServer = (responses: ReadonlyArray<WireResponse | undefined>): HttpTarget => {
  let sent = 0
  return {
    name: "odd",
    basePath: "/v1",
    baseUrl: undefined,
    keys: {
      main: "main",
      tiny: { secret: "tiny", ...plans.tiny },
      victim: { secret: "victim", ...plans.victim }
    },
    clock: stoppedTime(MORNING).controls,
    transport: () =>
      Effect.suspend(() => {
        const response = responses[sent++ % responses.length]
        return response === undefined
          ? Effect.fail(new NoResponse({ kind: "connection", reason: "closed" }))
          : Effect.succeed(response)
      })
  }
}

describe("every scenario", () => {
  it.each(scenarios)("ends on a server that responds oddly: $name", (scenario) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(oddResponse, { freq: 20, nil: undefined }), { minLength: 1, maxLength: 8 }),
        fc.nat(),
        async (responses, seed) => {
          const [requests] = await Effect.runPromise(
            run(oddServer(responses), scenario, seed, () => Effect.void)
          )
          expect(requests).toBeLessThan(12 * scenario.requests + 100)
        }
      ),
      { numRuns: 15 }
    )
  )

  it.each(scenarios)(
    "sends about as many requests as it declares, and leaves unused limits: $name",
    (scenario) =>
      Effect.gen(function* () {
        const target = yield* ServiceTarget.make({ name: "ours", stores: ArrayStores.layer })
        const look = { path: "/pets?limit=1" }
        const [requests, after] = yield* run(target, scenario, 1, ({ sendOnce }) =>
          Effect.forEach(
            (["tiny", "victim"] as const).flatMap((key) =>
              Array.from({ length: plans[key].perMinute }, () => ({ ...look, key }))
            ),
            sendOnce
          )
        )
        for (const { response } of after) expect(response?.status).toBe(200)
        if (requests > 0) expect(requests / scenario.requests).toBeGreaterThan(1 / 1.5)
        expect(requests / scenario.requests).toBeLessThan(1.5)
      }).pipe(Effect.scoped, Effect.runPromise)
  )
})

describe("Traffic", () => {
  it("does not wait for a server that is unreachable", () =>
    Effect.gen(function* () {
      const dead = { ...oddServer([undefined]), clock: undefined }
      const wait = Traffic.make({
        target: dead,
        budget: { requests: 100, milliseconds: 60_000 },
        see: () => {},
        name: () => ""
      }).pipe(
        Effect.tap(({ sendOnce }) => Effect.replicateEffect(sendOnce({ path: "/pets" }), 5)),
        Effect.flatMap(({ advance }) => Effect.flip(advance(30_000)))
      )
      expect(yield* wait).toMatchObject({ reason: expect.stringMatching(/^the server is unreachable/) })
    }).pipe(Effect.runPromise))
})

describe("Requests.all", () => {
  it("sends noncharacters in a name as themselves and as escapes", async () => {
    const [scenario] = scenarios
    if (scenario === undefined) throw new Error("there is no scenario")
    const [, all] = await Effect.runPromise(run(oddServer([undefined]), scenario, 1, Requests.all))
    const bodies = all.map(({ body }) => String(body))
    for (const written of ["\ufffe\uffff", "\\uFFFE\\uFFFF"])
      expect(bodies.some((body) => body.includes(written))).toBe(true)
  })
})

describe("programs", () => {
  it("have different names, which their random choices depend on", () => {
    expect(new Set(programs.map(({ name }) => name)).size).toBe(programs.length)
  })
})
