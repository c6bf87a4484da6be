/** `RateLimitStore` in the memory of this process. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"

/** States looked at per request: two for each that is added, so the spent ones are found faster than new ones come. */
const SWEPT_PER_CALL = 2

/** Milliseconds a spent state is kept on: a request that is still on its way here was stamped a little earlier. */
const GRACE_MS = 60_000

/**
 * An empty store. Spent states are swept in passing, a few with every call and without timers: a state goes only when
 * it decides like an absent one, so forgetting it changes no answer.
 */
export const layer: Layer.Layer<RateLimitStore> = Layer.effect(
  RateLimitStore,
  Effect.map(BanPolicy, (ban) => make(ban, new Map()))
)

/** A store over `states`. */
export const make = (ban: BanPolicy, states: Map<string, RateLimit.State>): RateLimitStore["Service"] => {
  let position = states.entries()

  const sweep = (now: number): void => {
    for (let count = 0; count < SWEPT_PER_CALL; count++) {
      const next = position.next()
      if (next.done === true) {
        position = states.entries()
        return
      }
      const [key, state] = next.value
      if (RateLimit.spentAt(state, ban) + GRACE_MS <= now) states.delete(key)
    }
  }

  return {
    modify: (key, step) =>
      Effect.clockWith((clock) => {
        sweep(clock.currentTimeMillisUnsafe())
        const [answer, state] = step(states.get(key))
        states.set(key, state)
        return Effect.succeed(answer)
      })
  }
}
