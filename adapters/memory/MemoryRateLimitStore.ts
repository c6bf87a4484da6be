/** `RateLimitStore` in the memory of this process. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as Immediate from "../../core/ports/Immediate.ts"
import { RateLimitStore, type Step } from "../../core/ports/RateLimitStore.ts"

/**
 * Every so many calls so many states are looked at: more than two for each that is added, so the spent ones are found
 * faster than new ones come. All at once, since `modify` must ask for the time, which takes a fiber.
 */
const CALLS_PER_SWEEP = 16
const STATES_PER_SWEEP = 40

/** Milliseconds a spent state is kept on: a request that is still on its way here was stamped a little earlier. */
const GRACE_MS = 60_000

/**
 * An empty store. Spent states are swept in passing, a few with every sixteenth call and without timers: a state goes
 * only when it decides like an absent one, so forgetting it changes no answer.
 */
export const layer: Layer.Layer<RateLimitStore> = Layer.effect(
  RateLimitStore,
  Effect.map(BanPolicy, (ban) => make(ban, new Map()))
)

/** A store over `states`. */
export const make = (ban: BanPolicy, states: Map<string, RateLimit.State>): RateLimitStore["Service"] => {
  let position = states.entries()
  let calls = 0

  const sweep = (now: number): void => {
    for (let count = 0; count < STATES_PER_SWEEP; count++) {
      const next = position.next()
      if (next.done === true) {
        position = states.entries()
        return
      }
      const [key, state] = next.value
      if (RateLimit.spentAt(state, ban) + GRACE_MS <= now) states.delete(key)
    }
  }

  const replace = <A>(key: string, step: Step<A>): A => {
    const [answer, state] = step(states.get(key))
    states.set(key, state)
    return answer
  }

  const isTimeToSweep = (): boolean => ++calls % CALLS_PER_SWEEP === 0
  const sweepNow = Effect.map(Clock.currentTimeMillis, sweep)

  return {
    modify: (key, step) => {
      const replaced = Immediate.sync(() => replace(key, step))
      return isTimeToSweep() ? Effect.andThen(sweepNow, replaced) : replaced
    },
    consume: (key, now, policy) =>
      Immediate.sync(() => {
        if (isTimeToSweep()) sweep(now)
        return replace(key, (state) => RateLimit.step(state, now, policy))
      })
  }
}
