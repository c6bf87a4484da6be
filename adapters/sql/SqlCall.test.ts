import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as SqlCall from "./SqlCall.ts"

const TIMEOUT_MS = 1_000
const call = SqlCall.make(TIMEOUT_MS)

/** Creates SQLite's error for a result code. */
const sqlError = (errno: number) =>
  new SqlError({
    reason: classifySqliteError(Object.assign(new Error("no"), { errno }), {
      message: "no",
      operation: "execute"
    })
  })
const BUSY = 5
const READONLY = 8
const ERROR = 1

/** Creates a query that never completes, and counts its starts and interruptions. */
const silentQuery = Effect.sync(() => {
  const seen = { starts: 0, interruptions: 0 }
  const query = Effect.onInterrupt(
    Effect.suspend(() => {
      seen.starts++
      return Effect.never
    }),
    () =>
      Effect.sync(() => {
        seen.interruptions++
      })
  )
  return { seen, query }
})

/** Queries that complete immediately, and queries that complete later. */
const speeds = [
  { name: "immediately", delay: <A, E>(effect: Effect.Effect<A, E>) => effect },
  { name: "later", delay: <A, E>(effect: Effect.Effect<A, E>) => Effect.delay(effect, TIMEOUT_MS - 1) }
]

describe("SqlCall", () => {
  describe.each(speeds)("run, with a query that completes $name", ({ delay }) => {
    const exitOf = <A>(query: Effect.Effect<A, SqlError>) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(call.run(delay(query)))
        yield* TestClock.adjust(TIMEOUT_MS - 1)
        return yield* Fiber.await(fiber)
      })

    it.effect("returns the result of the query", () =>
      Effect.gen(function* () {
        expect(yield* exitOf(Effect.succeed(1))).toEqual(Exit.succeed(1))
      })
    )

    it.effect("fails with StoreUnavailable, which is retryable if the database error is retryable", () =>
      Effect.gen(function* () {
        for (const [errno, retryable] of [
          [BUSY, true],
          [READONLY, false],
          [ERROR, false]
        ] as const) {
          const cause = sqlError(errno)
          expect(cause.isRetryable).toBe(retryable)
          const exit = yield* exitOf(Effect.fail(cause))
          const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
          expect(error).toBeInstanceOf(StoreUnavailable)
          expect(error).toMatchObject({ retryable, cause })
        }
      })
    )

    it.effect("fails with a defect when the query has one", () =>
      Effect.gen(function* () {
        const bug = new Error("a bug")
        expect(yield* exitOf(Effect.die(bug))).toEqual(Exit.die(bug))
      })
    )
  })

  it.effect("times out when the query never completes", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.flip(call.run(Effect.uninterruptible(Effect.never))))
      yield* TestClock.adjust(TIMEOUT_MS - 1)
      expect(fiber.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust(1)
      const error = yield* Fiber.join(fiber)
      expect(error).toBeInstanceOf(StoreUnavailable)
      expect(error.retryable).toBe(true)
      expect(String(error.cause)).toContain("1000 ms")
    })
  )

  it.effect("times out even when the interruption of the query takes a long time", () =>
    Effect.gen(function* () {
      const slow = Effect.onInterrupt(Effect.never, () => Effect.sleep("1 hour"))
      const fiber = yield* Effect.forkChild(Effect.flip(call.run(slow)))
      yield* TestClock.adjust(TIMEOUT_MS)
      expect((yield* Fiber.join(fiber)).retryable).toBe(true)
    })
  )

  it.effect("interrupts the query after the timeout", () =>
    Effect.gen(function* () {
      const { query, seen } = yield* silentQuery
      const fiber = yield* Effect.forkChild(Effect.flip(call.run(query)))
      yield* TestClock.adjust(TIMEOUT_MS - 1)
      expect(seen).toEqual({ starts: 1, interruptions: 0 })
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
      yield* Effect.yieldNow
      expect(seen).toEqual({ starts: 1, interruptions: 1 })
    })
  )

  it.effect("interrupts the query when the call is interrupted, and does not wait for the query", () =>
    Effect.gen(function* () {
      const { query, seen } = yield* silentQuery
      const fiber = yield* Effect.forkChild(call.run(query), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      yield* Effect.yieldNow
      expect(seen).toEqual({ starts: 1, interruptions: 1 })
      const uninterruptible = yield* Effect.forkChild(call.run(Effect.uninterruptible(Effect.never)), {
        startImmediately: true
      })
      yield* Fiber.interrupt(uninterruptible)
    })
  )

  it.effect("leaves no query running, whichever step of the call is interrupted", () =>
    Effect.gen(function* () {
      const starts: Array<number> = []
      for (let steps = 3; steps < 16; steps++) {
        for (let turns = 0; turns < 20; turns++) {
          const { query, seen } = yield* silentQuery
          const fiber = yield* Effect.forkChild(
            // The call yields to other fibers after this number of steps.
            Effect.provideService(call.run(query), References.MaxOpsBeforeYield, steps)
          )
          for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
          fiber.interruptUnsafe()
          yield* Fiber.await(fiber)
          yield* TestClock.adjust(1)
          expect([steps, turns, seen.interruptions]).toEqual([steps, turns, seen.starts])
          starts.push(seen.starts)
        }
      }
      expect(new Set(starts)).toEqual(new Set([0, 1]))
    })
  )

  it.effect("sets no timer for a query that completes immediately", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let timers = 0
      const countingClock: Clock.Clock = {
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
        currentTimeMillis: clock.currentTimeMillis,
        currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
        currentTimeNanos: clock.currentTimeNanos,
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => {
          timers++
          return clock.sleep(duration)
        }
      }
      const timersOf = <A>(query: Effect.Effect<A, SqlError>) =>
        Effect.gen(function* () {
          timers = 0
          yield* Effect.exit(Effect.provideService(call.run(query), Clock.Clock, countingClock))
          return timers
        })
      expect(yield* timersOf(Effect.succeed(1))).toBe(0)
      expect(yield* timersOf(Effect.fail(sqlError(BUSY)))).toBe(0)
      expect(yield* timersOf(Effect.die("a bug"))).toBe(0)
      const later = yield* Deferred.make<void>()
      yield* Effect.forkChild(Effect.andThen(Effect.yieldNow, Deferred.succeed(later, undefined)))
      expect(yield* timersOf(Deferred.await(later))).toBe(1)
    })
  )

  it.effect("ignores the late result of a query that timed out", () =>
    Effect.gen(function* () {
      const lateQuery = Effect.uninterruptible(Effect.as(Effect.sleep(TIMEOUT_MS + 500), "late"))
      const fiber = yield* Effect.forkChild(Effect.flip(call.run(lateQuery)))
      yield* TestClock.adjust(TIMEOUT_MS)
      expect((yield* Fiber.join(fiber)).retryable).toBe(true)
      yield* TestClock.adjust(1_000)
      expect(yield* call.run(Effect.succeed("next"))).toBe("next")
    })
  )

  describe("submit, with a call that returns its result to a callback", () => {
    /** Creates a call that exposes its callback and the number of its cancellations. */
    const makeCall = () => {
      const pending = {
        cancellations: 0,
        complete: (_: Exit.Exit<number, SqlError>): void => {},
        start: (done: (exit: Exit.Exit<number, SqlError>) => void) => {
          pending.complete = done
          return () => {
            pending.cancellations++
          }
        }
      }
      return pending
    }

    it.effect("returns a result that arrives immediately or within the timeout, and cancels nothing", () =>
      Effect.gen(function* () {
        const pending = makeCall()
        const immediate = call.submit<number>((done) => {
          done(Exit.succeed(1))
          return pending.start(done)
        })
        expect(yield* immediate).toBe(1)
        const fiber = yield* Effect.forkChild(call.submit(pending.start), { startImmediately: true })
        yield* TestClock.adjust(TIMEOUT_MS - 1)
        pending.complete(Exit.succeed(2))
        expect(yield* Fiber.join(fiber)).toBe(2)
        yield* TestClock.adjust(TIMEOUT_MS)
        expect(pending.cancellations).toBe(0)
      })
    )

    it.effect(
      "fails with StoreUnavailable when the call fails, and with a defect when the call has one",
      () =>
        Effect.gen(function* () {
          const pending = makeCall()
          const exitOf = (exit: Exit.Exit<number, SqlError>) =>
            Effect.gen(function* () {
              const fiber = yield* Effect.forkChild(call.submit(pending.start), { startImmediately: true })
              pending.complete(exit)
              return yield* Fiber.await(fiber)
            })
          const cause = sqlError(BUSY)
          expect(yield* exitOf(Exit.fail(cause))).toEqual(
            Exit.fail(new StoreUnavailable({ retryable: true, cause }))
          )
          expect(yield* exitOf(Exit.die("a bug"))).toEqual(Exit.die("a bug"))
        })
    )

    it.effect("cancels the call exactly once after a timeout or an interruption", () =>
      Effect.gen(function* () {
        const late = makeCall()
        const fiber = yield* Effect.forkChild(Effect.flip(call.submit(late.start)))
        yield* TestClock.adjust(TIMEOUT_MS - 1)
        expect(late.cancellations).toBe(0)
        yield* TestClock.adjust(1)
        expect(yield* Fiber.join(fiber)).toMatchObject({ retryable: true })
        expect(late.cancellations).toBe(1)
        late.complete(Exit.succeed(1))
        const interruptedCall = makeCall()
        const interruptedFiber = yield* Effect.forkChild(call.submit(interruptedCall.start), {
          startImmediately: true
        })
        yield* Fiber.interrupt(interruptedFiber)
        yield* TestClock.adjust(TIMEOUT_MS)
        expect(interruptedCall.cancellations).toBe(1)
      })
    )

    it.effect(
      "cancels the call when its deadline passes before the timer starts; the next call still times out",
      () =>
        Effect.gen(function* () {
          const clock = yield* Clock.Clock
          let reads = 0n
          const stalledClock: Clock.Clock = {
            ...clock,
            currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
            monotonicTimeNanosUnsafe: () => ++reads * BigInt(TIMEOUT_MS) * 1_000_000n
          }
          const stalledCall = SqlCall.make(TIMEOUT_MS)
          const pending = makeCall()
          const late = yield* Effect.flip(
            Effect.provideService(stalledCall.submit(pending.start), Clock.Clock, stalledClock)
          )
          expect(late.retryable).toBe(true)
          expect(pending.cancellations).toBe(1)

          const next = makeCall()
          const fiber = yield* Effect.forkChild(Effect.flip(stalledCall.submit(next.start)), {
            startImmediately: true
          })
          yield* TestClock.adjust(TIMEOUT_MS)
          expect((yield* Fiber.join(fiber)).retryable).toBe(true)
          expect(next.cancellations).toBe(1)
        })
    )
  })
})
