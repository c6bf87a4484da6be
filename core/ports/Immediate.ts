/**
 * Effects that need not wait: what ports answer with where all they need is in memory. They are effects like all others,
 * and besides `start` carries them out without a fiber, which would be a tenth of the CPU that a request takes.
 */
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import * as Exit from "effect/Exit"

/** An effect of which as much as can be done without waiting is one function. */
export class Immediate<out A, out E = never> extends Effectable.Class<A, E> {
  /** Does what can be done at once: an `Exit` when that is all, else the effect of the rest. */
  readonly begin: () => Effect.Effect<A, E>

  constructor(begin: () => Effect.Effect<A, E>) {
    super()
    this.begin = begin
  }

  override asEffect(): Effect.Effect<A, E> {
    return this.begin()
  }
}

/** An effect that computes a value, as `Effect.sync` does. */
export const sync = <A>(compute: () => A): Immediate<A> => new Immediate(() => Effect.succeed(compute()))

/**
 * Does what of an effect can be done at once, and answers with its `Exit` or with what is left of it, which is to be run
 * at once and only once. What is thrown meanwhile is a defect.
 *
 * @example
 * ```ts
 * start(sync(() => 7)) // Exit.succeed(7)
 * start(Effect.sleep(100)) // Effect.sleep(100)
 * ```
 */
export const start = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  let left = effect
  try {
    while (left instanceof Immediate) left = left.begin()
    return left
  } catch (defect) {
    return Effect.die(defect)
  }
}

/** Goes on with the value of an effect, at once where that is there at once. */
export const flatMap = <A, E, B, E2>(
  effect: Effect.Effect<A, E>,
  next: (value: A) => Effect.Effect<B, E2>
): Immediate<B, E | E2> => new Immediate(() => Effect.flatMapEager(start(effect), next))

/** Makes another value of an effect's, at once where that is there at once. */
export const map = <A, E, B>(effect: Effect.Effect<A, E>, change: (value: A) => B): Immediate<B, E> =>
  new Immediate(() => Effect.mapEager(start(effect), change))

/** Whether what `start` answered with is all there is to it. */
export const isDone = <A, E, R>(effect: Effect.Effect<A, E, R>): effect is Exit.Exit<A, E> =>
  Exit.isExit(effect)
