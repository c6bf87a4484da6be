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

/** An event; a canceled event has no action. */
interface Event {
  readonly at: number
  run: (() => void) | undefined
}

const NANOS_PER_MS = 1_000_000

/** A run of virtual time. */
export class VirtualTime {
  /** The clock and the scheduler, for programs that run in virtual time. */
  readonly context: Context.Context<never>
  /** The events in order, in one list for each millisecond. */
  readonly #events: Array<Array<Event>> = []
  /** Tasks of ready fibers, which run before the next event. */
  #ready: Array<() => void> = []
  #now = 0

  /** Creates virtual time that begins at `epochMs`. */
  constructor(epochMs: number) {
    const millis = (): number => epochMs + Math.floor(this.#now)
    const monotonic = (): bigint => BigInt(Math.round(this.#now * NANOS_PER_MS))
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
          const event = this.after(Duration.toMillis(duration), () => resume(Effect.void))
          return Effect.sync(() => {
            event.run = undefined
          })
        })
    }
    const scheduleTask = (task: () => void): void => void this.#ready.push(task)
    const dispatcher = { scheduleTask, flush: () => this.#settle() }
    const scheduler: Scheduler.Scheduler = {
      executionMode: "sync",
      shouldYield: () => false,
      makeDispatcher: () => dispatcher
    }
    this.context = Context.make(Clock.Clock, clock).pipe(Context.add(Scheduler.Scheduler, scheduler))
  }

  /** Milliseconds since the start, with fractions. */
  get now(): number {
    return this.#now
  }

  /** Runs an action `afterMs` milliseconds from now, after the earlier actions for the same time. */
  after(afterMs: number, run: () => void): Event {
    const at = this.#now + afterMs
    const event = { at, run }
    const ms = Math.floor(at)
    this.#events[ms] ??= []
    const events = this.#events[ms]
    events.splice(events.findLastIndex((earlier) => earlier.at <= at) + 1, 0, event)
    return event
  }

  /** Runs all events. */
  run(): void {
    this.#settle()
    for (let ms = 0; ms < this.#events.length; ms++) {
      const events = this.#events[ms] ?? []
      // An event may add further events to the same millisecond.
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        if (event.run === undefined) continue
        this.#now = event.at
        event.run()
        this.#settle()
      }
    }
  }

  #settle(): void {
    while (this.#ready.length > 0) for (const task of this.#ready.splice(0)) task()
  }
}
