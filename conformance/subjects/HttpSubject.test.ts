import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import type { Capability } from "../evaluation/Capability.ts"
import * as Trial from "../evaluation/Trial.ts"
import { REMOVAL_BEGINS } from "../http/Removal.ts"
import type { WireRequest, WireResponse } from "../http/Wire.ts"
import { rate, recording, wireResponse } from "../http/Wires.fixture.ts"
import * as HttpSubject from "./HttpSubject.ts"

const run = Effect.runPromise

const open = async (
  respond: (request: WireRequest, index: number) => WireResponse,
  target: Partial<HttpSubject.HttpTarget> = {}
) => {
  const { sent, transport } = recording(respond)
  const subject = await run(
    HttpSubject.make({
      name: "toy",
      transport,
      basePath: "/v1",
      baseUrl: undefined,
      keys: { main: "main-secret", tiny: { secret: "tiny-secret", perMinute: 5, perDay: 40 } },
      ...target
    })
  )
  const openInterface = <F extends "catalogue" | "http" | "meter" | "victim">(name: F) => {
    const opened = subject.interfaces[name]
    if (opened === undefined) throw new Error(`the subject has no ${name}`)
    return opened
  }
  return { subject, sent, openInterface }
}

const rex = '{"id":9007199254740993,"name":"Rex","categoryId":-1,"status":"sold"}'
const animal = { id: 9_007_199_254_740_993n, name: "Rex", categoryId: -1n, status: "sold" } as const

describe("a catalogue over HTTP", () => {
  it("sends requests as the contract describes, and parses every digit of an id", async () => {
    const { openInterface, sent } = await open(({ method, target }) =>
      method === "POST"
        ? wireResponse(201, [], rex)
        : target.startsWith("/v1/pets/")
          ? wireResponse(200, [], rex)
          : wireResponse(200, [], `[${rex}]`)
    )
    await run(
      Effect.scoped(
        Effect.gen(function* () {
          const catalogue = yield* openInterface("catalogue")(Trial.make("t"))
          const { id: _id, ...draft } = animal
          expect(yield* catalogue.create(draft)).toEqual(animal)
          expect(yield* catalogue.get(animal.id)).toEqual(Option.some(animal))
          expect(yield* catalogue.list({ limit: 5, status: "sold" })).toEqual([animal])
          yield* catalogue.list({ limit: undefined, status: undefined })
          expect(catalogue.isShared).toBe(true)
          expect(catalogue.categoryOf(-5n)).toBe(-5n)
        })
      )
    )
    expect(sent.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "POST /v1/pets",
      "GET /v1/pets/9007199254740993",
      "GET /v1/pets?limit=5&status=sold",
      "GET /v1/pets"
    ])
  })

  it.each([
    ["another status", wireResponse(200, [], rex), "201 with the created Pet", `200 ${rex}`],
    ["invalid JSON", wireResponse(201, [], "<b>"), "201 with the created Pet", 'not JSON: "<b>"'],
    ["another object", wireResponse(201, [], "{}"), "201 with the created Pet", "id is not an int64: absent"]
  ])("fails for %s in the response to a creation", async (_what, response, expected, actual) => {
    const { openInterface } = await open(() => response)
    const { id: _id, ...draft } = animal
    const failure = await run(
      Effect.flip(
        Effect.scoped(
          Effect.flatMap(openInterface("catalogue")(Trial.make("t")), (catalogue) => catalogue.create(draft))
        )
      )
    )
    expect(failure).toMatchObject({ _tag: "Violation", expected, actual })
  })

  it("returns no animal for 404, and makes `get` not applicable once the removal of getPet may have begun", async () => {
    let status = 404
    let now = Date.UTC(2027, 0, 1)
    const { openInterface } = await open(() => wireResponse(status, [], "{}"), {
      clock: { now: Effect.sync(() => now), advance: () => Effect.sync(() => now) }
    })
    const get = Effect.scoped(
      Effect.gen(function* () {
        const { get: find, list } = yield* openInterface("catalogue")(Trial.make("t"))
        // The next request reads the clock again.
        yield* openInterface("http")(Trial.make("t")).pipe(Effect.flatMap((http) => http.now))
        expect(list).toBeTypeOf("function")
        return yield* find(1n)
      })
    )
    expect(await run(get)).toEqual(Option.none())
    status = 500
    expect((await run(Effect.flip(get)))._tag).toBe("Violation")
    now = REMOVAL_BEGINS
    for (status of [404, 410, 500]) expect((await run(Effect.flip(get)))._tag).toBe("Inapplicable")
  })

  it("uses only the declared categories", async () => {
    const { openInterface, subject } = await open(() => wireResponse(200), {
      declared: { categories: [4n, 9n] }
    })
    await run(
      Effect.scoped(
        Effect.gen(function* () {
          const { categoryOf } = yield* openInterface("catalogue")(Trial.make("t"))
          for (const wanted of [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
            expect([4n, 9n]).toContain(categoryOf(wanted))
          }
        })
      )
    )
    expect(subject.capabilities.has("anyCategory")).toBe(false)
    expect(subject.notApplicable?.({ profile: "core", needs: ["anyCategory"] })).toMatch(/certain categories/)
  })
})

