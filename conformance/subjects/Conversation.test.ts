import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { headerValues, NoResponse, text } from "../http/Wire.ts"
import { rate, recording, wireResponse } from "../http/Wires.fixture.ts"
import { begin, run, trial } from "./Conversation.fixture.ts"
import * as Conversation from "./Conversation.ts"

describe("Conversation.send", () => {
  it("sends a request below the base path, with the credential of its key", async () => {
    const { sent, transport } = recording(() => wireResponse(200))
    await run(
      Effect.gen(function* () {
        const { send } = yield* begin(transport)
        yield* send({ path: "/pets?limit=%zz" }, trial())
        yield* send({ path: "/pets", key: "tiny", method: "DELETE" }, trial())
        yield* send({ path: "/pets", key: "none" }, trial())
        yield* send({ path: "/pets", authorization: ["Bearer a", "bearer b"] }, trial())
        yield* send({ path: "/pets", authorization: [] }, trial())
        yield* send({ path: "/pets", key: "revoked" }, trial())
      })
    )
    expect(sent.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "GET /v1/pets?limit=%zz",
      "DELETE /v1/pets",
      ...Array.from({ length: 4 }, () => "GET /v1/pets")
    ])
    expect(sent.map((request) => headerValues(request, "authorization"))).toEqual([
      ["Bearer main-secret"],
      ["Bearer tiny-secret"],
      [],
      ["Bearer a", "bearer b"],
      [],
      []
    ])
    expect(sent.every(({ body }) => body === undefined)).toBe(true)
  })

  it("sends the given body, and a JSON content type only for `json`", async () => {
    const { sent, transport } = recording(() => wireResponse(200))
    const raw = new Uint8Array([0xff, 0])
    await run(
      Effect.gen(function* () {
        const { send } = yield* begin(transport)
        yield* send({ method: "POST", path: "/pets", json: "{}" }, trial())
        yield* send({ method: "POST", path: "/pets", body: "ü", headers: [["X-One", "1"]] }, trial())
        yield* send({ method: "POST", path: "/pets", body: raw }, trial())
      })
    )
    expect(sent.map(({ body }) => body)).toEqual([
      new Uint8Array([0x7b, 0x7d]),
      new Uint8Array([0xc3, 0xbc]),
      raw
    ])
    expect(sent.map((request) => headerValues(request, "content-type"))).toEqual([
      ["application/json"],
      [],
      []
    ])
    expect(headerValues(sent[1] ?? wireResponse(0), "x-one")).toEqual(["1"])
  })

  it("fails with the reason if there is no response, and records no exchange", async () => {
    const ownTrial = trial()
    await run(
      Effect.gen(function* () {
        const { exchanges, send } = yield* begin(() =>
          Effect.fail(new NoResponse({ kind: "connection", reason: "connection refused" }))
        )
        expect(Result.isSuccess(yield* Effect.result(send({ path: "/pets" }, ownTrial)))).toBe(false)
        const failure = yield* Effect.flip(send({ path: "/pets" }, trial()))
        expect(failure).toMatchObject({
          _tag: "Violation",
          expected: "a response to GET /pets",
          actual: "none: connection refused"
        })
        expect(exchanges).toEqual([])
      })
    )
    expect(ownTrial.steps).toEqual([{ did: "GET /pets", got: "no response: connection refused" }])
  })
})

