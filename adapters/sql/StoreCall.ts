/** How a store asks its database: in bounded time, and with one kind of error. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Deadline from "./Deadline.ts"

/** Runs a statement or a transaction for a port; fails with `StoreUnavailable` and nothing else. */
export type StoreCall = <A>(query: Effect.Effect<A, SqlError>) => Effect.Effect<A, StoreUnavailable>

/**
 * Calls that are given up after `timeoutMs` milliseconds. The answer does not wait for the query to stop: a driver
 * may need long to take back what a silent server never answers.
 */
export const make = (timeoutMs: number): StoreCall => {
  const deadline = Deadline.make(timeoutMs)
  const late = new StoreUnavailable({
    retryable: true,
    cause: new Error(`the database did not answer within ${timeoutMs} ms`)
  })
  const answerInTime = <A>(query: Fiber.Fiber<A, SqlError>): Effect.Effect<A, StoreUnavailable> =>
    Effect.withFiber((caller) =>
      Effect.callback((resume) => {
        let unobserve = (): void => {}
        const inTime = deadline(caller, () => {
          unobserve()
          query.interruptUnsafe()
          resume(Effect.fail(late))
        })
        // Called at once where the query has ended meanwhile.
        unobserve = query.addObserver((end) => {
          inTime()
          resume(answerOf(end))
        })
        return Effect.sync(() => {
          inTime()
          unobserve()
        })
      })
    )
  return (query) =>
    // Nobody is interrupted between starting a query and waiting for it: it would go on without them.
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDetach(query, { startImmediately: true }), (fiber) => {
        const done = fiber.pollUnsafe()
        // Databases in this process answer at once and need no timer.
        if (done !== undefined) return answerOf(done)
        return Effect.onInterrupt(restore(answerInTime(fiber)), () =>
          Effect.sync(() => fiber.interruptUnsafe())
        )
      })
    )
}

/** A client that is closed interrupts its queries, but not those who asked. */
export const answerOf = <A>(end: Exit.Exit<A, SqlError>): Effect.Effect<A, StoreUnavailable> =>
  Exit.isFailure(end) && Cause.hasInterruptsOnly(end.cause)
    ? Effect.fail(new StoreUnavailable({ retryable: true, cause: new Error("the database was closed") }))
    : Effect.mapErrorEager(end, unavailable)

const unavailable = (error: SqlError): StoreUnavailable =>
  new StoreUnavailable({ retryable: error.isRetryable, cause: error })
