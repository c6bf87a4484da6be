/** Calls at the same time: their history, an order that explains it, and interleavings that a number chooses. */
import { setImmediate } from "node:timers/promises"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as fc from "fast-check"
import { type Failure, Undecided, Violation } from "../../engine/Outcome.ts"
import * as Interleaving from "../../linearizability/Interleaving.ts"
import * as Linearizability from "../../linearizability/Linearizability.ts"

/** Writes down when calls began and ended, by counting these events. */
export class History<Input, Output> {
  readonly operations: Array<Linearizability.Operation<Input, Output>> = []
  #instant = 0

  /** The call, written down once it has answered. */
  record(client: number, input: Input, call: Effect.Effect<Output, Failure>): Effect.Effect<Output, Failure> {
    return Effect.suspend(() => {
      const invokedAt = this.#instant++
      return Effect.map(call, (output) => {
        this.operations.push({ client, input, invokedAt, completed: { at: this.#instant++, output } })
        return output
      })
    })
  }
}

/** Fails unless some order of the calls explains what they answered. */
export const explained = <State, Input, Output>(
  model: Linearizability.Model<State, Input, Output>,
  { operations }: History<Input, Output>
): Effect.Effect<void, Failure> => {
  const verdict = Linearizability.check(model, operations)
  if (verdict._tag === "Linearizable") return Effect.void
  if (verdict._tag === "Unknown") {
    return Effect.fail(
      new Undecided({
        reason: `no order of ${operations.length} calls was found in ${verdict.explored} states`
      })
    )
  }
  const show = model.show ?? ((input: Input, output: Output | undefined) => fc.stringify([input, output]))
  return Effect.fail(
    new Violation({
      expected: "answers that some order of the calls explains",
      actual: `none for ${verdict.stuck.map(({ completed, input }) => show(input, completed?.output)).join(" or ")}`
    })
  )
}

/** The programs of several clients, all under way at once; they give way before each call. */
export const atOnce = <A>(
  programs: ReadonlyArray<ReadonlyArray<(client: number) => Effect.Effect<A, Failure>>>
): Effect.Effect<void, Failure> =>
  Effect.forEach(
    programs,
    (calls, client) =>
      Effect.forEach(calls, (call) => Effect.andThen(Effect.yieldNow, call(client)), { discard: true }),
    { concurrency: "unbounded", discard: true }
  )

/**
 * Runs a program whose fibers take turns, closely and as `seed` chooses: the same seed, the same turns. Fibers that
 * outlive it, of a pool that opens one more connection for instance, go on by themselves: who closes the store waits
 * for them.
 */
export const interleaved = <A>(
  seed: number,
  program: Effect.Effect<A, Failure>
): Effect.Effect<A, Failure> => {
  const [turns] = fc.sample(fc.scheduler(), { seed, numRuns: 1 })
  if (turns === undefined) return Effect.die(new Error("one sample was asked for"))
  const run = async (signal: AbortSignal): Promise<Exit.Exit<A, Failure>> => {
    const scheduler = new Releasing(turns)
    signal.addEventListener("abort", () => scheduler.release())
    const exit = await turns.waitFor(Effect.runPromiseExit(program, { scheduler, signal }), async (next) => {
      // Whatever microtasks, timers and sockets can bring about is among the choices then.
      await setImmediate()
      await next()
    })
    scheduler.release()
    return exit
  }
  return Effect.flatten(Effect.promise(run))
}

/** Lets fast-check choose among fibers, until they are released: then it is the scheduler that Effect has anyway. */
class Releasing implements Scheduler.Scheduler {
  readonly executionMode = "async"
  readonly #turns: fc.Scheduler
  readonly #closely: Scheduler.Scheduler
  readonly #freely = new Scheduler.MixedScheduler()
  #isReleased = false

  constructor(turns: fc.Scheduler) {
    this.#turns = turns
    this.#closely = Interleaving.make(turns)
  }

  #now(): Scheduler.Scheduler {
    return this.#isReleased ? this.#freely : this.#closely
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    return this.#now().shouldYield(fiber)
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
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

/** What chooses the turns; it has no smaller values. */
export const seed: fc.Arbitrary<number> = fc.noShrink(fc.integer())
