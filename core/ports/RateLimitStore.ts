/** Defines the port for the storage of rate-limit states. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { Policy, State, Verdict } from "../limits/RateLimit.ts"

/** A pure function from a state key's stored state, `undefined` if absent, to a result and the next state. */
export type Step<A> = (state: State | undefined) => readonly [result: A, state: State]

/** Stores the rate-limit states of callers by their state keys. */
export class RateLimitStore extends Context.Service<
  RateLimitStore,
  {
    /**
     * Replaces the state of `key` with the state that `step` returns, and returns the result of `step`. Atomic per
     * state key: no other `modify` of the key runs between the read and the write. The store may delete a state once
     * `RateLimit.spentAt` has passed. It may also evict the least recently used states of networks (`Caller.isNetwork`)
     * when they exceed its limit.
     */
    readonly modify: <A>(key: string, step: Step<A>) => Effect.Effect<A, StoreUnavailable>

    /**
     * Has the effect and the result of `modify(key, (state) => RateLimit.step(state, at, policy))`, for stores that run
     * the step natively in one round trip. `at` is `now`, or the time of the store's own clock, which all nodes share.
     */
    readonly consume?: (key: string, now: number, policy: Policy) => Effect.Effect<Verdict, StoreUnavailable>

    /**
     * Returns the stored states of these keys without changing them; absent states are omitted. Evaluate them at the
     * time `at`, which is `now`, or the time of the store's own clock.
     */
    readonly read?: (
      keys: ReadonlyArray<string>,
      now: number
    ) => Effect.Effect<{ readonly at: number; readonly states: ReadonlyMap<string, State> }, StoreUnavailable>

    /**
     * Fails if a request could not be counted, and stores nothing. Optional: without it, `/readyz` calls `read`, which
     * may succeed while writes fail.
     */
    readonly rehearse?: Effect.Effect<void, StoreUnavailable>
  }
>()("animal-store/core/ports/RateLimitStore") {}
