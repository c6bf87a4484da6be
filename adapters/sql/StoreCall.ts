/** How a store asks its database: in bounded time, and with one kind of error. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"

/** Runs a statement or a transaction for a port; fails with `StoreUnavailable` and nothing else. */
export type StoreCall = <A>(query: Effect.Effect<A, SqlError>) => Effect.Effect<A, StoreUnavailable>

/**
 * Calls that are given up after `timeoutMs` milliseconds. The answer does not wait for the query to stop: a driver
 * may need long to take back what a silent server never answers.
 */
export const make =
  (timeoutMs: number): StoreCall =>
  (query) =>
    Effect.flatMap(Effect.forkDetach(query, { startImmediately: true }), (fiber) => {
      const done = fiber.pollUnsafe()
      // Databases in this process answer at once and need no timer.
      if (done !== undefined) return Effect.mapError(done, unavailable)
      const given = Effect.onInterrupt(Fiber.join(fiber), () => Effect.sync(() => fiber.interruptUnsafe()))
      return Effect.timeoutOrElse(Effect.mapError(given, unavailable), {
        duration: timeoutMs,
        orElse: () =>
          Effect.fail(
            new StoreUnavailable({
              retryable: true,
              cause: new Error(`the database did not answer within ${timeoutMs} ms`)
            })
          )
      })
    })

const unavailable = (error: SqlError): StoreUnavailable =>
  new StoreUnavailable({ retryable: error.isRetryable, cause: error })
