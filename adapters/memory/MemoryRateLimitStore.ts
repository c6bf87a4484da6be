/** `RateLimitStore` in the memory of this process. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as Caller from "../../core/limits/Caller.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as Immediate from "../../core/ports/Immediate.ts"
import { RateLimitStore, type Step } from "../../core/ports/RateLimitStore.ts"

/** What a store can be told. */
export interface MemoryRateLimitStoreOptions {
  /** Most states of networks; beyond it the least recently used one goes. */
  readonly maxAnonymousStates: number
  /**
   * The clock of the minute and of bans: the monotonic clock of the process, or the service's clock, for tests that move
   * it. The day is always that of the service's clock.
   */
  readonly clock: "process" | "service"
}

/** What holds for every option that is not given. */
export const defaults: MemoryRateLimitStoreOptions = {
  maxAnonymousStates: Caller.defaultMaxNetworks,
  clock: "process"
}

/**
 * Every so many calls so many states are looked at: more than two for each that is added, so the spent ones are found
 * faster than new ones come. All at once, since `modify` must ask for the time, which takes a fiber.
 */
const CALLS_PER_SWEEP = 16
const STATES_PER_SWEEP = 40

/** Milliseconds a spent state is kept on: a request that is still on its way here was stamped a little earlier. */
const GRACE_MS = 60_000

/** Milliseconds between two clocks that mean that one was stepped; less is how clocks are kept right. */
const STEP_MS = 1_000

const NANOS_PER_MS = 1_000_000n

/** A state, and how far the service's clock was ahead of the process's when it was stored. */
export interface Entry {
  readonly state: RateLimit.State
  readonly aheadMs: number
}

/**
 * An empty store. Spent states are deleted in passing, a few with every sixteenth call and without timers: a state goes
 * only when it decides like an absent one, so deleting it changes no verdict.
 */
export const layerWith = (options: Partial<MemoryRateLimitStoreOptions>): Layer.Layer<RateLimitStore> =>
  Layer.effect(
    RateLimitStore,
    Effect.gen(function* () {
      return make(yield* BanPolicy, yield* Clock.Clock, options)
    })
  )

/** An empty store with the default options. */
export const layer: Layer.Layer<RateLimitStore> = layerWith({})

/** A store over `entries`, which belong to it. */
export const make = (
  ban: BanPolicy,
  clock: Clock.Clock,
  options: Partial<MemoryRateLimitStoreOptions> = {},
  entries: { readonly keys: Map<string, Entry>; readonly networks: Map<string, Entry> } = {
    keys: new Map(),
    networks: new Map()
  }
): RateLimitStore["Service"] => {
  const { clock: time, maxAnonymousStates } = { ...defaults, ...options }
  const { keys, networks } = entries
  const sweeps = [sweepOf(keys, ban), sweepOf(networks, ban)]
  // One iterator for all evictions: a new one would walk over the places of all entries that were deleted before.
  let byAge = networks.keys()
  let calls = 0

  const aheadMs =
    time === "service"
      ? () => 0
      : () => clock.currentTimeMillisUnsafe() - Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MS)

  // A map lists its entries in the order in which they were set: the least recently used one first.
  const evictOldest = (): void => {
    let oldest = byAge.next()
    if (oldest.done === true) {
      byAge = networks.keys()
      oldest = byAge.next()
    }
    if (oldest.done !== true) networks.delete(oldest.value)
  }

  const replace = <A>(caller: string, step: Step<A>): A => {
    const ahead = aheadMs()
    const isNetwork = Caller.isNetwork(caller)
    const states = isNetwork ? networks : keys
    const stored = states.get(caller)
    const [result, state] = step(stored === undefined ? undefined : onClock(stored, ahead))
    if (!isNetwork) {
      states.set(caller, { state, aheadMs: ahead })
      return result
    }
    networks.delete(caller)
    networks.set(caller, { state, aheadMs: ahead })
    if (networks.size > maxAnonymousStates) evictOldest()
    return result
  }

  const isTimeToSweep = (): boolean => ++calls % CALLS_PER_SWEEP === 0
  const sweep = (now: number): void => {
    const ahead = aheadMs()
    for (const sweepSome of sweeps) sweepSome(now, ahead)
  }
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

/** The state as the service's clock would have stored it, had it always been as far ahead as now. */
const onClock = ({ aheadMs, state }: Entry, ahead: number): RateLimit.State =>
  Math.abs(ahead - aheadMs) < STEP_MS ? state : RateLimit.shifted(state, ahead - aheadMs)

/** Looks at the next few states, round and round, and deletes the spent ones. */
const sweepOf = (states: Map<string, Entry>, ban: BanPolicy): ((now: number, aheadMs: number) => void) => {
  let position = states.entries()
  return (now, aheadMs) => {
    for (let count = 0; count < STATES_PER_SWEEP; count++) {
      const next = position.next()
      if (next.done === true) {
        position = states.entries()
        return
      }
      const [key, entry] = next.value
      if (RateLimit.spentAt(onClock(entry, aheadMs), ban) + GRACE_MS <= now) states.delete(key)
    }
  }
}
