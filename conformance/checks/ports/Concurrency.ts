/** Runs concurrent, interleaved and interrupted calls, for laws of storage ports. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as fc from "fast-check"
import { type Failure, Undecided, Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import * as Interleaving from "../../linearizability/Interleaving.ts"
import * as Linearizability from "../../linearizability/Linearizability.ts"

/** Records the order in which calls start and end. */
export class History<Input, Output> {
  readonly operations: Array<Linearizability.Operation<Input, Output>> = []
  #instant = 0

  /** Runs a call and records it when it succeeds. */
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

/** Fails unless the history is linearizable. */
export const expectLinearizable = <State, Input, Output>(
  model: Linearizability.Model<State, Input, Output>,
  { operations }: History<Input, Output>
): Effect.Effect<void, Failure> => {
  const verdict = Linearizability.check(model, operations)
  if (verdict._tag === "Linearizable") return Effect.void
  if (verdict._tag === "Unknown") {
    return Effect.fail(
      new Undecided({
        reason: `no verdict on ${operations.length} calls after ${verdict.explored} states`
      })
    )
  }
  const show = model.show ?? ((input: Input, output: Output | undefined) => fc.stringify([input, output]))
  return Effect.fail(
    new Violation({
      expected: "results that some order of the calls explains",
      actual: `no order of the calls explains ${verdict.stuck.map(({ completed, input }) => show(input, completed?.output)).join(" or ")}`
    })
  )
}

/** Runs the programs of several clients concurrently; each yields before every call. */
export const runConcurrently = <A>(
  programs: ReadonlyArray<ReadonlyArray<(client: number) => Effect.Effect<A, Failure>>>
): Effect.Effect<void, Failure> =>
  Effect.forEach(
    programs,
    (calls, client) =>
      Effect.forEach(calls, (call) => Effect.andThen(Effect.yieldNow, call(client)), { discard: true }),
    { concurrency: "unbounded", discard: true }
  )

/**
 * Runs a program with its fibers interleaved step by step; the same seed gives the same order. Fibers that outlive the
 * program, such as one that opens a pool connection, keep running; closing the store waits for them.
 */
export const runInterleaved = <A>(
  seed: number,
  program: Effect.Effect<A, Failure>
): Effect.Effect<A, Failure> => {
  const [scheduler] = fc.sample(fc.scheduler(), { seed, numRuns: 1 })
  if (scheduler === undefined) return Effect.die(new Error("fast-check returned no sample"))
  return Effect.flatten(Effect.promise((signal) => Interleaving.run(scheduler, program, { signal })))
}

/** Generates a seed for `runInterleaved`. Not shrunk: smaller seeds are not simpler. */
export const seed: fc.Arbitrary<number> = fc.noShrink(fc.integer())

/** A call that is interrupted after `turns` turns of its fiber, while `concurrentCalls` other calls complete. */
export interface Interruption {
  readonly turns: number
  readonly concurrentCalls: number
}

/** Interruptions that run in sequence; `seed` determines how fibers interleave. */
export interface Interruptions {
  readonly seed: number
  readonly rounds: ReadonlyArray<Interruption>
}

/** Starts a call and interrupts it after `turns` turns of its fiber; records and returns its exit. */
export const interrupt = Effect.fnUntraced(function* <A, E>(
  call: Effect.Effect<A, E>,
  turns: number,
  action: string,
  show: (result: A) => string,
  trial: Trial
): Effect.fn.Return<Exit.Exit<A, E>> {
  const fiber = yield* Effect.forkChild(call)
  for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
  yield* Fiber.interrupt(fiber)
  const exit = yield* Fiber.await(fiber)
  const got = Exit.isSuccess(exit) ? show(exit.value) : (Cause.pretty(exit.cause).split("\n")[0] ?? "")
  trial.record({ did: `${action}, interrupted after ${turns} turns`, got })
  return exit
})

/** Interruptions that are early, late, or between other calls. */
export const interruptionExamples: ReadonlyArray<Interruptions> = [
  ...[1, 2].map((seed) => ({
    seed,
    rounds: [0, 1, 2, 3, 4, 6].map((turns) => ({ turns, concurrentCalls: 0 }))
  })),
  ...[3, 4].map((seed) => ({
    seed,
    rounds: [0, 4, 8, 16, 32].map((turns) => ({ turns, concurrentCalls: 2 }))
  }))
]

export const interruptions: fc.Arbitrary<Interruptions> = fc.record({
  seed,
  rounds: fc.array(fc.record({ turns: fc.oneof(fc.nat(8), fc.nat(40)), concurrentCalls: fc.nat(2) }), {
    minLength: 1,
    maxLength: 5
  })
})
