/** Makes faulty stores of rate limits, which store the wrong state or do not store it atomically. */
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import type { RateLimitStore, Step } from "../../../core/ports/RateLimitStore.ts"
import type { Where } from "../Fault.ts"
import * as AtPort from "./AtPort.ts"

type Limits = RateLimitStore["Service"]

/** Replaces `modify`. */
export const replacingModify = (
  modify: <A>(key: string, step: Step<A>, real: Limits) => Effect.Effect<A, StoreUnavailable>
): Where => AtPort.limits((real) => ({ modify: (key, step) => modify(key, step, real) }))

/** Changes fields of a state before it is stored. */
export const changingStored = (change: (state: RateLimit.State) => Partial<RateLimit.State>): Where =>
  replacingModify((key, step, real) =>
    real.modify(key, (before) => {
      const [result, after] = step(before)
      return [result, { ...after, ...change(after) }]
    })
  )

/** Changes the key under which a state is read and stored. */
export const changingKeys = (change: (key: string) => string): Where =>
  replacingModify((key, step, real) => real.modify(change(key), step))

/** Modifies states without a lock: reads a state, and writes it after a pause. */
export const readThenWrite = (pause: Effect.Effect<void>): Where =>
  AtPort.limits(() => {
    const states = new Map<string, RateLimit.State>()
    return {
      modify: <A>(key: string, step: Step<A>) =>
        Effect.gen(function* () {
          const before = states.get(key)
          yield* pause
          const [result, after] = step(before)
          yield* Effect.sync(() => states.set(key, after))
          return result
        })
    }
  })

/** Handles the defect of `modify` when its step throws. */
export const onThrowingStep = (
  handle: (real: Limits, key: string, defect: unknown) => Effect.Effect<never, StoreUnavailable>
): Where =>
  replacingModify((key, step, real) =>
    Effect.catchDefect(real.modify(key, step), (defect) => handle(real, key, defect))
  )

/** Implements `consume` with another step. */
export const consumingWith = (step: typeof RateLimit.step): Where =>
  AtPort.limits((real) => ({
    modify: real.modify,
    consume: (key, now, policy) => real.modify(key, (state) => step(state, now, policy))
  }))

export const blank: RateLimit.State = RateLimit.initial(0, { perMinute: 1, perDay: 1 })
