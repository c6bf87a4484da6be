/**
 * Measures the limits in memory in its own process, and sends the figures: the time of a step and of a counted request,
 * and how time and memory grow with a million callers.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Memory from "../../adapters/memory/Memory.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { UNREACHABLE_LIMIT } from "../http/Catalogue.ts"
import * as Callers from "./Callers.ts"
import type { LimitsFigures } from "./Process.ts"
import { BATCH, gc, time, use } from "./Timing.ts"

/** Returns the bytes in use after a garbage collection, on the heap and in buffers outside it. */
const usedBytes = (): number => {
  gc()
  // The second collection frees what the first one finalized, such as buffers outside of the heap.
  gc()
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}

const START = Date.UTC(2027, 0, 1, 12)
const DAY_MS = 86_400_000

const timeOfStep = (): number => {
  const policy = { plan: { perMinute: 1_000, perDay: UNREACHABLE_LIMIT }, ban: BanPolicy.standard }
  let state: RateLimit.State | undefined
  let now = START
  return time(() => {
    for (let call = 0; call < BATCH; call++) {
      now += 60
      const [verdict, next] = RateLimit.step(state, now, policy)
      state = next
      use(verdict)
    }
  })
}

let now = START
const clock: Clock.Clock = {
  ...Clock.Clock.defaultValue(),
  currentTimeMillisUnsafe: () => now,
  currentTimeMillis: Effect.sync(() => now),
  // Otherwise each change of `now` would count as a step of the clock, and the store would shift its states.
  monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n
}

/** Creates an empty store, and returns a function that counts one request of each caller in one fiber. */
const makeStore = (policy: RateLimit.Policy = Callers.unlimited) => {
  const limits = Effect.runSync(
    Effect.provideService(Effect.provide(RateLimitStore, Memory.layer), Clock.Clock, clock)
  )
  return (callers: ReadonlyArray<string>): void => {
    let index = 0
    const all = Effect.suspend(() =>
      Effect.whileLoop({
        while: () => index < callers.length,
        body: () => Callers.consume(limits, callers[index++] ?? "", now, policy),
        step: use
      })
    )
    Effect.runSync(Effect.provideService(all, Clock.Clock, clock))
  }
}

const MILLION = 1_000_000

/** Number of different callers that are timed: far too many for the caches of a processor. */
const PROBES = 131_072

/** Times calls with scattered callers. This is a function, so that the keys are garbage when memory is measured again. */
const timeOfMillion = (consume: (batch: ReadonlyArray<string>) => void): number => {
  const batches = Array.from({ length: Math.floor(PROBES / BATCH) }, (_, index) =>
    Array.from({ length: BATCH }, (_, call) => Callers.scatteredKey(index * BATCH + call, MILLION))
  )
  return time((index) => consume(batches[index % batches.length] ?? []))
}

const admitAll = (consume: (batch: ReadonlyArray<string>) => void, callers: number): void => {
  for (let first = 0; first < callers; first += BATCH) consume(Callers.keys(first, BATCH))
}

/** Times reads of a `Map` with a million callers: the minimum for any store in memory. */
const timeOfMap = (): number => {
  const states = new Map(Callers.keys(0, MILLION).map((key, index) => [key, { index }]))
  return timeOfMillion((batch) => {
    for (const key of batch) use(states.get(key)?.index)
  })
}

const measure = (): LimitsFigures => {
  const stepNanos = timeOfStep()
  // A ban changes the hidden class of the stored states, so the warm-up bans a caller, as production would.
  const strict = makeStore({
    plan: { perMinute: 1, perDay: UNREACHABLE_LIMIT },
    ban: BanPolicy.standard
  })
  admitAll(strict, 20_000)
  for (let second = 0; second < 100; second++) {
    now += 1_000
    strict(["key:offender"])
  }
  const thousand = makeStore()
  const thousandKeys = Callers.keys(0, BATCH)
  const countNanos = time(() => thousand(thousandKeys))

  const before = usedBytes()
  const consume = makeStore()
  admitAll(consume, MILLION)
  const liveCallerBytes = (usedBytes() - before) / MILLION
  const millionNanos = timeOfMillion((batch) => {
    now++
    consume(batch)
  })
  const mapNanos = timeOfMap()
  // Stores delete expired states while they serve requests, so one caller sends as many requests as there were callers.
  now += 3 * DAY_MS
  const later = Array.from({ length: BATCH }, () => "key:later")
  for (let index = 0; index < MILLION; index += BATCH) consume(later)
  const idleCallerBytes = Math.max((usedBytes() - before) / MILLION, 0)
  use(consume)
  return { stepNanos, countNanos, liveCallerBytes, idleCallerBytes, millionRatio: millionNanos / mapNanos }
}

process.send?.(measure(), () => process.exit())