describe("a meter over HTTP", () => {
  const spendOf = async (respond: () => WireResponse) => {
    const { openInterface, sent } = await open(respond)
    const spend = Effect.scoped(
      Effect.flatMap(openInterface("meter")(Trial.make("t")), (meter) => meter.spend)
    )
    return { sent, result: await run(Effect.match(spend, { onSuccess: (a) => a, onFailure: (e) => e })) }
  }

  it("sends a request with the small key, and returns the limits in the response", async () => {
    const admitted = await spendOf(() => wireResponse(200, rate(5, 4, 2_000_000_000), "[]"))
    expect(admitted.result).toMatchObject({
      admitted: true,
      banned: false,
      limit: 5,
      remaining: 4,
      resetAt: 2_000_000_000,
      retryAfter: 0
    })
    expect(admitted.sent[0]?.headers).toContainEqual(["Authorization", "Bearer tiny-secret"])
    const denied = [...rate(5, 0, 2_000_000_000), ["Retry-After", "12"] as const]
    expect((await spendOf(() => wireResponse(429, denied, "{}"))).result).toMatchObject({
      admitted: false,
      banned: undefined,
      retryAfter: 12
    })
    const ban = '{"code":"api_key_banned","message":"m","status":429}'
    expect((await spendOf(() => wireResponse(429, denied, ban))).result).toMatchObject({ banned: true })
  })

  it.each([
    ["no X-RateLimit headers", wireResponse(200, [], "[]"), "X-RateLimit-Limit, -Remaining and -Reset"],
    ["another status", wireResponse(401, rate(5, 4, 9), "{}"), "200 or 429"],
    ["status 429 and no Retry-After", wireResponse(429, rate(5, 0, 9), "{}"), "Retry-After with a 429"]
  ])("fails for a response with %s", async (_what, response, expected) => {
    const { result } = await spendOf(() => response)
    expect(result).toMatchObject({ _tag: "Violation", expected: expect.stringContaining(expected) })
  })

  it("fails with Undecided if the key of the meter is not declared", async () => {
    const { openInterface } = await open(() => wireResponse(200))
    expect(await run(Effect.flip(Effect.scoped(openInterface("victim")(Trial.make("t")))))).toMatchObject({
      _tag: "Undecided",
      reason: expect.stringContaining("--victim KEY:PERMINUTE:PERDAY")
    })
  })
})

describe("a subject over HTTP", () => {
  it("has the declared capabilities", async () => {
    const capabilitiesOf = async (
      target: Partial<HttpSubject.HttpTarget>
    ): Promise<ReadonlyArray<Capability>> =>
      [...(await open(() => wireResponse(200), target)).subject.capabilities].toSorted()
    const small = { secret: "s", perMinute: 1, perDay: 1 }
    const clock = { now: Effect.succeed(0), advance: () => Effect.succeed(0) }
    expect(await capabilitiesOf({ keys: { main: "m" } })).toEqual(["anyCategory", "parallel"])
    expect(
      await capabilitiesOf({
        clock,
        keys: { main: "m", tiny: small, victim: small, revoked: "r", expired: "e" }
      })
    ).toEqual(["anyCategory", "clock", "expiredKey", "parallel", "revokedKey", "tinyPlan", "victimKey"])
  })

  it("makes the ban checks not applicable if it is declared never to ban", async () => {
    const { subject } = await open(() => wireResponse(200), { declared: { bans: false } })
    expect(subject.notApplicable?.({ profile: "ban" })).toBe("the subject declares that it never bans")
    expect(subject.notApplicable?.({ profile: "core" })).toBeUndefined()
    const banning = await open(() => wireResponse(200))
    expect(banning.subject.notApplicable?.({ profile: "ban" })).toBeUndefined()
  })

  it("repeats a denied request only for the main key, and not if requests are sent concurrently", async () => {
    const { openInterface, sent } = await open((_request, index) =>
      index === 0 ? wireResponse(429, [["Retry-After", "0"]]) : wireResponse(200, [["Retry-After", "0"]])
    )
    await run(
      Effect.scoped(
        Effect.gen(function* () {
          const http = yield* openInterface("http")(Trial.make("t"))
          expect((yield* http.send({ path: "/pets" })).response.status).toBe(200)
          expect(sent).toHaveLength(2)
        })
      )
    )
    const denying = await open(() => wireResponse(429, [["Retry-After", "0"]]))
    await run(
      Effect.scoped(
        Effect.gen(function* () {
          const http = yield* denying.openInterface("http")(Trial.make("t"))
          yield* http.send({ path: "/pets", key: "tiny" })
          yield* http.send({ path: "/pets", authorization: [] })
          yield* http.sendConcurrently([{ path: "/pets" }, { path: "/pets" }])
          expect(denying.sent).toHaveLength(4)
        })
      )
    )
  })

  it("provides a curl script only if it has an address", async () => {
    expect((await open(() => wireResponse(200))).subject.script).toBeUndefined()
    const { subject } = await open(() => wireResponse(200), { baseUrl: "http://127.0.0.1:3000/v1" })
    const trial = Trial.make("t")
    await run(subject.conversation.send({ path: "/pets?limit=1" }, trial))
    const failing = { check: "toy", law: "law", expected: "e", actual: "a", steps: trial.steps }
    const script = subject.script?.(failing)
    expect(script).toContain("/pets?limit=1")
    expect(script).not.toContain("main-secret")
  })
})
