/** Runs transactions; a lost connection is a failure, not a defect. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/**
 * Runs `work` in one transaction. If the rollback fails, for example because the connection is lost, the effect fails
 * with the `SqlError`; with the client's own `withTransaction`, that is a defect. Every other defect that is a
 * `SqlError` also becomes a failure.
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
