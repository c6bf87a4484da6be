/** Draws from tables of values. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Draws one of the values; all are equally likely. */
export const one = <A>(values: ReadonlyArray<A>): Effect.Effect<A> => Effect.orDie(Random.choice(values))

/** Draws some of the values, in random order. */
export const some = <A>(values: Iterable<A>, count: number): Effect.Effect<ReadonlyArray<A>> =>
  Effect.map(Random.shuffle(values), (shuffled) => shuffled.slice(0, count))

/** Draws a function that draws values by random weights, so that each run prefers other values. */
export const swarm = <A>(values: ReadonlyArray<A>): Effect.Effect<Effect.Effect<A>> =>
  Effect.map(
    Effect.forEach(values, (value) =>
      Effect.map(Random.next, (share) => Array.from({ length: Math.ceil(100 * share ** 3) }, () => value))
    ),
    (copies) => one(copies.flat())
  )
