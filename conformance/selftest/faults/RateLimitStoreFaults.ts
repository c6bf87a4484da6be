/** Faulty stores of rate limits, at least one for each law of the port. */
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import type { RateLimitStore, Step } from "../../../core/ports/RateLimitStore.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"

const blank = RateLimit.initial(0, { perMinute: 1, perDay: 1 })

const replacingModify = (
  modify: <A>(
    key: string,
    step: Step<A>,
    real: RateLimitStore["Service"]
  ) => Effect.Effect<A, StoreUnavailable>
): Where => AtPort.limits((real) => ({ modify: (key, step) => modify(key, step, real) }))

/** Changes fields of a state before it is stored. */
const changingStored = (change: (state: RateLimit.State) => Partial<RateLimit.State>): Where =>
  replacingModify((key, step, real) =>
    real.modify(key, (before) => {
      const [result, after] = step(before)
      return [result, { ...after, ...change(after) }]
    })
  )

/** Changes the key under which a state is read and stored. */
const changingKeys = (change: (key: string) => string): Where =>
  replacingModify((key, step, real) => real.modify(change(key), step))

/** Modifies states without a lock: reads a state, and writes it after a pause. */
const readThenWrite = (pause: Effect.Effect<void>): Where =>
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

/** Implements `consume` with another step. */
const consumingWith = (step: typeof RateLimit.step): Where =>
  AtPort.limits((real) => ({
    modify: real.modify,
    consume: (key, now, policy) => real.modify(key, (state) => step(state, now, policy))
  }))

export const faults: ReadonlyArray<Fault> = [
  fault("limits-store.blank-at-first", "Passes a blank state to the first step on a key.")
    .breaks("limits-store.modify.initial")
    .by(replacingModify((key, step, real) => real.modify(key, (state = blank) => step(state)))),
  fault("limits-store.field-not-stored", "Does not store when the strikes began.")
    .breaks("limits-store.modify.stored")
    .by(changingStored(() => ({ strikesFrom: 0 }))),
  fault("limits-store.32-bits", "Truncates the day's number of requests to 32 bits.")
    .breaks("limits-store.modify.stored")
    .by(changingStored(({ used }) => ({ used: used | 0 }))),
  fault("limits-store.result-as-json", "Converts the result of a step to JSON and back.")
    .breaks("limits-store.modify.answer")
    .by(
      replacingModify((key, step, real) =>
        Effect.map(real.modify(key, step), (result) =>
          typeof result === "object" ? JSON.parse(JSON.stringify(result)) : result
        )
      )
    ),
  fault("limits-store.keys-case", "Ignores the letter case of rate-limit keys.")
    .breaks("limits-store.modify.keys-apart")
    .by(changingKeys((key) => key.toLowerCase())),
  fault("limits-store.keys-cut", "Compares only the first 64 characters of keys.")
    .breaks("limits-store.modify.keys-apart")
    .by(changingKeys((key) => key.slice(0, 64))),
  fault("limits-store.raced", "Reads a state, yields, and writes the next, so that one of two calls is lost.")
    .breaks("limits-store.modify.atomic")
    .by(readThenWrite(Effect.yieldNow)),
  fault("limits-store.raced-closely", "Reads a state and writes the next in a second step, without yielding.")
    .breaks("limits-store.modify.atomic")
    .by(readThenWrite(Effect.void)),
  fault("limits-store.throwing-step-resets", "Stores a blank state when a step throws.")
    .breaks("limits-store.modify.throwing-step")
    .by(
      replacingModify((key, step, real) =>
        Effect.catchDefect(real.modify(key, step), (defect) =>
          Effect.andThen(
            real.modify(key, () => [undefined, blank]),
            Effect.die(defect)
          )
        )
      )
    ),
  fault("limits-store.interrupted-locked", "Does not release its lock when `modify` is interrupted.")
    .breaks("limits-store.interruption")
    .by(
      AtPort.limits((real) => {
        const guarded = AtPort.leakyLock()
        return { modify: (key, step) => guarded(real.modify(key, step)) }
      })
    ),
  fault("limits-store.consume-denied-costs", "Counts denied requests for the day.")
    .breaks("limits-store.consume.equal")
    .by(
      consumingWith((state, now, policy) => {
        const [verdict, after] = RateLimit.step(state, now, policy)
        return [verdict, verdict.outcome === "limited" ? { ...after, used: after.used + 1 } : after]
      })
    ),
  fault("limits-store.consume-many-as-one", "Counts a request with a cost as one request.")
    .breaks("limits-store.consume-many")
    .by(
      AtPort.limits((real) => ({
        ...real,
        consumeMany: (key, now, policy) => real.modify(key, (state) => RateLimit.step(state, now, policy))
      }))
    ),
  fault("limits-store.consume-in-seconds", "Rounds the time of `consume` down to whole seconds.")
    .breaks("limits-store.consume.clock")
    .by(
      consumingWith((state, now, policy) => RateLimit.step(state, Math.floor(now / 1_000) * 1_000, policy))
    ),
  fault("limits-store.outage-open", "Admits every request when its backend does not respond.")
    .breaks("limits-store.fails-typed")
    .by(
      replacingModify((key, step, real) =>
        Effect.catch(real.modify(key, step), () => Effect.sync(() => step(undefined)[0]))
      )
    ),
  fault("limits-store.read-more", "Returns the state of a key that was not requested as well.")
    .breaks("limits-store.read")
    .by(
      AtPort.limits((real) => ({
        ...real,
        read: (keys, now) =>
          real.read?.([...keys, "key:1"], now) ?? Effect.succeed({ at: now, states: new Map() })
      }))
    ),
  fault("limits-store.rehearse-counts", "Stores a state in `rehearse`.")
    .breaks("limits-store.rehearse")
    .by(
      AtPort.limits((real) => ({
        ...real,
        rehearse: real.modify("key:0", () => [undefined, blank])
      }))
    )
]
