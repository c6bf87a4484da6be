import { EventEmitter } from "node:events"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { Host } from "./Host.ts"
import * as StopSignal from "./StopSignal.ts"

const observe = (signals: EventEmitter) =>
  Effect.flatMap(Host, (host) => Effect.provideService(StopSignal.observe, Host, { ...host, signals }))

describe("StopSignal.observe", () => {
  it.effect("ends the drain period at the second SIGTERM, except at a duplicate within half a second", () =>
    Effect.gen(function* () {
      const signals = new EventEmitter()
      const drain = yield* observe(signals)
      const ended = yield* Effect.forkChild(drain.ended)
      yield* TestClock.adjust("499 millis")
      signals.emit("SIGTERM")
      yield* TestClock.adjust("1 millis")
      expect(ended.pollUnsafe()).toBeUndefined()
      signals.emit("SIGTERM")
      yield* Fiber.join(ended)
      expect(drain.isSkipped()).toBe(false)
    })
  )

  it.effect("ends the drain period at SIGINT, whether it is the first signal or follows SIGTERM", () =>
    Effect.gen(function* () {
      for (const isFirst of [true, false]) {
        const signals = new EventEmitter()
        let wasSkipped: boolean | undefined
        // Stands for the listener of `runMain`, which is older, but runs later.
        signals.on("SIGINT", () => {
          wasSkipped = drain.isSkipped()
        })
        const drain = yield* observe(signals)
        const ended = isFirst ? undefined : yield* Effect.forkChild(drain.ended)
        yield* Effect.yieldNow
        signals.emit("SIGINT")
        expect(wasSkipped).toBe(true)
        yield* ended === undefined ? drain.ended : Fiber.join(ended)
      }
    })
  )
})
