/** Defines the startup error for a database. An operator must fix the cause; the message is one line. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** The database cannot be used. `reason` contains no secret. */
export class DatabaseUnusable extends Data.TaggedError("DatabaseUnusable")<{
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `database: ${this.reason}`
  }
}

/** Timeout for opening a database, which other processes may be migrating. */
const OPEN_TIMEOUT = "30 seconds"

/** Runs a step of opening a database with a timeout of 30 seconds, and converts the errors of the driver. */
export const opening = <A, R>(
  step: Effect.Effect<A, DatabaseUnusable | SqlError, R>
): Effect.Effect<A, DatabaseUnusable, R> =>
  step.pipe(
    Effect.mapError((error) => (isSqlError(error) ? fromSqlError(error) : error)),
    Effect.timeoutOrElse({ duration: OPEN_TIMEOUT, orElse: () => Effect.fail(noResponse) })
  )

const noResponse = new DatabaseUnusable({
  reason: "it does not respond, or another process keeps it locked"
})

/** Converts a driver error that occurred while the database was opened. */
export const fromSqlError = (error: SqlError): DatabaseUnusable =>
  new DatabaseUnusable({ reason: detailOf(error), cause: error })

/** Replaces the reason with `explain(error)` if a `SqlError` caused the failure, for example to add the address. */
export const explainedBy =
  (explain: (error: SqlError) => string) =>
  <A, R>(layer: Layer.Layer<A, DatabaseUnusable, R>): Layer.Layer<A, DatabaseUnusable, R> =>
    Layer.catchTag(layer, "DatabaseUnusable", (unusable) =>
      Layer.effectContext<A, DatabaseUnusable, never>(
        Effect.fail(
          isSqlError(unusable.cause)
            ? new DatabaseUnusable({ reason: explain(unusable.cause), cause: unusable.cause })
            : unusable
        )
      )
    )

/** Returns the driver's message in one line, without the address, because not every driver includes it. */
export const detailOf = ({ message, reason }: SqlError): string => {
  // Node tries each address of a host; the errors are usually the same.
  const cause = reason.cause instanceof AggregateError ? reason.cause.errors[0] : reason.cause
  if (Predicate.hasProperty(cause, "syscall") && Predicate.hasProperty(cause, "code")) {
    return `${cause.syscall} ${cause.code}`
  }
  const detail = cause instanceof Error && cause.message !== "" ? cause.message : message
  return detail.split("\n", 1)[0] ?? reason._tag
}
