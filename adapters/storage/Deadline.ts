/**
 * Shares one timer among all calls with the same timeout. This takes 0.06–0.2 µs of CPU time per call; a sleeping fiber
 * per call would take 1.3–2.7 µs, and a request makes up to three calls
 * (docs/decisions/speed.md#constructs-that-stay-for-speed).
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { LinkedQueue } from "./LinkedQueue.ts"

/**
 * Calls `expire` at the deadline, measured with the clock of `fiber`, unless the returned function is called first. No
 * timer runs while no call waits.
 */
export type Deadline = (fiber: Fiber.Fiber<unknown, unknown>, expire: () => void) => () => void

interface Waiting {
  /** Monotonic time in nanoseconds. */
  readonly dueAt: bigint
  readonly expire: () => void
}

const NANOS_PER_MS = 1_000_000

/** Creates deadlines that are `timeoutMs` milliseconds after their start. */
export const make = (timeoutMs: number): Deadline => {
  const timeoutNanos = BigInt(Math.ceil(timeoutMs * NANOS_PER_MS))
  // Ordered by deadline.
  const waiting = new LinkedQueue<Waiting>()
  let watcher: Fiber.Fiber<void> | undefined

  const watch = (clock: Clock.Clock): Effect.Effect<void> =>
    Effect.suspend(() => {
      for (let next = waiting.first; next !== undefined; next = waiting.first) {
        const remainingNanos = Number(next.dueAt - clock.monotonicTimeNanosUnsafe())
        if (remainingNanos > 0) {
          return Effect.andThen(Effect.sleep(Math.ceil(remainingNanos / NANOS_PER_MS)), watch(clock))
        }
        waiting.shift()
        next.expire()
      }
      watcher = undefined
      return Effect.void
    })

  return (fiber, expire) => {
    const clock = fiber.getRef(Clock.Clock)
    const place = waiting.add({ dueAt: clock.monotonicTimeNanosUnsafe() + timeoutNanos, expire })
    if (watcher === undefined) {
      // Forked with a separate context, because the watcher also serves later callers with other annotations and spans.
      const started = Effect.runForkWith(Context.make(Clock.Clock, clock))(watch(clock))
      // The watcher has already ended if the deadline has passed.
      if (started.pollUnsafe() === undefined) watcher = started
    }
    return () => {
      if (!waiting.remove(place) || waiting.size > 0) return
      watcher?.interruptUnsafe()
      watcher = undefined
    }
  }
}
