import * as Effect from "effect/Effect"
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
  return Effect.flatten(Effect.promise((signal) => Interleaving.run(turns, program, { signal })))
}

/** What chooses the turns; it has no smaller values. */
export const seed: fc.Arbitrary<number> = fc.noShrink(fc.integer())
