/** Runs calls to a database driver with a timeout; they fail only with `StoreUnavailable`. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Deadline from "./Deadline.ts"

/** Runs calls to a driver whose errors have type `E`. */
export interface BoundedCall<E> {
  /** Runs a query. */
  readonly run: <A>(query: Effect.Effect<A, E>) => Effect.Effect<A, StoreUnavailable>
  /** Submits work that reports its result to a callback; creates no fiber for it. */
  readonly submit: <A>(work: Submit<A, E>) => Effect.Effect<A, StoreUnavailable>
  /** Converts the exit of a query that has already ended. */
  readonly result: <A>(exit: Exit.Exit<A, E>) => Effect.Effect<A, StoreUnavailable>
}

/** Starts work that calls `done` once, and returns a function that cancels it. */
export type Submit<A, E> = (done: (exit: Exit.Exit<A, E>) => void) => () => void

/**
 * Creates calls with a timeout of `timeoutMs` milliseconds. After a timeout, a call fails without waiting for the query
 * to stop, because a driver may take a long time to cancel it. `convert` converts the errors of the driver.
 */
export const make = <E>(
  timeoutMs: number,
  convert: (error: E) => Effect.Effect<never, StoreUnavailable>
): BoundedCall<E> => {
  const deadline = Deadline.make(timeoutMs)
  const timedOut = Exit.fail(
    new StoreUnavailable({
      retryable: true,
      cause: new Error(`the database did not respond within ${timeoutMs} ms`)
    })
  )

  // A client that closes interrupts its queries, but not the fibers that wait for their results.
  const result = <A>(exit: Exit.Exit<A, E>): Effect.Effect<A, StoreUnavailable> =>
    Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? closed : Effect.catch(exit, convert)

  const submit = <A>(work: Submit<A, E>): Effect.Effect<A, StoreUnavailable> =>
    Effect.withFiber((caller) =>
      Effect.callback((resume) => {
        let isDone = false
        let cancelDeadline = (): void => {}
        const cancel = work((exit) => {
          isDone = true
          cancelDeadline()
          resume(result(exit))
        })
        // The deadline starts after the work, because a deadline in the past cancels the work immediately.
        if (!isDone) {
          cancelDeadline = deadline(caller, () => {
            cancel()
            resume(timedOut)
          })
        }
        return Effect.sync(() => {
          cancelDeadline()
          cancel()
        })
      })
    )

  const run = <A>(query: Effect.Effect<A, E>): Effect.Effect<A, StoreUnavailable> =>
    // Without the mask, an interruption between the start of the query and the wait would leave the query running.
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDetach(query, { startImmediately: true }), (fiber) => {
        const exit = fiber.pollUnsafe()
        // Queries to an embedded database complete synchronously and need no deadline.
        if (exit !== undefined) return result(exit)
        const interrupt = () => fiber.interruptUnsafe()
        const awaited = submit<A>((done) => {
          const unobserve = fiber.addObserver(done)
          return () => {
            unobserve()
            interrupt()
          }
        })
        return Effect.onInterrupt(restore(awaited), () => Effect.sync(interrupt))
      })
    )

  return { run, submit, result }
}

const closed = Effect.fail(
  new StoreUnavailable({ retryable: true, cause: new Error("the database was closed") })
)
