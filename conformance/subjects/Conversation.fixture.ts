/** Creates conversations for tests. */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Trial from "../evaluation/Trial.ts"
import type { ServerClock } from "../http/ServerClock.ts"
import type { Transport } from "../http/Wire.ts"
import * as Conversation from "./Conversation.ts"

export const NOON = Date.UTC(2027, 0, 1, 12)

export const SECOND = 1_000

/** Creates a clock that moves only when it is advanced, and records each advance in `jumps`. */
export const manualClock = (start = NOON) => {
  const jumps: Array<number> = []
  let now = start
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

export const begin = (transport: Transport, options: Partial<Conversation.ConversationOptions> = {}) =>
  Conversation.make({
    transport,
    basePath: "/v1",
    secrets: { main: "main-secret", tiny: "tiny-secret" },
    clock: undefined,
    budget: { requests: 1_000, milliseconds: 600_000 },
    ...options
  })

export const run = Effect.runPromise

/** Runs an effect with a test clock, which moves only when it is adjusted. */
export const runWithTestClock = <A, E>(effect: Effect.Effect<A, E>) =>
  run(Effect.provide(effect, TestClock.layer()))

export const trial = () => Trial.make("t")
