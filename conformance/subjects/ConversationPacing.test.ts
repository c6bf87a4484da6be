import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { headerValues, NoResponse, type Transport } from "../http/Wire.ts"
import { rate, recording, wireResponse } from "../http/Wires.fixture.ts"
import { begin, manualClock, NOON, runWithTestClock, SECOND, trial } from "./Conversation.fixture.ts"

describe("Conversation.sendPaced", () => {
  it("moves the clock by Retry-After of each 429, and records every attempt", async () => {
    const { clock, jumps } = manualClock()
    const { sent, transport } = recording((_request, index) =>
      index < 3 ? wireResponse(429, [["Retry-After", String(index + 7)]]) : wireResponse(200)
    )
    await runWithTestClock(
      Effect.gen(function* () {
        const { exchanges, sendPaced, waitedMs } = yield* begin(transport, { clock })
        const { response } = yield* sendPaced({ path: "/pets" }, trial())
        expect(response.status).toBe(200)
        expect(sent).toHaveLength(4)
        expect(jumps).toEqual([7_000, 8_000, 9_000])
        expect(exchanges.map(({ sentAt }) => sentAt - NOON)).toEqual([0, 7_000, 15_000, 24_000])
        // Moving the clock does not count as waiting.
        expect(waitedMs()).toBe(0)
      })
    )
  })

  it("moves the clock to the time in Retry-After if Retry-After is a date", async () => {
    const { clock, jumps } = manualClock()
    const { transport } = recording((_request, index) =>
      index === 0
        ? wireResponse(429, [["Retry-After", new Date(NOON + 42 * SECOND).toUTCString()]])
        : wireResponse(200)
    )
    await runWithTestClock(
      Effect.gen(function* () {
        const { sendPaced } = yield* begin(transport, { clock })
        yield* sendPaced({ path: "/pets" }, trial())
        expect(jumps).toEqual([42_000])
      })
    )
  })

  it("fails with a violation if the request is denied again after five waits", async () => {
    const { clock, jumps } = manualClock()
    const { sent, transport } = recording(() => wireResponse(429, [["Retry-After", "3"]]))
    await runWithTestClock(
      Effect.gen(function* () {
        const { sendPaced } = yield* begin(transport, { clock })
        const failure = yield* Effect.flip(sendPaced({ path: "/pets" }, trial()))
        expect(failure).toMatchObject({
          _tag: "Violation",
          expected: "the main key to be admitted after the time given in Retry-After",
          actual: "429 6 times in a row, each time after waiting for Retry-After"
        })
        expect(sent).toHaveLength(6)
        expect(jumps).toEqual([3_000, 3_000, 3_000, 3_000, 3_000])
      })
    )
  })

  it("fails with a violation that mentions Retry-After if a 429 has no valid Retry-After", async () => {
    const { clock } = manualClock()
    for (const headers of [
      [],
      [["Retry-After", "soon"]],
      [
        ["Retry-After", "1"],
        ["Retry-After", "2"]
      ]
    ]) {
      const { sent, transport } = recording(() =>
        wireResponse(
          429,
          headers.map(([name = "", value = ""]) => [name, value] as const)
        )
      )
      await runWithTestClock(
        Effect.gen(function* () {
          const { sendPaced } = yield* begin(transport, { clock })
          const failure = yield* Effect.flip(sendPaced({ path: "/pets" }, trial()))
          expect(failure._tag).toBe("Violation")
          expect(sent).toHaveLength(1)
          // There was no Retry-After to wait for.
          expect(failure.message).not.toContain("waiting for Retry-After")
          expect(failure.message).toContain("Retry-After")
        })
      )
    }
  })

  it("waits until the window is reset if the headers show that no request is left", async () => {
    const { clock, jumps, now } = manualClock()
    const { transport } = recording((_request, index) =>
      wireResponse(200, rate(10, index === 0 ? 0 : 9, NOON / SECOND + 30))
    )
    await runWithTestClock(
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

  it("ignores the headers of other keys", async () => {
    const { clock, jumps } = manualClock()
    const { transport } = recording((request) =>
      headerValues(request, "authorization")[0] === "Bearer main-secret"
        ? wireResponse(200, rate(10, 9, NOON / SECOND))
        : wireResponse(429, [...rate(1, 0, NOON / SECOND + 900), ["Retry-After", "900"]])
    )
    await runWithTestClock(
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

describe("Conversation.reserve", () => {
  it("waits until enough requests are left; fails with Undecided if the plan allows fewer", async () => {
    const { clock, now } = manualClock()
    const { transport } = recording(() => wireResponse(200, rate(10, 4, NOON / SECOND + 60)))
    await runWithTestClock(
      Effect.gen(function* () {
        const { reserve, send } = yield* begin(transport, { clock })
        yield* reserve(10_000)
        yield* send({ path: "/pets" }, trial())
        yield* reserve(4)
        expect(now()).toBe(NOON)
        expect(yield* Effect.flip(reserve(11))).toMatchObject({
          _tag: "Undecided",
          reason: "it sends 11 requests concurrently, more than the main key's limit of 10"
        })
        expect(now()).toBe(NOON)
        yield* reserve(5)
        expect(now()).toBeGreaterThanOrEqual(NOON + 60 * SECOND)
      })
    )
  })
})

describe("the budget", () => {
  it("limits the number of requests, however they are sent; further requests are undecided", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 8 }),
        fc.integer({ min: 1, max: 8 }),
        async (requests, concurrentRequests) => {
          const { sent, transport } = recording(() => wireResponse(200))
          await runWithTestClock(
            Effect.gen(function* () {
              const { send, sendConcurrently, sendPaced } = yield* begin(transport, {
                budget: { requests, milliseconds: 1_000 }
              })
              for (let round = 0; round < 10; round++) {
                yield* Effect.result(
                  sendConcurrently(
                    Array.from({ length: concurrentRequests }, () => ({ path: "/" })),
                    trial()
                  )
                )
              }
              for (const sendAgain of [send, sendPaced]) {
                expect(yield* Effect.flip(sendAgain({ path: "/" }, trial()))).toMatchObject({
                  _tag: "Undecided",
                  reason: `the request budget is spent: ${requests}`
                })
              }
              expect(sent).toHaveLength(requests)
            })
          )
        }
      ),
      { numRuns: 40 }
    )
  })

  it("also counts requests without a response", async () => {
    await runWithTestClock(
      Effect.gen(function* () {
        const { send } = yield* begin(
          () => Effect.fail(new NoResponse({ kind: "connection", reason: "refused" })),
          { budget: { requests: 1, milliseconds: 1_000 } }
        )
        expect((yield* Effect.flip(send({ path: "/" }, trial())))._tag).toBe("Violation")
        expect((yield* Effect.flip(send({ path: "/" }, trial())))._tag).toBe("Undecided")
      })
    )
  })

  it("interrupts a request and a reading of the clock when the time is spent", async () => {
    let isInterrupted = false
    await runWithTestClock(
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
        for (const failure of [...failures, yield* Effect.flip(conversation.advance(1))]) {
          expect(failure).toMatchObject({ _tag: "Undecided", reason: "the time budget is spent" })
        }
      })
    )
    expect(isInterrupted).toBe(true)
  })

  it("measures time by this machine's clock, and makes requests undecided when the time is spent", async () => {
    const { clock } = manualClock()
    const { sent, transport } = recording(() => wireResponse(200))
    await runWithTestClock(
      Effect.gen(function* () {
        const { advance, send, timeLeft } = yield* begin(transport, {
          clock,
          budget: { requests: 9, milliseconds: 5_000 }
        })
        yield* advance(86_400_000)
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
