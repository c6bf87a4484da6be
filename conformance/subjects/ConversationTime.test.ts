import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, it } from "vitest"
import { NoResponse } from "../http/Wire.ts"
import { recording, wireResponse } from "../http/Wires.fixture.ts"
import { begin, manualClock, NOON, run, runWithTestClock, trial } from "./Conversation.fixture.ts"

describe("the subject's time", () => {
  it("is the time of the subject's clock if there is one, even if another program moves the clock", async () => {
    const { clock } = manualClock(5_000)
    const { transport } = recording(() => wireResponse(200, [["Date", new Date(NOON).toUTCString()]]))
    await runWithTestClock(
      Effect.gen(function* () {
        const { advance, hasClock, now, send } = yield* begin(transport, { clock })
        expect(hasClock).toBe(true)
        expect((yield* send({ path: "/" }, trial())).sentAt).toBe(5_000)
        yield* clock.advance(1_000)
        expect(yield* now).toBe(6_000)
        yield* advance(250.4)
        expect(yield* now).toBe(6_251)
        expect((yield* send({ path: "/" }, trial())).receivedAt).toBe(6_251)
        yield* TestClock.adjust(10)
        // Between readings it advances like this machine's time.
        expect((yield* send({ path: "/" }, trial())).sentAt).toBe(6_261)
      })
    )
  })

  it("comes from the Date of the first response if there is no clock", async () => {
    const { transport } = recording(() => wireResponse(200, [["Date", new Date(NOON).toUTCString()]]))
    await runWithTestClock(
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

  it("is this machine's time if Date is not valid or differs by no more than its precision", async () => {
    for (const headers of [
      [["Date", new Date(NOON).toUTCString()]],
      [["Date", "yesterday"]],
      [
        ["Date", new Date(0).toUTCString()],
        ["Date", new Date(0).toUTCString()]
      ],
      []
    ] as const) {
      const { transport } = recording(() => wireResponse(200, headers))
      await runWithTestClock(
        Effect.gen(function* () {
          yield* TestClock.setTime(NOON + 600)
          const { now, send } = yield* begin(transport)
          yield* send({ path: "/" }, trial())
          expect(yield* now).toBe(NOON + 600)
        })
      )
    }
  })

  it("causes a violation if the clock does not respond, at the beginning or later", async () => {
    const dead = Effect.fail(new NoResponse({ kind: "connection", reason: "connection refused" }))
    const { transport } = recording(() => wireResponse(200))
    const expected = {
      _tag: "Violation",
      expected: "the declared clock to work",
      actual: "connection refused"
    }
    await runWithTestClock(
      Effect.gen(function* () {
        const failure = yield* Effect.flip(begin(transport, { clock: { now: dead, advance: () => dead } }))
        expect(failure).toMatchObject(expected)
        const { advance } = yield* begin(transport, {
          clock: { now: Effect.succeed(0), advance: () => dead }
        })
        expect(yield* Effect.flip(advance(1))).toMatchObject(expected)
        yield* advance(0)
        yield* advance(-5)
      })
    )
  })
})

describe("waiting without a clock", () => {
  it("is undecided if it would take more than 65 s, and the reason suggests a clock", async () => {
    const { transport } = recording(() => wireResponse(200))
    await runWithTestClock(
      Effect.gen(function* () {
        const { advance, waitedMs } = yield* begin(transport)
        expect(yield* Effect.flip(advance(86_400_000))).toMatchObject({
          _tag: "Undecided",
          reason:
            "it needs a wait of 86400 s, more than the 65 s that a run waits; a clock (--clock) makes it possible"
        })
        expect((yield* Effect.flip(advance(65_001)))._tag).toBe("Undecided")
        expect(waitedMs()).toBe(0)
      })
    )
  })

  it("is undecided if it would take longer than the rest of the time budget", async () => {
    const { transport } = recording(() => wireResponse(200))
    await runWithTestClock(
      Effect.gen(function* () {
        const { advance } = yield* begin(transport, { budget: { requests: 9, milliseconds: 10_000 } })
        expect(yield* Effect.flip(advance(10_001))).toMatchObject({
          reason: "it needs a wait of 11 s, more than the time budget; a clock (--clock) makes it possible"
        })
      })
    )
  })

  it("takes the given time, and is added to the waiting time of the run", async () => {
    const { transport } = recording(() => wireResponse(200))
    await runWithTestClock(
      Effect.gen(function* () {
        const { advance, waitedMs } = yield* begin(transport)
        const waiting = yield* Effect.forkChild(advance(65_000), { startImmediately: true })
        yield* TestClock.adjust(64_999)
        expect(waiting.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust(1)
        yield* Fiber.join(waiting)
        expect(waitedMs()).toBe(65_000)
      })
    )
  })

  it("takes the time in Retry-After after a 429", async () => {
    const { transport } = recording((_request, index) =>
      index === 0 ? wireResponse(429, [["Retry-After", "1"]]) : wireResponse(200)
    )
    await runWithTestClock(
      Effect.gen(function* () {
        const { sendPaced, waitedMs } = yield* begin(transport)
        const sending = yield* Effect.forkChild(sendPaced({ path: "/" }, trial()), { startImmediately: true })
        yield* TestClock.adjust(999)
        expect(sending.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust(1_000)
        expect((yield* Fiber.join(sending)).response.status).toBe(200)
        expect(waitedMs()).toBeGreaterThanOrEqual(1_000)
      })
    )
  })

  it("takes real time without a test clock", async () => {
    const { transport } = recording(() => wireResponse(200))
    const began = performance.now()
    await run(Effect.flatMap(begin(transport), ({ advance }) => advance(60)))
    expect(performance.now() - began).toBeGreaterThanOrEqual(55)
  })
})
