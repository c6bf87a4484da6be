import { EventEmitter } from "node:events"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { Host } from "./Host.ts"
import * as StopSignal from "./StopSignal.ts"

it.effect.each(["SIGINT", "SIGTERM"] as const)(
  "StopSignal.second ignores %s as a duplicate for a second after the first signal",
  (signal) =>
    Effect.gen(function* () {
      const signals = new EventEmitter()
      const second = yield* StopSignal.second.pipe(
        Effect.provideService(Host, { ...(yield* Host), signals }),
        Effect.forkChild
      )
      yield* TestClock.adjust("999 millis")
      signals.emit(signal)
      yield* TestClock.adjust("1 millis")
      expect(second.pollUnsafe()).toBeUndefined()
      signals.emit(signal)
      yield* Fiber.join(second)
    })
)
