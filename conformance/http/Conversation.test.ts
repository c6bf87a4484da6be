import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Trial from "../engine/Trial.ts"
import * as Conversation from "./Conversation.ts"
import type { ServerClock } from "./ServerClock.ts"
import { headerValues, NoAnswer, type Transport, text } from "./Wire.ts"
import { answer, rate, recording } from "./Wires.fixture.ts"

const NOON = Date.UTC(2027, 0, 1, 12)

const SECOND = 1_000

/** A clock that only stands and jumps, with what it was asked. */
const jumping = (begin = NOON) => {
  const jumps: Array<number> = []
  let now = begin
  const clock: ServerClock = {
    now: Effect.sync(() => now),
    advance: (ms) =>
      Effect.sync(() => {
        jumps.push(ms)
        now += ms
        return now
      })
  }
  return { clock, jumps, now: () => now }
}

const begin = (transport: Transport, options: Partial<Conversation.ConversationOptions> = {}) =>
  Conversation.make({
    transport,
    basePath: "/v1",
    secrets: { main: "main-secret", tiny: "tiny-secret" },
    clock: undefined,
    budget: { requests: 1_000, milliseconds: 600_000 },
    ...options
  })

const run = Effect.runPromise

/** In a time that stands still unless it is moved. */
const timeless = <A, E>(effect: Effect.Effect<A, E>) => run(Effect.provide(effect, TestClock.layer()))

const trial = () => Trial.make("t")

