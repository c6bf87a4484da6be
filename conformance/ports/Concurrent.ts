/** Runs the calls of several clients at the same time. */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as Interleaving from "../linearizability/Interleaving.ts"

/** Runs clients; `order` is a seed for the order of their steps, null for the order of the runtime. */
export const run = (
  clients: ReadonlyArray<ReadonlyArray<Effect.Effect<void>>>,
  order: number | null
): Effect.Effect<void> => {
  const program = Effect.forEach(
    clients,
    (calls, who) => Effect.forEach(calls, (call) => Effect.andThen(pause(who), call), { discard: true }),
    { concurrency: "unbounded", discard: true }
  )
  return order === null ? program : interleaved(order, program)
}

/** Yields, and then runs as many steps as the number of the client, so that an interleaving splits calls differently. */
const pause = (who: number): Effect.Effect<void> => {
  const steps = Array.from({ length: who }, () => Effect.void)
  return Effect.andThen(Effect.yieldNow, Effect.all(steps, { discard: true }))
}

/** Runs a program with its fibers interleaved step by step; the same seed gives the same order. */
const interleaved = <A, E>(seed: number, program: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const [scheduler] = fc.sample(fc.scheduler(), { seed, numRuns: 1 })
  if (scheduler === undefined) return Effect.die(new Error("fast-check returned no sample"))
  return Effect.flatten(Effect.promise((signal) => Interleaving.run(scheduler, program, { signal })))
}
