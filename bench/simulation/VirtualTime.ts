/**
 * Provides virtual time for Effect programs: a clock and a scheduler with a queue of events. Everything runs
 * synchronously within `run`, in an order that depends only on the events, so that a run can be repeated exactly.
 *
 * Effect's TestClock runs the same programs, but it wakes sleepers through fibers and the host's scheduler, which is
 * many times slower.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import { EventQueue } from "./EventQueue.ts"

/** A run of virtual time. */
export interface VirtualTime {
  /** Milliseconds since the start, with fractions. */
  readonly now: () => number
  /** Runs an action `afterMs` milliseconds from now. */
  readonly after: (afterMs: number, action: () => void) => void
  /** The clock and the scheduler, for programs that run in virtual time. */
  readonly context: Context.Context<never>
  /** Runs all events; returns their number. */
  readonly run: () => number
}

const NANOS_PER_MS = 1_000_000

/** Creates virtual time that begins at `epochMs`. */
export const make = (epochMs: number): VirtualTime => {
  const events = new EventQueue()
  let now = 0
  // Tasks of ready fibers, which run before the next event.
  let ready: Array<() => void> = []

  const settle = (): void => {
    while (ready.length > 0) {
      const tasks = ready
      ready = []
      for (const task of tasks) task()
    }
  }

  const millis = (): number => epochMs + Math.floor(now)
  const monotonic = (): bigint => BigInt(Math.round(now * NANOS_PER_MS))
  const nanos = (): bigint => BigInt(epochMs) * BigInt(NANOS_PER_MS) + monotonic()
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) =>
      Effect.callback((resume) => {
        const event = events.add(now + Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(() => {
          event.run = undefined
        })
      })
  }
  const dispatcher: Scheduler.SchedulerDispatcher = {
    scheduleTask: (task) => {
      ready.push(task)
    },
    flush: settle
  }
  const scheduler: Scheduler.Scheduler = {
    executionMode: "sync",
    shouldYield: () => false,
    makeDispatcher: () => dispatcher
  }

  return {
    now: () => now,
    after: (afterMs, action) => {
      events.add(now + afterMs, action)
    },
    context: Context.make(Clock.Clock, clock).pipe(Context.add(Scheduler.Scheduler, scheduler)),
    run: () => {
      let count = 0
      settle()
      for (let event = events.take(); event !== undefined; event = events.take()) {
        if (event.run === undefined) continue
        now = event.at
        event.run()
        settle()
        count++
      }
      return count
    }
  }
}
