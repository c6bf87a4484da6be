/** One timer for all calls that are given the same time: one for each, and its fibers, would cost more than a statement. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/**
 * Calls `expire` when the time is over, by the clock of `fiber`, unless what it answers with is called before. While
 * nobody waits there is no timer.
 */
export type Deadline = (fiber: Fiber.Fiber<unknown, unknown>, expire: () => void) => () => void

interface Waiting {
  /** By the monotonic clock. */
  readonly dueAt: bigint
  readonly expire: () => void
}

const NANOS_PER_MS = 1_000_000

/** Deadlines that are `timeoutMs` milliseconds away when they are set. */
export const make = (timeoutMs: number): Deadline => {
  const timeoutNanos = BigInt(Math.ceil(timeoutMs * NANOS_PER_MS))
  // In the order in which they are due.
  const waiting = new Set<Waiting>()
  let watcher: Fiber.Fiber<void> | undefined

  const watch = (clock: Clock.Clock): Effect.Effect<void> =>
    Effect.suspend(() => {
      for (const next of waiting) {
        const left = Number(next.dueAt - clock.monotonicTimeNanosUnsafe())
        if (left > 0) return Effect.andThen(Effect.sleep(Math.ceil(left / NANOS_PER_MS)), watch(clock))
        waiting.delete(next)
        next.expire()
      }
      watcher = undefined
      return Effect.void
    })

  return (fiber, expire) => {
    const clock = fiber.getRef(Clock.Clock)
    const own: Waiting = { dueAt: clock.monotonicTimeNanosUnsafe() + timeoutNanos, expire }
    waiting.add(own)
    if (watcher === undefined) {
      const begun = Effect.runForkWith(fiber.context)(watch(clock))
      // Over already where the time has passed meanwhile.
      if (begun.pollUnsafe() === undefined) watcher = begun
    }
    return () => {
      if (!waiting.delete(own) || waiting.size > 0) return
      watcher?.interruptUnsafe()
      watcher = undefined
    }
  }
}
