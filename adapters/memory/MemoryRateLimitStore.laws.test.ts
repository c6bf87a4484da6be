import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as ClockSteps from "../../core/limits/ClockSteps.arbitrary.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { harsh } from "../../core/limits/RateLimit.arbitrary.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as MemoryRateLimitStore from "./MemoryRateLimitStore.ts"

const MINUTE = 60_000
const DAY = 86_400_000

/** Requests with one key, one second apart. */
interface Burst {
  readonly key: string
  readonly plan: Plan.Plan
  readonly requests: number
  /** Milliseconds after the previous burst, or a time near midnight or near the time when the state is spent. */
  readonly start: number | "before midnight" | "last moment of the state" | "state spent"
}

const burst: fc.Arbitrary<Burst> = fc.record({
  key: fc.constantFrom("a", "b", "c"),
  plan: fc.constantFrom(
    { perMinute: 1, perDay: 3 },
    { perMinute: 1, perDay: 100 },
    { perMinute: 5, perDay: 5 }
  ),
  requests: fc.integer({ min: 1, max: 6 }),
  start: fc.oneof(
    fc.constantFrom(0, 1, 500, 999, 1000, MINUTE - 1, MINUTE, MINUTE + 1, 6 * MINUTE, DAY - 1, DAY),
    fc.integer({ min: 0, max: 3 * DAY }),
    fc.constantFrom("before midnight", "last moment of the state", "state spent")
  )
})

const now = TestClock.testClockWith(({ currentTimeMillis }) => currentTimeMillis)

type Count = (
  store: RateLimitStore["Service"],
  key: string,
  now: number,
  policy: RateLimit.Policy
) => Effect.Effect<RateLimit.Verdict, unknown>

/** Creates a store, and returns it with its entries. */
const openStore = (
  ban: BanPolicy.BanPolicy,
  options: Partial<MemoryRateLimitStore.MemoryRateLimitStoreOptions> = {}
) =>
  Effect.map(Clock.Clock, (clock) => {
    const keys = new Map<string, MemoryRateLimitStore.Entry>()
    const networks = new Map<string, MemoryRateLimitStore.NetworkEntry>()
    const store = MemoryRateLimitStore.make(ban, clock, options, { keys, networks })
    return { keys, networks, size: () => keys.size + networks.size, store }
  })

const count: Count = ({ modify }, key, now, policy) =>
  modify(key, (state) => RateLimit.step(state, now, policy))

