/** Port: where the rate-limit states of callers live. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { State } from "../limits/RateLimit.ts"

/** What a store of rate-limit states promises. */
export class RateLimitStore extends Context.Service<
  RateLimitStore,
  {
    /**
     * Replaces the state of `key` by the one that `step` returns, and answers with the other value. `step` is pure;
     * it gets `undefined` when no state is stored. Atomic per key: no other `modify` of that key comes between
     * reading and writing. A state may be dropped once `RateLimit.spentAt` has passed, never earlier.
     */
    readonly modify: <A>(
      key: string,
      step: (state: State | undefined) => readonly [answer: A, state: State]
    ) => Effect.Effect<A, StoreUnavailable>
  }
>()("animal-store/core/ports/RateLimitStore") {}
