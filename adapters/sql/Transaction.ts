/** Runs a transaction in each dialect. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/**
 * Runs `work` in one transaction. A failed rollback is a `SqlError`, as after a lost connection; for the client's own
 * `withTransaction`, it is a defect.
 */
export const run = <A, E, R>(
  sql: SqlClient.SqlClient,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchDefect(
    sql.withTransaction(work),
    (defect): Effect.Effect<never, SqlError> =>
      isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)
  )
