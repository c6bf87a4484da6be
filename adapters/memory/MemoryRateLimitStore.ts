/** Implements `RateLimitStore` in memory. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as Caller from "../../core/limits/Caller.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import { make as makeRateLimitStore, RateLimitStore, type Step } from "../../core/ports/RateLimitStore.ts"
import { LinkedQueue, type Place } from "../storage/LinkedQueue.ts"
import * as StorageOptions from "../storage/StorageOptions.ts"

/** Options of the store. */
export interface MemoryRateLimitStoreOptions extends StorageOptions.LimitsOptions {
  /**
   * The clock of the minute window and of bans: `process` is the monotonic clock of the process, `service` is the
   * service's clock, for tests. The day always comes from the service's clock.
   */
  readonly clock: "process" | "service"
}

/** The default options. */
const defaults: MemoryRateLimitStoreOptions = {
  ...OptionTable.defaults<StorageOptions.LimitsOptions>(StorageOptions.limitsTable),
  clock: "process"
}

/**
 * Every `CALLS_PER_SWEEP` calls, the store checks `STATES_PER_SWEEP` states of keys and the same number of states of
 * networks. This is more than two of each per call, so that spent states are deleted faster than new ones are added.
 */
const CALLS_PER_SWEEP = 16
const STATES_PER_SWEEP = 34

/** Milliseconds for which a spent state is retained, because a request in flight may have an earlier timestamp. */
const GRACE_MS = 60_000

/** Minimum clock change in milliseconds that counts as a step; smaller changes are ordinary clock adjustments. */
const STEP_MS = 1_000

const NANOS_PER_MS = 1_000_000n

/** A state, and the service's clock minus the monotonic clock when it was stored, in milliseconds. */
export interface Entry {
  readonly state: RateLimit.State
  readonly aheadMs: number
}

/** A state of a network, and its place in the order of use. */
export interface NetworkEntry extends Entry {
  readonly place: Place<string>
}

/**
 * Creates an empty store. Spent states are deleted incrementally, a few with every sixteenth call and without timers. A
 * spent state gives the same verdicts as an absent one, so the deletion has no effect on callers.
 */
export const layerWith = (options: Partial<MemoryRateLimitStoreOptions>): Layer.Layer<RateLimitStore> =>
  Layer.effect(
    RateLimitStore,
    Effect.gen(function* () {
      return make(yield* BanPolicy, yield* Clock.Clock, options)
    })
  )

/** Creates an empty store with the default options. */
export const layer: Layer.Layer<RateLimitStore> = layerWith({})

/** Creates a store that keeps its states in `entries`; only the store may change them. */
export const make = (
  ban: BanPolicy,
  clock: Clock.Clock,
  options: Partial<MemoryRateLimitStoreOptions> = {},
  entries: { readonly keys: Map<string, Entry>; readonly networks: Map<string, NetworkEntry> } = {
    keys: new Map(),
    networks: new Map()
  }
): RateLimitStore["Service"] => {
  const { clock: clockKind, maxAnonymousStates } = { ...defaults, ...options }
  const { keys, networks } = entries
  // The networks, least recently used first. If the map kept this order itself, each request would delete an entry and
  // add it again: 2.6–2.8 instead of 1.2–1.6 µs of CPU time per request, and minor collections of 45–55 instead of 3 ms
  // each, with a million requests from 1,000 networks (docs/decisions/speed.md#where-v8-allocates-objects).
  const byUse = new LinkedQueue<string>()
  const sweeps = [sweepOf(keys, ban), sweepOf(networks, ban, ({ place }) => byUse.remove(place))]
  let calls = 0

  const aheadMs =
    clockKind === "service"
      ? () => 0
      : () => clock.currentTimeMillisUnsafe() - Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MS)

  const replaceKey = <A>(caller: string, step: Step<A>): A => {
    const ahead = aheadMs()
    const stored = keys.get(caller)
    const [result, state] = step(stored && correctedForSteps(stored, ahead))
    keys.set(caller, { state, aheadMs: ahead })
    return result
  }

  const replaceNetwork = <A>(caller: string, step: Step<A>): A => {
    const ahead = aheadMs()
    const stored = networks.get(caller)
    const [result, state] = step(stored && correctedForSteps(stored, ahead))
    if (stored !== undefined) byUse.remove(stored.place)
    networks.set(caller, { state, aheadMs: ahead, place: byUse.add(caller) })
    if (networks.size > maxAnonymousStates) {
      const oldest = byUse.shift()
      if (oldest !== undefined) networks.delete(oldest)
    }
    return result
  }

  const isTimeToSweep = (): boolean => ++calls % CALLS_PER_SWEEP === 0
  const sweep = (): void => {
    const ahead = aheadMs()
    const now = clock.currentTimeMillisUnsafe()
    for (const sweepSome of sweeps) sweepSome(now, ahead)
  }

  return makeRateLimitStore({
    modify: (key, step) =>
      Effect.sync(() => {
        if (isTimeToSweep()) sweep()
        return Caller.isNetwork(key) ? replaceNetwork(key, step) : replaceKey(key, step)
      }),
    read: (callers, now) =>
      Effect.sync(() => {
        const ahead = aheadMs()
        const found = callers.flatMap((caller) => {
          const stored = (Caller.isNetwork(caller) ? networks : keys).get(caller)
          return stored === undefined ? [] : [[caller, correctedForSteps(stored, ahead)] as const]
        })
        return { at: now, states: new Map(found) }
      })
  })
}

/** Returns the state, corrected for steps of the service's clock since it was stored. */
const correctedForSteps = ({ aheadMs, state }: Entry, ahead: number): RateLimit.State =>
  Math.abs(ahead - aheadMs) < STEP_MS ? state : RateLimit.shifted(state, ahead - aheadMs)

/** Returns a function that checks the next few states, cyclically, and deletes the spent ones. */
const sweepOf = <E extends Entry>(
  states: Map<string, E>,
  ban: BanPolicy,
  onDelete: (entry: E) => void = () => {}
): ((now: number, aheadMs: number) => void) => {
  let position = states.entries()
  return (now, aheadMs) => {
    for (let count = 0; count < STATES_PER_SWEEP; count++) {
      const next = position.next()
      if (next.done === true) {
        position = states.entries()
        return
      }
      const [key, entry] = next.value
      if (RateLimit.spentAt(correctedForSteps(entry, aheadMs), ban) + GRACE_MS > now) continue
      states.delete(key)
      onDelete(entry)
    }
  }
}
