/** Interleaves the fibers of a program step by step, in an order that a seed reproduces, so that races show. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"

/**
 * Number of consecutive operations of Effect's run loop after which a fiber yields. With fewer, no fiber would make
 * progress: a resumed fiber uses one operation to wake up and one to run what it postponed when it yielded.
 */
const OPS_BEFORE_YIELD = 3

/**
 * Runs the program, also the fibers that outlive it; the seed chooses which fiber runs next. One operation, such as the
 * body of an `Effect.sync`, is never split.
 *
 * Promises, timers, sockets and effects that the program runs with `Effect.run…` run outside of this order. A run is
 * reproducible only without them; promises that need only microtasks are an exception. To let the seed also choose when
 * a fiber starts, begin the fiber with `Effect.yieldNow`.
 */
export const run = <A, E, R>(seed: number, program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Random.withSeed(Random.Random, String(seed)), (random) =>
    program.pipe(
      Effect.provideService(Scheduler.MaxOpsBeforeYield, OPS_BEFORE_YIELD),
      Effect.provideService(
        Scheduler.Scheduler,
        new Scheduler.MixedScheduler(
          "async",
          shuffling(() => random.nextDoubleUnsafe())
        )
      )
    )
  )

/** Creates a `setImmediate` that runs one task in each turn of the event loop; `draw` chooses which. */
const shuffling = (draw: () => number): ((task: () => void) => () => void) => {
  let waiting: Array<() => void> = []
  const runOne = (): void => {
    const [task] = waiting.splice(Math.floor(draw() * waiting.length), 1)
    if (waiting.length > 0) setImmediate(runOne)
    task?.()
  }
  return (task) => {
    if (waiting.push(task) === 1) setImmediate(runOne)
    return () => {
      waiting = waiting.filter((other) => other !== task)
    }
  }
}
