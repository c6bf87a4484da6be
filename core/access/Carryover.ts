/**
 * Carries usage over when the requests of a key begin to be counted elsewhere: under another setting of `CountPer`, or
 * for another account. The new state then shows the larger usage of both.
 */
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as CountPer from "../limits/CountPer.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import * as RateLimitStore from "../ports/RateLimitStore.ts"
import type { ApiKey } from "./ApiKey.ts"

/** Maximum number of noted keys. A key that is no longer noted is carried over again, which has no further effect. */
const CAPACITY = 10_000

/** Carries the usage of the state key `from` over to the state key `to`, for a key with these limits, at the store's time. */
export const carry = (
  store: RateLimitStore.RateLimitStore["Service"],
  from: string,
  to: string,
  { limits }: Pick<ApiKey, "limits">,
  now: number
): Effect.Effect<void, StoreUnavailable> =>
  Effect.flatMap(RateLimitStore.read(store, [from], now), ({ at, states }) => {
    const used = states.get(from)
    if (used === undefined) return Effect.void
    return store.modify(to, (state = RateLimit.initial(at, limits)) => [
      undefined,
      RateLimit.withUsageOf(state, used, at, limits)
    ])
  })

/**
 * Creates the function that a service calls before it counts a request: it returns what carries the usage of the key
 * over from the other setting, or `undefined` if there is none to carry, or if this process has done so.
 */
export const make = (
  store: RateLimitStore.RateLimitStore["Service"],
  countPer: CountPer.CountPer
): ((key: ApiKey, now: number) => Effect.Effect<void, StoreUnavailable> | undefined) => {
  const carried = new Map<string, string>()
  return (key, now) => {
    const from = CountPer.otherCallerOf(key, countPer)
    if (from === undefined) return undefined
    const to = CountPer.callerOf(key, countPer)
    if (carried.get(key.id) === to) return undefined
    return Effect.map(carry(store, from, to, key, now), () => {
      if (carried.size >= CAPACITY) carried.clear()
      carried.set(key.id, to)
    })
  }
}
