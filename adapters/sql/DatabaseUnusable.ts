/** Why a database cannot be opened: a mistake to be mended by a person, told in one line. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** The database cannot be used; `reason` names no secret. */
export class DatabaseUnusable extends Data.TaggedError("DatabaseUnusable")<{
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `database: ${this.reason}`
  }
}

/** Longest wait for a database that is being opened: other processes may be preparing it. */
const PATIENCE = "30 seconds"

/** A step of opening a database, given up after 30 seconds. */
export const patiently = <A, R>(
  step: Effect.Effect<A, DatabaseUnusable, R>
): Effect.Effect<A, DatabaseUnusable, R> =>
  Effect.timeoutOrElse(step, {
    duration: PATIENCE,
    orElse: () =>
      Effect.fail(new DatabaseUnusable({ reason: "it does not answer, or another process keeps it locked" }))
  })

/** What a driver's error on opening means. */
export const fromSqlError = (error: SqlError): DatabaseUnusable =>
  new DatabaseUnusable({ reason: detailOf(error), cause: error })

/** A layer whose failures say what `explain` makes of a driver's error, such as where the database is. */
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

/** What the driver says, in one line, without the address, which not every driver names. */
export const detailOf = ({ message, reason }: SqlError): string => {
  // Node tries each address of a host; what they fail with is mostly the same.
  const cause = reason.cause instanceof AggregateError ? reason.cause.errors[0] : reason.cause
  if (Predicate.hasProperty(cause, "syscall") && Predicate.hasProperty(cause, "code")) {
    return `${cause.syscall} ${cause.code}`
  }
  const detail = cause instanceof Error && cause.message !== "" ? cause.message : message
  return detail.split("\n", 1)[0] ?? reason._tag
}
