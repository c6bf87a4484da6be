/** How a store asks its database: in bounded time, and with one kind of error. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Deadline from "./Deadline.ts"

/** What a database is asked for a port; it fails with `StoreUnavailable` and nothing else. */
export interface StoreCall {
  /** Runs a statement or a transaction. */
  readonly run: <A>(query: Effect.Effect<A, SqlError>) => Effect.Effect<A, StoreUnavailable>
  /** Asks what answers by itself, which spares a fiber. `question` returns what withdraws it. */
  readonly ask: <A>(question: Question<A>) => Effect.Effect<A, StoreUnavailable>
}

type Question<A> = (answer: (end: Exit.Exit<A, SqlError>) => void) => () => void

/**
 * Calls that are given up after `timeoutMs` milliseconds. The answer does not wait for the query to stop: a driver
 * may need long to take back what a silent server never answers.
 */
export const make = (timeoutMs: number): StoreCall => {
  const deadline = Deadline.make(timeoutMs)
  const late = Exit.fail(
    new StoreUnavailable({
      retryable: true,
      cause: new Error(`the database did not answer within ${timeoutMs} ms`)
    })
  )
  const ask = <A>(question: Question<A>): Effect.Effect<A, StoreUnavailable> =>
    Effect.withFiber((caller) =>
      Effect.callback((resume) => {
        let isAnswered = false
        let inTime = (): void => {}
        const withdraw = question((end) => {
          isAnswered = true
          inTime()
          resume(answerOf(end))
        })
        // After the question: a deadline may have passed before it is looked at, and there must be something to withdraw.
        if (!isAnswered) {
          inTime = deadline(caller, () => {
            withdraw()
            resume(late)
          })
        }
        return Effect.sync(() => {
          inTime()
          withdraw()
        })
      })
    )
  const run = <A>(query: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreUnavailable> =>
    // Nobody is interrupted between starting a query and waiting for it: it would go on without them.
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDetach(query, { startImmediately: true }), (fiber) => {
        const done = fiber.pollUnsafe()
        // Databases in this process answer at once and need no timer.
        if (done !== undefined) return answerOf(done)
        const interrupt = () => fiber.interruptUnsafe()
        const end = ask<A>((answer) => {
          const unobserve = fiber.addObserver(answer)
          return () => {
            unobserve()
            interrupt()
          }
        })
        return Effect.onInterrupt(restore(end), () => Effect.sync(interrupt))
      })
    )
  return { ask, run }
}

/** A client that is closed interrupts its queries, but not those who asked. */
export const answerOf = <A>(end: Exit.Exit<A, SqlError>): Effect.Effect<A, StoreUnavailable> =>
  Exit.isFailure(end) && Cause.hasInterruptsOnly(end.cause)
    ? Effect.fail(new StoreUnavailable({ retryable: true, cause: new Error("the database was closed") }))
    : Effect.mapErrorEager(end, unavailable)

const unavailable = (error: SqlError): StoreUnavailable =>
  new StoreUnavailable({ retryable: error.isRetryable, cause: error })