describe("MemoryRateLimitStore", () => {
  it("returns the same verdicts as a store that never deletes states, for any history", async () => {
    let deleted = 0
    const outcomes = new Set<RateLimit.Outcome>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(burst, { maxLength: 40, size: "max" }),
        fc.constantFrom(harsh, BanPolicy.standard),
        (bursts, ban) =>
          Effect.gen(function* () {
            const { size, store } = yield* openStore(ban)
            const model = new Map<string, RateLimit.State>()
            for (const { key, plan, requests, start } of bursts) {
              const state = model.get(key)
              const before = yield* now
              if (typeof start === "number") {
                yield* TestClock.adjust(start)
              } else if (start === "before midnight") {
                yield* TestClock.setTime(Math.max(before, Math.ceil(before / DAY) * DAY - 3000))
              } else if (state !== undefined) {
                const spentAt = RateLimit.spentAt(state, ban)
                yield* TestClock.setTime(Math.max(before, start === "state spent" ? spentAt : spentAt - 1))
              }
              for (let index = 0; index < requests; index++) {
                if (index > 0) yield* TestClock.adjust(1000)
                const at = yield* now
                const [expected, next] = RateLimit.step(model.get(key), at, { plan, ban })
                model.set(key, next)
                const verdict = yield* count(store, key, at, { plan, ban })
                expect(verdict).toEqual(expected)
                outcomes.add(verdict.outcome)
              }
            }
            deleted += model.size - size()
          }).pipe(Effect.provide(TestClock.layer()), Effect.runPromise)
      ),
      { numRuns: 300 }
    )
    expect(deleted).toBeGreaterThan(30)
    expect([...outcomes].sort()).toEqual(["admitted", "banned", "limited"])
  })

  it.effect("deletes 20,000 spent states while one key sends requests on the next day", () =>
    Effect.gen(function* () {
      const { size, store } = yield* openStore(BanPolicy.standard)
      const policy = { plan: Plan.standard.Free, ban: BanPolicy.standard }
      const use = (key: string) =>
        Effect.gen(function* () {
          const now = yield* TestClock.testClockWith(({ currentTimeMillis }) => currentTimeMillis)
          return yield* count(store, key, now, policy)
        })
      for (let index = 0; index < 20_000; index++) yield* use(`network:${index}`)
      expect(size()).toBe(20_000)
      yield* TestClock.adjust("25 hours")
      for (let index = 0; index < 10_010; index++) yield* use("key:1")
      expect(size()).toBeLessThanOrEqual(2)
    })
  )

  it.effect("stores fewer than 3,000 states while 1,000 new networks arrive per day", () =>
    Effect.gen(function* () {
      const { size, store } = yield* openStore(BanPolicy.standard)
      const policy = { plan: Plan.standard.Free, ban: undefined }
      let largest = 0
      for (let index = 0; index < 20_000; index++) {
        const at = index * (DAY / 1000)
        yield* TestClock.setTime(at)
        yield* count(store, `network:${index}`, at, policy)
        largest = Math.max(largest, size())
      }
      expect(largest).toBeLessThan(3000)
    })
  )

  it.effect("keeps all keys, but only the most recently used networks, up to the configured number", () =>
    Effect.gen(function* () {
      const { keys, networks, store } = yield* openStore(BanPolicy.standard, { maxAnonymousStates: 100 })
      const policy = { plan: Plan.standard.Free, ban: undefined }
      for (let index = 0; index < 5_000; index++) {
        yield* count(store, `network:${index}`, 0, policy)
        yield* count(store, `key:${index % 1_000}`, 0, policy)
        // This network is always in use.
        const { remaining } = yield* count(store, "network:192.0.2.7", 0, policy)
        expect(remaining).toBe(Math.max(59 - index, 0))
        expect(networks.size).toBeLessThanOrEqual(100)
      }
      expect(keys.size).toBe(1_000)
      const latest = Array.from({ length: 99 }, (_, index) => `network:${4_901 + index}`)
      expect(new Set(networks.keys())).toEqual(new Set([...latest, "network:192.0.2.7"]))
    })
  )

  it.effect(
    "evicts only networks that are still stored, even after spent states of other networks were deleted",
    () =>
      Effect.gen(function* () {
        const { networks, store } = yield* openStore(BanPolicy.standard, { maxAnonymousStates: 100 })
        const policy = { plan: Plan.standard.Free, ban: undefined }
        for (const day of [0, 2, 4]) {
          yield* TestClock.setTime(day * DAY)
          for (let index = 0; index < 300; index++) {
            yield* count(store, `network:${day}:${index}`, day * DAY, policy)
            expect(networks.size).toBeLessThanOrEqual(100)
          }
          const latest = Array.from({ length: 100 }, (_, index) => `network:${day}:${200 + index}`)
          expect(new Set(networks.keys())).toEqual(new Set(latest))
        }
      })
  )

  it("uses the monotonic clock: jumps of the wall clock do not change which requests are admitted", async () => {
    await fc.assert(
      fc.asyncProperty(ClockSteps.moments, fc.integer({ min: 1, max: 10 }), (moments, perMinute) =>
        Effect.gen(function* () {
          let [now, monotonicMs] = [20_000 * DAY, 0]
          const clock: Clock.Clock = {
            ...(yield* Clock.Clock),
            currentTimeMillisUnsafe: () => now,
            currentTimeMillis: Effect.sync(() => now),
            monotonicTimeNanosUnsafe: () => BigInt(monotonicMs) * 1_000_000n
          }
          const store = MemoryRateLimitStore.make(BanPolicy.standard, clock)
          const policy = { plan: { perMinute, perDay: Plan.maxRequests }, ban: undefined }
          let expected: RateLimit.State | undefined
          for (const { passedMs, requests, stepMs } of moments) {
            monotonicMs += passedMs
            // Omits jumps of up to a second, which count as ordinary clock adjustments.
            now += passedMs + (Math.abs(stepMs) <= 1_000 ? 0 : stepMs)
            for (let index = 0; index < requests; index++) {
              const [verdict, next] = RateLimit.step(expected, 20_000 * DAY + monotonicMs, policy)
              expected = next
              const counted = Effect.provideService(count(store, "a", now, policy), Clock.Clock, clock)
              expect((yield* counted).outcome).toBe(verdict.outcome)
            }
          }
        }).pipe(Effect.runPromise)
      ),
      { numRuns: 100 }
    )
  })
})
