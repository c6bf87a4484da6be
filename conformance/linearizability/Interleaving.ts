/**
 * Runs an Effect program with fast-check as the scheduler of its fibers. A store with a race fails in some of the
 * orders that fast-check tries. The seed and path of the failure reproduce that order.
 */
import { setImmediate } from "node:timers/promises"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as EffectScheduler from "effect/Scheduler"
import * as fc from "fast-check"

/**
 * Generates schedulers with arbitrary orders, for `run`. They do not shrink.
 *
 * Use it instead of `fc.scheduler()`. In fast-check 4.10, all copies of such a scheduler share one source of choices.
 * If another argument of the property shrinks, the seed and path of a failure may then reproduce a different order, or
 * no failure.
 */
export const scheduler = (): fc.Arbitrary<fc.Scheduler> =>
  fc.noBias(fc.noShrink(fc.integer())).map(schedulerOf)

/** Creates a scheduler whose copies all make the same choices. */
export const schedulerOf = (seed: number): fc.Scheduler => {
  const [sample] = fc.sample(fc.scheduler(), { seed, numRuns: 1 })
  if (sample === undefined) throw new Error("fast-check returned no sample")
  return Object.assign(sample, { [fc.cloneMethod]: () => schedulerOf(seed) })
}

/** How finely fibers are interleaved. */
export interface Options {
  /**
   * Number of consecutive operations of Effect's run loop after which a fiber yields. The default and minimum is 3;
   * with a lower number, no fiber would make progress. With `Infinity`, fibers yield only where the program does. One
   * operation, such as the body of an `Effect.sync`, is never split.
   */
  readonly opsBeforeYield?: number
}

/** How finely fibers are interleaved, and how to stop a program that does not end. */
export interface RunOptions extends Options {
  /** Interrupts the program when the signal aborts; the exit is then an interruption. */
  readonly signal?: AbortSignal
}

/**
 * Minimum number of operations with which a fiber makes progress. A resumed fiber uses one operation to wake up and one
 * to run what it postponed when it yielded; the third may yield again.
 */
const minOpsBeforeYield = 3

/**
 * Runs the program and returns its exit; `scheduler` chooses which fiber runs next. A failure of the program does not
 * reject the promise.
 *
 * Promises, timers, sockets and effects that the program runs with `Effect.run…` run outside of `scheduler`. A run is
 * reproducible only without them; promises that need only microtasks are an exception.
 *
 * Fibers that outlive the program remain pending tasks of `scheduler`; `scheduler.waitIdle()` runs them.
 *
 * A fiber yields only after its first operations. To let the scheduler also choose when a fiber starts, begin the fiber
 * with `Effect.yieldNow`.
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
  const { signal, ...interleaving } = options
  const releasable = new ReleasableScheduler(scheduler, interleaving)
  signal?.addEventListener("abort", () => releasable.release())
  const exit = Effect.runPromiseExit(effect, {
    scheduler: releasable,
    ...(signal === undefined ? {} : { signal })
  })
  // `waitFor` also runs tasks that are scheduled later. `setImmediate` lets the event loop run before each choice.
  // Tasks that microtasks schedule are then among the choices, and a polling fiber does not block timers and sockets.
  const ended = scheduler.waitFor(exit, async (runNext) => {
    await setImmediate()
    await runNext()
  })
  return ended.finally(() => releasable.release())
}

/**
 * Creates an Effect scheduler on top of fast-check's, for programs that `run` does not start. The caller must also
 * drain `scheduler`.
 *
 * fast-check chooses among fibers. The tasks of one fiber (its own, and the starts of its children) keep the order that
 * Effect's `SchedulerDispatcher` promises: by priority, then first in, first out.
 */
export const make = (scheduler: fc.Scheduler, options: Options = {}): EffectScheduler.Scheduler => {
  const opsBeforeYield = options.opsBeforeYield ?? minOpsBeforeYield
  if (!(opsBeforeYield >= minOpsBeforeYield)) {
    throw new RangeError(`opsBeforeYield must be ${minOpsBeforeYield} or more, not ${opsBeforeYield}`)
  }
  // Every scheduler numbers its fibers from 1. Effect's own numbers continue across runs, so with them the report of a
  // replay would differ.
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

/** The queue of one fiber's tasks. fast-check has one ticket for each task; a ticket runs the first in the queue. */
class Dispatcher implements EffectScheduler.SchedulerDispatcher {
  readonly #scheduler: fc.Scheduler
  readonly #label: string
  readonly #tasks: Array<Task> = []

  constructor(scheduler: fc.Scheduler, label: string) {
    this.#scheduler = scheduler
    this.#label = label
  }

  scheduleTask(run: () => void, priority: number): void {
    const position = this.#tasks.findIndex((task) => task.priority > priority)
    this.#tasks.splice(position === -1 ? this.#tasks.length : position, 0, { run, priority })
    // A sequence of one item runs its body synchronously when fast-check chooses it; a scheduled promise does not.
    this.#scheduler.scheduleSequence([{ builder: async () => this.#runFirst(), label: this.#label }])
  }

  /** Runs all tasks; the tickets that remain in fast-check then have no effect. */
  flush(): void {
    while (this.#tasks.length > 0) this.#runFirst()
  }

  #runFirst(): void {
    this.#tasks.shift()?.run()
  }
}

/** Lets fast-check choose among fibers until `release` is called; then works like Effect's own scheduler. */
class ReleasableScheduler implements EffectScheduler.Scheduler {
  readonly executionMode = "async"
  readonly #fastCheck: fc.Scheduler
  readonly #interleaving: EffectScheduler.Scheduler
  readonly #plain = new EffectScheduler.MixedScheduler()
  #isReleased = false

  constructor(fastCheck: fc.Scheduler, options: Options) {
    this.#fastCheck = fastCheck
    this.#interleaving = make(fastCheck, options)
  }

  #current(): EffectScheduler.Scheduler {
    return this.#isReleased ? this.#plain : this.#interleaving
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    return this.#current().shouldYield(fiber)
  }

  makeDispatcher(): EffectScheduler.SchedulerDispatcher {
    const interleaving = this.#interleaving.makeDispatcher()
    const plain = this.#plain.makeDispatcher()
    return {
      scheduleTask: (task, priority) =>
        (this.#isReleased ? plain : interleaving).scheduleTask(task, priority),
      flush: () => {
        interleaving.flush()
        plain.flush()
      }
    }
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    void this.#fastCheck.waitIdle()
  }
}