describe("a request", () => {
  it("goes to the base path, with the credential of its key", async () => {
    const { sent, transport } = recording(() => answer(200))
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

  it("has a body as it is, and calls it JSON only where that was said", async () => {
    const { sent, transport } = recording(() => answer(200))
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
    expect(headerValues(sent[1] ?? answer(0), "x-one")).toEqual(["1"])
  })

  it("without an answer is a violation, with its reason, and no exchange", async () => {
    const own = trial()
    await run(
      Effect.gen(function* () {
        const { exchanges, send } = yield* begin(() =>
          Effect.fail(new NoAnswer({ kind: "connection", reason: "connection refused" }))
        )
        expect(Result.isSuccess(yield* Effect.result(send({ path: "/pets" }, own)))).toBe(false)
        const failure = yield* Effect.flip(send({ path: "/pets" }, trial()))
        expect(failure).toMatchObject({
          _tag: "Violation",
          expected: "an answer to GET /pets",
          actual: "none: connection refused"
        })
        expect(exchanges).toEqual([])
      })
    )
    expect(own.steps).toEqual([{ did: "GET /pets", got: "no answer: connection refused" }])
  })
})

describe("a response that cannot be read to its end", () => {
  const cut = new NoAnswer({ kind: "excess", reason: "the body is longer than 1 MB", hasBegun: true })

  it("breaks the clause of JSON bodies, and does not count as a server that went away", async () => {
    await run(
      Effect.gen(function* () {
        const { exchanges, send } = yield* begin(() => Effect.fail(cut))
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

  it("breaks it too when it stops in the middle, until the server counts as gone", async () => {
    const aborted = new NoAnswer({ kind: "connection", reason: "aborted", hasBegun: true })
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
  it("are kept in the order of their answers, with their key, and as steps of their trial", async () => {
    const { transport } = recording((_request, index) => answer(200 + index, [], `body ${index}`))
    await run(
      Effect.gen(function* () {
        const { exchanges, send } = yield* begin(transport)
        const [one, other] = [trial(), trial()]
        yield* send({ path: "/pets" }, one)
        yield* send({ path: "/pets/1", key: "tiny" }, other)
        yield* send({ path: "/pets/2", authorization: ["Bearer x"] }, one)
        expect(exchanges.map(({ index, key, response }) => [index, key, response.status])).toEqual([
          [0, "main", 200],
          [1, "tiny", 201],
          [2, "other", 202]
        ])
        expect(one.steps).toEqual([
          { did: "GET /pets", got: "200 body 0", exchange: exchanges[0] },
          { did: "GET /pets/2 (other credentials)", got: "202 body 2", exchange: exchanges[2] }
        ])
        expect(other.steps.map(({ did }) => did)).toEqual(["GET /pets/1 (tiny key)"])
      })
    )
  })

  it("are alone exactly when no other was under way", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 3 }), fc.boolean()), { minLength: 1, maxLength: 14 }),
        async (plan) => {
          /** For each request how many events lie between its start and its end. */
          const order: Array<{ readonly index: number; readonly isStart: boolean }> = []
          const open: Array<number> = []
          let started = 0
          for (const [which, isStart] of plan) {
            if (isStart || open.length === 0) {
              open.push(started)
              order.push({ index: started++, isStart: true })
            } else {
              const [index = 0] = open.splice(which % open.length, 1)
              order.push({ index, isStart: false })
            }
          }
          for (const index of open.toReversed()) order.push({ index, isStart: false })

          const gates = await run(Effect.all(Array.from({ length: started }, () => Deferred.make<void>())))
          let next = 0
          const aloneByName = await run(
            Effect.gen(function* () {
              const { exchanges, send } = yield* begin(() => {
                const gate = gates[next++]
                return Effect.as(gate === undefined ? Effect.never : Deferred.await(gate), answer(200))
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
            const openBefore = order
              .slice(0, from)
              .reduce((count, { isStart }) => count + (isStart ? 1 : -1), 0)
            expect([index, aloneByName.get(`/v1/${index}`)]).toEqual([
              index,
              openBefore === 0 && to === from + 1
            ])
          }
        }
      ),
      { numRuns: 200 }
    )
  })

  it("are alone after one that got no answer, or was given up", async () => {
    let count = 0
    await run(
      Effect.gen(function* () {
        const { exchanges, send } = yield* begin(() =>
          count++ === 0
            ? Effect.fail(new NoAnswer({ kind: "timeout", reason: "late" }))
            : count === 2
              ? Effect.never
              : Effect.succeed(answer(200))
        )
        yield* Effect.result(send({ path: "/a" }, trial()))
        const given = yield* Effect.forkChild(send({ path: "/b" }, trial()), { startImmediately: true })
        yield* Fiber.interrupt(given)
        yield* send({ path: "/c" }, trial())
        expect(exchanges.map(({ isAlone }) => isAlone)).toEqual([true])
      })
    )
  })

  it("sent at once are none alone, and none is sent twice", async () => {
    const statuses = [200, 429, 429]
    let count = 0
    await run(
      Effect.gen(function* () {
        const { exchanges, sendAtOnce } = yield* begin(() =>
          Effect.as(Effect.yieldNow, answer(statuses[count++] ?? 500, [["Retry-After", "1"]]))
        )
        const answers = yield* sendAtOnce([{ path: "/a" }, { path: "/b" }, { path: "/c" }], trial())
        expect(answers.map(({ request }) => request.target)).toEqual(["/v1/a", "/v1/b", "/v1/c"])
        expect(exchanges).toHaveLength(3)
        expect(exchanges.some(({ isAlone }) => isAlone)).toBe(false)
      })
    )
  })
})

describe("a paced request", () => {
  it("waits out 429 by the clock, as long as it is told, and says how often it asked", async () => {
    const { clock, jumps } = jumping()
    const { sent, transport } = recording((_request, index) =>
      index < 3 ? answer(429, [["Retry-After", String(index + 7)]]) : answer(200)
    )
    await timeless(
      Effect.gen(function* () {
        const { exchanges, sendPaced, waitedMs } = yield* begin(transport, { clock })
        const { response } = yield* sendPaced({ path: "/pets" }, trial())
        expect(response.status).toBe(200)
        expect(sent).toHaveLength(4)
        expect(jumps).toEqual([7_000, 8_000, 9_000])
        expect(exchanges.map(({ sentAt }) => sentAt - NOON)).toEqual([0, 7_000, 15_000, 24_000])
        // Time that was moved was not waited for.
        expect(waitedMs()).toBe(0)
      })
    )
  })

  it("follows a Retry-After that is a date", async () => {
    const { clock, jumps } = jumping()
    const { transport } = recording((_request, index) =>
      index === 0 ? answer(429, [["Retry-After", new Date(NOON + 42 * SECOND).toUTCString()]]) : answer(200)
    )
    await timeless(
      Effect.gen(function* () {
        const { sendPaced } = yield* begin(transport, { clock })
        yield* sendPaced({ path: "/pets" }, trial())
        expect(jumps).toEqual([42_000])
      })
    )
  })

  it("is a violation when it is denied again after five waits", async () => {
    const { clock, jumps } = jumping()
    const { sent, transport } = recording(() => answer(429, [["Retry-After", "3"]]))
    await timeless(
      Effect.gen(function* () {
        const { sendPaced } = yield* begin(transport, { clock })
        const failure = yield* Effect.flip(sendPaced({ path: "/pets" }, trial()))
        expect(failure).toMatchObject({
          _tag: "Violation",
          expected: "the main key to be admitted after the time given in Retry-After",
          actual: "429 6 times in a row, each time after waiting as told"
        })
        expect(sent).toHaveLength(6)
        expect(jumps).toEqual([3_000, 3_000, 3_000, 3_000, 3_000])
      })
    )
  })

  it("is a violation when a 429 does not tell how long to wait, and says that", async () => {
    const { clock } = jumping()
    for (const headers of [
      [],
      [["Retry-After", "soon"]],
      [
        ["Retry-After", "1"],
        ["Retry-After", "2"]
      ]
    ]) {
      const { sent, transport } = recording(() =>
        answer(
          429,
          headers.map(([name = "", value = ""]) => [name, value] as const)
        )
      )
      await timeless(
        Effect.gen(function* () {
          const { sendPaced } = yield* begin(transport, { clock })
          const failure = yield* Effect.flip(sendPaced({ path: "/pets" }, trial()))
          expect(failure._tag).toBe("Violation")
          expect(sent).toHaveLength(1)
          // Nobody waited as told: nothing was told.
          expect(failure.message).not.toContain("waiting as told")
          expect(failure.message).toContain("Retry-After")
        })
      )
    }
  })

  it("waits for the window when by its headers nothing is left", async () => {
    const { clock, jumps, now } = jumping()
    const { transport } = recording((_request, index) =>
      answer(200, rate(10, index === 0 ? 0 : 9, NOON / SECOND + 30))
    )
    await timeless(
      Effect.gen(function* () {
        const { sendPaced } = yield* begin(transport, { clock })
        yield* sendPaced({ path: "/pets" }, trial())
        expect(jumps).toEqual([])
        yield* sendPaced({ path: "/pets" }, trial())
        expect(now()).toBeGreaterThan(NOON + 30 * SECOND)
        expect(jumps).toHaveLength(1)
        yield* sendPaced({ path: "/pets" }, trial())
        expect(jumps).toHaveLength(1)
      })
    )
  })

  it("does not go by the headers of other keys", async () => {
    const { clock, jumps } = jumping()
    const { transport } = recording((request) =>
      headerValues(request, "authorization")[0] === "Bearer main-secret"
        ? answer(200, rate(10, 9, NOON / SECOND))
        : answer(429, [...rate(1, 0, NOON / SECOND + 900), ["Retry-After", "900"]])
    )
    await timeless(
      Effect.gen(function* () {
        const { send, sendPaced } = yield* begin(transport, { clock })
        yield* sendPaced({ path: "/pets" }, trial())
        yield* send({ path: "/pets", key: "tiny" }, trial())
        yield* send({ path: "/pets", authorization: ["Bearer x"] }, trial())
        yield* sendPaced({ path: "/pets" }, trial())
        expect(jumps).toEqual([])
      })
    )
  })
})

describe("a reservation", () => {
  it("waits until so many are left, and is undecided when the plan never has them", async () => {
    const { clock, now } = jumping()
    const { transport } = recording(() => answer(200, rate(10, 4, NOON / SECOND + 60)))
    await timeless(
      Effect.gen(function* () {
        const { reserve, send } = yield* begin(transport, { clock })
        yield* reserve(10_000)
        yield* send({ path: "/pets" }, trial())
        yield* reserve(4)
        expect(now()).toBe(NOON)
        expect(yield* Effect.flip(reserve(11))).toMatchObject({
          _tag: "Undecided",
          reason: "it sends 11 requests at once, more than the 10 of the main key's plan"
        })
        expect(now()).toBe(NOON)
        yield* reserve(5)
        expect(now()).toBeGreaterThanOrEqual(NOON + 60 * SECOND)
      })
    )
  })
})

describe("the budget", () => {
  it("of requests ends in undecided, never in a request more, however they are sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 8 }), fc.integer({ min: 1, max: 8 }), async (requests, atOnce) => {
        const { sent, transport } = recording(() => answer(200))
        await timeless(
          Effect.gen(function* () {
            const { send, sendAtOnce, sendPaced } = yield* begin(transport, {
              budget: { requests, milliseconds: 1_000 }
            })
            for (let round = 0; round < 10; round++) {
              yield* Effect.result(
                sendAtOnce(
                  Array.from({ length: atOnce }, () => ({ path: "/" })),
                  trial()
                )
              )
            }
            for (const last of [send, sendPaced]) {
              expect(yield* Effect.flip(last({ path: "/" }, trial()))).toMatchObject({
                _tag: "Undecided",
                reason: `the budget of requests is spent: ${requests}`
              })
            }
            expect(sent).toHaveLength(requests)
          })
        )
      }),
      { numRuns: 40 }
    )
  })

  it("counts requests without an answer too", async () => {
    await timeless(
      Effect.gen(function* () {
        const { send } = yield* begin(
          () => Effect.fail(new NoAnswer({ kind: "connection", reason: "refused" })),
          { budget: { requests: 1, milliseconds: 1_000 } }
        )
        expect((yield* Effect.flip(send({ path: "/" }, trial())))._tag).toBe("Violation")
        expect((yield* Effect.flip(send({ path: "/" }, trial())))._tag).toBe("Undecided")
      })
    )
  })

  it("of time interrupts a request that takes longer, and a clock that does not answer", async () => {
    let isInterrupted = false
    await timeless(
      Effect.gen(function* () {
        let readings = 0
        const now = Effect.suspend(() => (readings++ === 0 ? Effect.succeed(NOON) : Effect.never))
        const silent: Transport = () =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.sync(() => {
              isInterrupted = true
            })
          )
        const conversation = yield* begin(silent, {
          budget: { requests: 10, milliseconds: 5_000 },
          clock: { now, advance: () => now }
        })
        const sending = yield* Effect.forkChild(Effect.flip(conversation.send({ path: "/" }, trial())), {
          startImmediately: true
        })
        const reading = yield* Effect.forkChild(Effect.flip(conversation.now), { startImmediately: true })
        yield* TestClock.adjust(5_000)
        const failures = [yield* Fiber.join(sending), yield* Fiber.join(reading)]
        for (const failure of [...failures, yield* Effect.flip(conversation.pass(1))]) {
          expect(failure).toMatchObject({ _tag: "Undecided", reason: "the time budget is spent" })
        }
      })
    )
    expect(isInterrupted).toBe(true)
  })

  it("of time ends in undecided, by this machine's time", async () => {
    const { clock } = jumping()
    const { sent, transport } = recording(() => answer(200))
    await timeless(
      Effect.gen(function* () {
        const { pass, send, timeLeft } = yield* begin(transport, {
          clock,
          budget: { requests: 9, milliseconds: 5_000 }
        })
        yield* pass(86_400_000)
        expect(yield* timeLeft).toBe(5_000)
        yield* send({ path: "/" }, trial())
        yield* TestClock.adjust(4_999)
        yield* send({ path: "/" }, trial())
        yield* TestClock.adjust(1)
        expect(yield* Effect.flip(send({ path: "/" }, trial()))).toMatchObject({
          _tag: "Undecided",
          reason: "the time budget is spent"
        })
        expect(sent).toHaveLength(2)
      })
    )
  })
})

describe("the subject's time", () => {
  it("is its clock's, where there is one, and stays so when it is moved by others", async () => {
    const { clock } = jumping(5_000)
    const { transport } = recording(() => answer(200, [["Date", new Date(NOON).toUTCString()]]))
    await timeless(
      Effect.gen(function* () {
        const { hasClock, now, pass, send } = yield* begin(transport, { clock })
        expect(hasClock).toBe(true)
        expect((yield* send({ path: "/" }, trial())).sentAt).toBe(5_000)
        yield* clock.advance(1_000)
        expect(yield* now).toBe(6_000)
        yield* pass(250.4)
        expect(yield* now).toBe(6_251)
        expect((yield* send({ path: "/" }, trial())).receivedAt).toBe(6_251)
        yield* TestClock.adjust(10)
        // Between readings it goes on as this machine's does.
        expect((yield* send({ path: "/" }, trial())).sentAt).toBe(6_261)
      })
    )
  })

  it("is by its Date without one, from the first exchange on", async () => {
    const { transport } = recording(() => answer(200, [["Date", new Date(NOON).toUTCString()]]))
    await timeless(
      Effect.gen(function* () {
        const { hasClock, now, send } = yield* begin(transport)
        expect(hasClock).toBe(false)
        const first = yield* send({ path: "/" }, trial())
        expect(Math.abs((yield* now) - NOON)).toBeLessThanOrEqual(1_000)
        expect(Math.abs(first.receivedAt - NOON)).toBeLessThanOrEqual(1_000)
        expect(Math.abs(first.sentAt - NOON)).toBeLessThanOrEqual(1_000)
        yield* TestClock.adjust(60_000)
        expect(Math.abs((yield* now) - NOON - 60_000)).toBeLessThanOrEqual(1_000)
      })
    )
  })

  it("is taken for this machine's where the two differ by no more than Date can tell, or there is none", async () => {
    for (const headers of [
      [["Date", new Date(NOON).toUTCString()]],
      [["Date", "yesterday"]],
      [
        ["Date", new Date(0).toUTCString()],
        ["Date", new Date(0).toUTCString()]
      ],
      []
    ] as const) {
      const { transport } = recording(() => answer(200, headers))
      await timeless(
        Effect.gen(function* () {
          yield* TestClock.setTime(NOON + 600)
          const { now, send } = yield* begin(transport)
          yield* send({ path: "/" }, trial())
          expect(yield* now).toBe(NOON + 600)
        })
      )
    }
  })

  it("cannot begin, or go on, with a clock that does not answer", async () => {
    const dead = Effect.fail(new NoAnswer({ kind: "connection", reason: "connection refused" }))
    const { transport } = recording(() => answer(200))
    const expected = {
      _tag: "Violation",
      expected: "the declared clock to work",
      actual: "connection refused"
    }
    await timeless(
      Effect.gen(function* () {
        const failure = yield* Effect.flip(begin(transport, { clock: { now: dead, advance: () => dead } }))
        expect(failure).toMatchObject(expected)
        const { pass } = yield* begin(transport, {
          clock: { now: Effect.succeed(0), advance: () => dead }
        })
        expect(yield* Effect.flip(pass(1))).toMatchObject(expected)
        yield* pass(0)
        yield* pass(-5)
      })
    )
  })
})

describe("waiting without a clock", () => {
  it("is undecided when it would take more than a minute, and says what would help", async () => {
    const { transport } = recording(() => answer(200))
    await timeless(
      Effect.gen(function* () {
        const { pass, waitedMs } = yield* begin(transport)
        expect(yield* Effect.flip(pass(86_400_000))).toMatchObject({
          _tag: "Undecided",
          reason:
            "it takes 86400 s of waiting, more than the 65 s that a run waits; a clock (--clock) makes it possible"
        })
        expect((yield* Effect.flip(pass(65_001)))._tag).toBe("Undecided")
        expect(waitedMs()).toBe(0)
      })
    )
  })

  it("is undecided when it would take more than is left of the run", async () => {
    const { transport } = recording(() => answer(200))
    await timeless(
      Effect.gen(function* () {
        const { pass } = yield* begin(transport, { budget: { requests: 9, milliseconds: 10_000 } })
        expect(yield* Effect.flip(pass(10_001))).toMatchObject({
          reason: "it takes 11 s of waiting, more than the time budget; a clock (--clock) makes it possible"
        })
      })
    )
  })

  it("takes the time it says, not less", async () => {
    const { transport } = recording(() => answer(200))
    await timeless(
      Effect.gen(function* () {
        const { pass, waitedMs } = yield* begin(transport)
        const waiting = yield* Effect.forkChild(pass(65_000), { startImmediately: true })
        yield* TestClock.adjust(64_999)
        expect(waiting.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust(1)
        yield* Fiber.join(waiting)
        expect(waitedMs()).toBe(65_000)
      })
    )
  })

  it("really waits out a 429", async () => {
    const { transport } = recording((_request, index) =>
      index === 0 ? answer(429, [["Retry-After", "1"]]) : answer(200)
    )
    await timeless(
      Effect.gen(function* () {
        const { sendPaced, waitedMs } = yield* begin(transport)
        const asking = yield* Effect.forkChild(sendPaced({ path: "/" }, trial()), { startImmediately: true })
        yield* TestClock.adjust(999)
        expect(asking.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust(1_000)
        expect((yield* Fiber.join(asking)).response.status).toBe(200)
        expect(waitedMs()).toBeGreaterThanOrEqual(1_000)
      })
    )
  })

  it("goes by real time outside of tests", async () => {
    const { transport } = recording(() => answer(200))
    const began = performance.now()
    await run(Effect.flatMap(begin(transport), ({ pass }) => pass(60)))
    expect(performance.now() - began).toBeGreaterThanOrEqual(55)
  })
})

describe("the steps of a trial", () => {
  it("never hold the secret of a key, whatever is sent", async () => {
    const secret = fc.string({ unit: fc.constantFrom(..."abcXYZ0189._~-"), minLength: 12, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(
        secret,
        secret,
        fc.constantFrom("main", "tiny", "none", "revoked"),
        fc.option(fc.string(), { nil: undefined }),
        async (main, tiny, key, json) => {
          fc.pre(!(json ?? "").includes(main) && !(json ?? "").includes(tiny))
          const own = trial()
          const { transport } = recording(() => answer(401, rate(1, 0, 2), "no"))
          await run(
            Effect.gen(function* () {
              const { send } = yield* begin(transport, { secrets: { main, tiny, revoked: `${tiny}-old` } })
              const method = "POST"
              yield* send({ method, path: "/pets", key, ...(json === undefined ? {} : { json }) }, own)
              yield* send({ path: "/pets", authorization: [`Bearer ${main}`, `Basic ${tiny}`] }, own)
              yield* send({ path: "/pets", headers: [["X-Api-Key", main]] }, own)
            })
          )
          const told = own.steps.map(({ did, got }) => `${did} ${got}`).join("\n")
          expect(told).not.toContain(main)
          expect(told).not.toContain(tiny)
        }
      )
    )
  })

  it("tell requests and answers shortly", () => {
    const long = "xy ".repeat(200)
    expect(Conversation.describe({ path: `/${long}` }).length).toBeLessThan(180)
    expect(Conversation.describe({ path: "/", method: "POST", body: long })).toBe(
      `POST / ${"xy ".repeat(53)}… (600)`
    )
    expect(Conversation.describe({ path: "/", body: new Uint8Array([0x68, 0x69]) })).toBe("GET / hi")
    expect(Conversation.outcome(answer(200, [], long))).toBe(`200 ${"xy ".repeat(66)}… (600)`)
    // Nothing that is half a key.
    expect(Conversation.outcome(answer(200, [], `${"x".repeat(190)} ${"k".repeat(40)}`))).toBe(
      `200 ${"x".repeat(190)} … (231)`
    )
    expect(Conversation.outcome(answer(429, [...rate(5, 0, 9), ["retry-after", "7"]], "{}"))).toBe(
      "429, remaining 0, Retry-After 7 {}"
    )
    expect(Conversation.outcome(answer(204))).toBe("204")
    expect(text(undefined)).toBe("")
  })
})
