/**
 * Runs an Effect program so that fast-check decides which fiber goes on next. A store whose steps do not
 * exclude each other shows its races in some of the orders tried; the seed and path of the failure bring that
 * order back.
 */
import { setImmediate } from "node:timers/promises"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as EffectScheduler from "effect/Scheduler"
import * as fc from "fast-check"

/**
 * Any order, for `run`. Use it rather than `fc.scheduler()`, whose copies (fast-check 4.10) draw their
 * choices from one source, each going on where another stopped: next to an argument that shrinks, a failure
 * may come back with another order from its seed and path, or not at all. Does not shrink.
 */
export const scheduler = (): fc.Arbitrary<fc.Scheduler> =>
  fc.noBias(fc.noShrink(fc.integer())).map(schedulerOf)

/** Every copy chooses as the first one does. */
const schedulerOf = (seed: number): fc.Scheduler => {
  const [one] = fc.sample(fc.scheduler(), { seed, numRuns: 1 })
  if (one === undefined) throw new Error("One sample was asked for and none was given")
  return Object.assign(one, { [fc.cloneMethod]: () => schedulerOf(seed) })
}

/** How closely fibers are interleaved. */
export interface Options {
  /**
   * Operations of Effect's run loop that a fiber may make in a row before it must give way, as a whole number
   * from 3 (also the default: below it no fiber would get anywhere) to `Infinity` (only where the program
   * itself yields). What one operation does, say the body of an `Effect.sync`, is never split.
   */
  readonly opsBeforeYield?: number
}

/** How closely fibers are interleaved, and how to end a program that does not end by itself. */
export interface RunOptions extends Options {
  /** Interrupts the program when it aborts; the exit then tells so. */
  readonly signal?: AbortSignal
}

/**
 * Operations after which a fiber has made progress: a resumed fiber spends one on waking up and one on what
 * it had put off.
 */
const minOpsBeforeYield = 3

/**
 * Runs the program with every step of every fiber chosen by `scheduler`, and answers how it ended; never
 * rejects for a failure of the program. Promises, timers and sockets that the program waits for run outside,
 * at their own pace, and so does what it starts with an `Effect.run…` of its own: its fibers come back when
 * they do, and only programs without them (or with promises that need no more than microtasks) run the same
 * way again. Fibers that outlive the program stay where they are, as pending tasks of `scheduler`;
 * `scheduler.waitIdle()` runs them. A fiber starts to give way only after its first operations: to have its
 * start chosen, too, let it begin with `Effect.yieldNow`.
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
  // Waits for tasks that come later, too. The event loop turns before each choice: whatever microtasks can
  // bring about is among the choices then, and a fiber that polls in circles cannot keep timers and sockets
  // from being served.
  const ended = scheduler.waitFor(exit, async (runNext) => {
    await setImmediate()
    await runNext()
  })
  return ended.finally(() => releasing.release())
}

/**
 * Effect's scheduler as a face of fast-check's, for programs that are started in another way than by `run`:
 * whoever starts them must also drain `scheduler`.
 *
 * fast-check chooses among fibers. The tasks of one fiber (the children that it forks, itself) keep the order
 * that Effect's `SchedulerDispatcher` promises: by priority, then first in, first out.
 */
export const make = (scheduler: fc.Scheduler, options: Options = {}): EffectScheduler.Scheduler => {
  const opsBeforeYield = options.opsBeforeYield ?? minOpsBeforeYield
  if (!(opsBeforeYield >= minOpsBeforeYield)) {
    throw new RangeError(`opsBeforeYield must be ${minOpsBeforeYield} or more, not ${opsBeforeYield}`)
  }
  // Fibers are numbered anew by every scheduler: their own numbers go on from run to run, and a replay would
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

/** The tasks of one fiber. fast-check holds one ticket for each, and a ticket runs whichever is first. */
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

  /** Leaves tickets behind that find nothing to do. */
  flush(): void {
    while (this.#tasks.length > 0) this.#runFirst()
  }

  #runFirst(): void {
    this.#tasks.shift()?.run()
  }
}

/** Lets fast-check choose among fibers, until they are released: then it is the scheduler that Effect has anyway. */
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
