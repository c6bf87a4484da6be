/** Defines the port for the storage of rate-limit states. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { maxRequests, type Plan } from "../limits/Plan.ts"
import { initial, type Policy, type State, step, type Verdict } from "../limits/RateLimit.ts"

/** A pure function from a state key's stored state, `undefined` if absent, to a result and the next state. */
export type Step<A> = (state: State | undefined) => readonly [result: A, state: State]

/** Stores the rate-limit states of callers by their state keys. */
export class RateLimitStore extends Context.Service<
  RateLimitStore,
  {
    /**
     * Counts a request of the caller `key` at `now` (epoch milliseconds): stores the state that `RateLimit.step` returns,
     * and returns its verdict. Atomic per state key, as `modify` is. A store without a step of its own gets this method
     * from `make`. A native step may use the time of the store's own clock, which all nodes share, instead of `now`.
     */
    readonly consume: (key: string, now: number, policy: Policy) => Effect.Effect<Verdict, StoreUnavailable>

    /**
     * Counts a request as `consume` does, with the `cost` of `RateLimit.step`. Optional: without it, requests with a cost
     * above 1 are counted with `modify`.
     */
    readonly consumeMany?: (
      key: string,
      now: number,
      policy: Policy,
      cost: number
    ) => Effect.Effect<Verdict, StoreUnavailable>

    /**
     * Replaces the state of `key` with the state that `step` returns, and returns the result of `step`. Atomic per
     * state key: no other `modify` of the key runs between the read and the write. The store may delete a state once
     * `RateLimit.spentAt` has passed. It may also evict the least recently used states of networks (`Caller.isNetwork`)
     * when they exceed its limit.
     */
    readonly modify: <A>(key: string, step: Step<A>) => Effect.Effect<A, StoreUnavailable>

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

/** A store that may leave the step to the core. */
export type Steppable = Omit<RateLimitStore["Service"], "consume"> &
  Partial<Pick<RateLimitStore["Service"], "consume">>

/** Completes a store: without a `consume` of its own, it runs the core's step with its `modify`. */
export const make = (store: Steppable): RateLimitStore["Service"] =>
  isComplete(store)
    ? store
    : {
        // Not a copy with `...`, which would lack the methods of a class.
        consume: (key, now, policy) => store.modify(key, (state) => step(state, now, policy)),
        modify: (key, change) => store.modify(key, change),
        ...(store.consumeMany && { consumeMany: store.consumeMany.bind(store) }),
        ...(store.read && { read: store.read.bind(store) }),
        ...(store.rehearse && { rehearse: store.rehearse })
      }

/** Counts a request that counts as `cost` requests. */
export const consume = (
  store: RateLimitStore["Service"],
  key: string,
  now: number,
  policy: Policy,
  cost: number
): Effect.Effect<Verdict, StoreUnavailable> => {
  if (cost === 1) return store.consume(key, now, policy)
  return (
    store.consumeMany?.(key, now, policy, cost) ??
    store.modify(key, (state) => step(state, now, policy, cost))
  )
}

/** Reads stored states. A store without `read` is read with `modify`, one state at a time. */
export const read = (
  store: RateLimitStore["Service"],
  keys: ReadonlyArray<string>,
  now: number
): Effect.Effect<{ readonly at: number; readonly states: ReadonlyMap<string, State> }, StoreUnavailable> =>
  store.read?.(keys, now) ??
  Effect.map(
    Effect.forEach(keys, (key) =>
      store.modify(key, (state = initial(now, largest)) => [[key, state] as const, state])
    ),
    (entries) => ({ at: now, states: new Map(entries) })
  )

/** A bucket that is full under this plan is full under every plan. */
const largest: Plan = { perMinute: maxRequests, perDay: maxRequests }

const isComplete = (store: Steppable): store is RateLimitStore["Service"] => store.consume !== undefined
