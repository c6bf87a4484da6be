/** Many calls in sequence within one fiber, so that the start of fibers is not measured. */
import * as Effect from "effect/Effect"
import { do_not_optimize } from "mitata"

/** `call(0)` to `call(count - 1)`; their results are used, so that V8 cannot remove a call. */
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