describe("a response that cannot be read completely", () => {
  const tooLong = new NoResponse({ kind: "excess", reason: "the body is longer than 1 MB", hasBegun: true })

  it("violates the clause about JSON bodies, and does not mean that the server is unreachable", async () => {
    await run(
      Effect.gen(function* () {
        const { exchanges, send } = yield* begin(() => Effect.fail(tooLong))
        for (let index = 0; index < 20; index++) {
          expect(yield* Effect.flip(send({ path: "/pets" }, trial()))).toMatchObject({
            _tag: "Violation",
            clause: "http.json-bodies",
            expected: "a complete response of at most 1 MB to GET /pets",
            actual: "the body is longer than 1 MB"
          })
        }
        expect(exchanges).toEqual([])
      })
    )
  })

  it("violates the clause about JSON bodies if it breaks off; after five, the server counts as unreachable", async () => {
    const aborted = new NoResponse({ kind: "connection", reason: "aborted", hasBegun: true })
    await run(
      Effect.gen(function* () {
        const { send } = yield* begin(() => Effect.fail(aborted))
        for (let index = 0; index < 5; index++) {
          expect(yield* Effect.flip(send({ path: "/pets" }, trial()))).toMatchObject({
            clause: "http.json-bodies"
          })
        }
        expect((yield* Effect.flip(send({ path: "/pets" }, trial())))._tag).toBe("Undecided")
      })
    )
  })
})

describe("the exchanges of a run", () => {
  it("are recorded in the order of their responses, with their key, and as steps of their trial", async () => {
    const { transport } = recording((_request, index) => wireResponse(200 + index, [], `body ${index}`))
    await run(
      Effect.gen(function* () {
        const { exchanges, send } = yield* begin(transport)
        const [first, second] = [trial(), trial()]
        yield* send({ path: "/pets" }, first)
        yield* send({ path: "/pets/1", key: "tiny" }, second)
        yield* send({ path: "/pets/2", authorization: ["Bearer x"] }, first)
        yield* send({ path: "/pets/3", authorization: [] }, trial())
        expect(exchanges.map(({ index, key, response }) => [index, key, response.status])).toEqual([
          [0, "main", 200],
          [1, "tiny", 201],
          [2, "other", 202],
          [3, "none", 203]
        ])
        expect(first.steps).toEqual([
          { did: "GET /pets", got: "200 body 0", exchange: exchanges[0] },
          { did: "GET /pets/2 (Authorization: Bearer x)", got: "202 body 2", exchange: exchanges[2] }
        ])
        expect(second.steps.map(({ did }) => did)).toEqual(["GET /pets/1 (tiny key)"])
      })
    )
  })

  it("are marked as alone if and only if no other exchange was in flight at the same time", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 3 }), fc.boolean()), { minLength: 1, maxLength: 14 }),
        async (plan) => {
          /** The starts and ends of all requests, in order. */
          const order: Array<{ readonly index: number; readonly isStart: boolean }> = []
          const inFlight: Array<number> = []
          let started = 0
          for (const [choice, isStart] of plan) {
            if (isStart || inFlight.length === 0) {
              inFlight.push(started)
              order.push({ index: started++, isStart: true })
            } else {
              const [index = 0] = inFlight.splice(choice % inFlight.length, 1)
              order.push({ index, isStart: false })
            }
          }
          for (const index of inFlight.toReversed()) order.push({ index, isStart: false })

          const gates = await run(Effect.all(Array.from({ length: started }, () => Deferred.make<void>())))
          let next = 0
          const aloneByTarget = await run(
            Effect.gen(function* () {
              const { exchanges, send } = yield* begin(() => {
                const gate = gates[next++]
                return Effect.as(gate === undefined ? Effect.never : Deferred.await(gate), wireResponse(200))
              })
              const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
              for (const { index, isStart } of order) {
                if (isStart) {
                  fibers.push(
                    yield* Effect.forkChild(send({ path: `/${index}` }, trial()), { startImmediately: true })
                  )
                } else {
                  const [gate, fiber] = [gates[index], fibers[index]]
                  if (gate !== undefined) yield* Deferred.succeed(gate, undefined)
                  if (fiber !== undefined) yield* Fiber.await(fiber)
                }
              }
              return new Map(exchanges.map(({ isAlone, request }) => [request.target, isAlone]))
            })
          )
          for (let index = 0; index < started; index++) {
            const from = order.findIndex((event) => event.index === index && event.isStart)
            const to = order.findIndex((event) => event.index === index && !event.isStart)
            const inFlightBefore = order
              .slice(0, from)
              .reduce((count, { isStart }) => count + (isStart ? 1 : -1), 0)
            expect([index, aloneByTarget.get(`/v1/${index}`)]).toEqual([
              index,
              inFlightBefore === 0 && to === from + 1
            ])
          }
        }
      ),
      { numRuns: 200 }
    )
  })

  it("are marked as alone after a request that got no response and a request that was interrupted", async () => {
    let count = 0
    await run(
      Effect.gen(function* () {
        const { exchanges, send } = yield* begin(() =>
          count++ === 0
            ? Effect.fail(new NoResponse({ kind: "timeout", reason: "late" }))
            : count === 2
              ? Effect.never
              : Effect.succeed(wireResponse(200))
        )
        yield* Effect.result(send({ path: "/a" }, trial()))
        const interrupted = yield* Effect.forkChild(send({ path: "/b" }, trial()), { startImmediately: true })
        yield* Fiber.interrupt(interrupted)
        yield* send({ path: "/c" }, trial())
        expect(exchanges.map(({ isAlone }) => isAlone)).toEqual([true])
      })
    )
  })

  it("are not marked as alone if they are sent concurrently, and are then not repeated after a 429", async () => {
    const statuses = [200, 429, 429]
    let count = 0
    await run(
      Effect.gen(function* () {
        const { exchanges, sendConcurrently } = yield* begin(() =>
          Effect.as(Effect.yieldNow, wireResponse(statuses[count++] ?? 500, [["Retry-After", "1"]]))
        )
        const concurrentExchanges = yield* sendConcurrently(
          [{ path: "/a" }, { path: "/b" }, { path: "/c" }],
          trial()
        )
        expect(concurrentExchanges.map(({ request }) => request.target)).toEqual(["/v1/a", "/v1/b", "/v1/c"])
        expect(exchanges).toHaveLength(3)
        expect(exchanges.some(({ isAlone }) => isAlone)).toBe(false)
      })
    )
  })
})

