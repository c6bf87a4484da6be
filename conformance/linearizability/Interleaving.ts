/**
 * Runs an Effect program with fast-check as the scheduler of its fibers. A store with a race fails in some of the tried
 * orders; the seed and path of the failure reproduce the order.
 */
import { setImmediate } from "node:timers/promises"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as EffectScheduler from "effect/Scheduler"
import * as fc from "fast-check"

/**
 * Any order, for `run`. Use it instead of `fc.scheduler()`, whose copies (fast-check 4.10) share one source of choices:
 * beside an argument that shrinks, the seed and path of a failure may reproduce another order, or no failure. Does not
 * shrink.
 */
export const scheduler = (): fc.Arbitrary<fc.Scheduler> =>
  fc.noBias(fc.noShrink(fc.integer())).map(schedulerOf)

/** Every copy makes the same choices as the first one. */
const schedulerOf = (seed: number): fc.Scheduler => {
  const [one] = fc.sample(fc.scheduler(), { seed, numRuns: 1 })
  if (one === undefined) throw new Error("One sample was asked for and none was given")
  return Object.assign(one, { [fc.cloneMethod]: () => schedulerOf(seed) })
}

/** How finely fibers are interleaved. */
export interface Options {
  /**
   * Number of consecutive operations of Effect's run loop after which a fiber yields: a whole number from 3 (the default;
   * below it no fiber would make progress) to `Infinity` (fibers yield only where the program does). One operation, such as
   * the body of an `Effect.sync`, is never split.
   */
  readonly opsBeforeYield?: number
}

/** How finely fibers are interleaved, and how to stop a program that does not end. */
export interface RunOptions extends Options {
  /** Interrupts the program when it aborts; the exit is then an interruption. */
  readonly signal?: AbortSignal
}

/**
 * Number of operations after which a fiber has made progress: a resumed fiber needs one to wake up and one for a postponed
 * operation.
 */
const minOpsBeforeYield = 3

/**
 * Runs the program, with every step of every fiber chosen by `scheduler`, and returns its exit; a failure of the program
 * does not reject. Promises, timers, sockets and effects that the program runs with `Effect.run…` run outside of
 * `scheduler`, so a run is reproducible only without them, or with promises that need only microtasks. Fibers that outlive
 * the program remain pending tasks of `scheduler`, and `scheduler.waitIdle()` runs them. A fiber first yields after its
 * first operations; begin it with `Effect.yieldNow` if its start should be chosen, too.
 *
 * @throws RangeError when `opsBeforeYield` is below 3.
 *
 * @example
 * ```ts
 * fc.asyncProperty(scheduler(), async (order) => {
 *   const exit = await run(order, Effect.all([increment, increment], { concurrency: "unbounded" }))
 *   return Exit.isSuccess(exit)
 * })
 * ```
 */
export const run = <A, E>(
  scheduler: fc.Scheduler,
  effect: Effect.Effect<A, E>,
  options: RunOptions = {}
): Promise<Exit.Exit<A, E>> => {
  const { signal, ...closely } = options
  const releasing = new Releasing(scheduler, closely)
  signal?.addEventListener("abort", () => releasing.release())
  const exit = Effect.runPromiseExit(effect, {
    scheduler: releasing,
    ...(signal === undefined ? {} : { signal })
  })
  // Also waits for later tasks. The event loop turns before each choice, so that everything that microtasks can
  // bring about is among the choices then, and a fiber that polls in circles cannot keep timers and sockets
  // from being served.
  const ended = scheduler.waitFor(exit, async (runNext) => {
    await setImmediate()
    await runNext()
  })
  return ended.finally(() => releasing.release())
}

/**
 * An Effect scheduler on top of fast-check's, for programs that are not started by `run`. The caller must also drain
 * `scheduler`.
 *
 * fast-check chooses among fibers. The tasks of one fiber (the children that it forks, itself) keep the order
 * that Effect's `SchedulerDispatcher` promises: by priority, then first in, first out.
 */
export const make = (scheduler: fc.Scheduler, options: Options = {}): EffectScheduler.Scheduler => {
  const opsBeforeYield = options.opsBeforeYield ?? minOpsBeforeYield
  if (!(opsBeforeYield >= minOpsBeforeYield)) {
    throw new RangeError(`opsBeforeYield must be ${minOpsBeforeYield} or more, not ${opsBeforeYield}`)
  }
  // Every scheduler numbers its fibers from 1: Effect's numbers continue from run to run, so that a replay would
  // read differently.
  let fibers = 0
  return {
    executionMode: "async",
    shouldYield: (fiber) => fiber.currentOpCount >= opsBeforeYield,
    makeDispatcher: () => new Dispatcher(scheduler, `fiber ${++fibers}`)
  }
}

interface Task {
  readonly run: () => void
  readonly priority: number
}

/** The tasks of one fiber. fast-check has one ticket for each task; a ticket runs the first task in the queue. */
class Dispatcher implements EffectScheduler.SchedulerDispatcher {
  readonly #scheduler: fc.Scheduler
  readonly #label: string
  readonly #tasks: Array<Task> = []

  constructor(scheduler: fc.Scheduler, label: string) {
    this.#scheduler = scheduler
    this.#label = label
  }

  scheduleTask(run: () => void, priority: number): void {
    const later = this.#tasks.findIndex((task) => task.priority > priority)
    this.#tasks.splice(later === -1 ? this.#tasks.length : later, 0, { run, priority })
    // A sequence of one: unlike a scheduled promise, its body runs at the very moment of the choice.
    this.#scheduler.scheduleSequence([{ builder: async () => this.#runFirst(), label: this.#label }])
  }

  /** The remaining tickets have no effect. */
  flush(): void {
    while (this.#tasks.length > 0) this.#runFirst()
  }

  #runFirst(): void {
    this.#tasks.shift()?.run()
  }
}

/** Lets fast-check choose among fibers until they are released; then works like Effect's own scheduler. */
class Releasing implements EffectScheduler.Scheduler {
  readonly executionMode = "async"
  readonly #turns: fc.Scheduler
  readonly #closely: EffectScheduler.Scheduler
  readonly #freely = new EffectScheduler.MixedScheduler()
  #isReleased = false

  constructor(turns: fc.Scheduler, options: Options) {
    this.#turns = turns
    this.#closely = make(turns, options)
  }

  #now(): EffectScheduler.Scheduler {
    return this.#isReleased ? this.#freely : this.#closely
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    return this.#now().shouldYield(fiber)
  }

  makeDispatcher(): EffectScheduler.SchedulerDispatcher {
    const closely = this.#closely.makeDispatcher()
    const freely = this.#freely.makeDispatcher()
    return {
      scheduleTask: (task, priority) => (this.#isReleased ? freely : closely).scheduleTask(task, priority),
      flush: () => {
        closely.flush()
        freely.flush()
      }
    }
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    void this.#turns.waitIdle()
  }
}
