/** Runs many calls in sequence in one fiber, so that a benchmark does not measure the start of fibers. */
import * as Effect from "effect/Effect"
import { do_not_optimize } from "mitata"

/** Runs `call(0)` to `call(count - 1)` and uses their results, so that V8 cannot optimize a call away. */
export const times = <E, R>(
  count: number,
  call: (index: number) => Effect.Effect<unknown, E, R>
): Effect.Effect<void, E, R> =>
  Effect.suspend(() => {
    let index = 0
    return Effect.whileLoop({
      while: () => index < count,
      body: () => call(index++),
      step: do_not_optimize
    })
  })