describe("the steps of a trial", () => {
  it("never contain the secret of a key, whatever the requests contain", async () => {
    const secret = fc.string({ unit: fc.constantFrom(..."abcXYZ0189._~-"), minLength: 12, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(
        secret,
        secret,
        fc.constantFrom("main", "tiny", "none", "revoked"),
        fc.option(fc.string(), { nil: undefined }),
        async (main, tiny, key, json) => {
          fc.pre(!(json ?? "").includes(main) && !(json ?? "").includes(tiny))
          const ownTrial = trial()
          const { transport } = recording(() => wireResponse(401, rate(1, 0, 2), "no"))
          await run(
            Effect.gen(function* () {
              const { send } = yield* begin(transport, { secrets: { main, tiny, revoked: `${tiny}-old` } })
              const method = "POST"
              yield* send({ method, path: "/pets", key, ...(json === undefined ? {} : { json }) }, ownTrial)
              yield* send({ path: "/pets", authorization: [`Bearer ${main}`, `Basic ${tiny}`] }, ownTrial)
              yield* send({ path: "/pets", headers: [["X-Api-Key", main]] }, ownTrial)
            })
          )
          const texts = ownTrial.steps.map(({ did, got }) => `${did} ${got}`).join("\n")
          expect(texts).not.toContain(main)
          expect(texts).not.toContain(tiny)
        }
      )
    )
  })

  it("contain a short form of each response", () => {
    const long = "xy ".repeat(200)
    expect(Conversation.outcome(wireResponse(200, [], long))).toBe(`200 ${"xy ".repeat(66)}… (600)`)
    // The text is truncated between words, because a truncated word could be a part of a key.
    expect(Conversation.outcome(wireResponse(200, [], `${"x".repeat(190)} ${"k".repeat(40)}`))).toBe(
      `200 ${"x".repeat(190)} … (231)`
    )
    expect(Conversation.outcome(wireResponse(429, [...rate(5, 0, 9), ["retry-after", "7"]], "{}"))).toBe(
      "429, remaining 0, Retry-After 7 {}"
    )
    expect(Conversation.outcome(wireResponse(204))).toBe("204")
    expect(text(undefined)).toBe("")
  })
})
