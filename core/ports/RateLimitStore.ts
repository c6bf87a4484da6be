/** Port: where the rate-limit states of callers live. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { Policy, State, Verdict } from "../limits/RateLimit.ts"

/** What becomes of a state, `undefined` where none is stored, and what to answer. Pure. */
export type Step<A> = (state: State | undefined) => readonly [answer: A, state: State]

/** What a store of rate-limit states promises. */
export class RateLimitStore extends Context.Service<
  RateLimitStore,
  {
    /**
     * Replaces the state of `key` by the one that `step` returns, and answers with the other value. `step` is pure;
     * it gets `undefined` when no state is stored. Atomic per key: no other `modify` of that key comes between
     * reading and writing. A state may be deleted once `RateLimit.spentAt` has passed, never earlier; one of a network
     * (`Caller.isNetwork`) also when there are more of them than the store keeps, the least recently used first.
     */
    readonly modify: <A>(key: string, step: Step<A>) => Effect.Effect<A, StoreUnavailable>

    /**
     * The same as `modify(key, (state) => RateLimit.step(state, at, policy))`, for stores that make the step by
     * themselves, in one round trip. `at` is `now`, or the time of the store's own clock, which all nodes share.
     */
    readonly consume?: (key: string, now: number, policy: Policy) => Effect.Effect<Verdict, StoreUnavailable>
  }
>()("animal-store/core/ports/RateLimitStore") {}
