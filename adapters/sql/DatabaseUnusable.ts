/** Why a database cannot be opened: a mistake to be mended by a person, told in one line. */
import * as Data from "effect/Data"
import type { SqlError } from "effect/sql/SqlError"

/** The database cannot be used; `reason` names no secret. */
export class DatabaseUnusable extends Data.TaggedError("DatabaseUnusable")<{
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `database: ${this.reason}`
  }
}

/** What a driver's error on opening means. */
export const fromSqlError = (error: SqlError): DatabaseUnusable =>
  new DatabaseUnusable({ reason: lineOf(error), cause: error })

const lineOf = ({ message, reason }: SqlError): string => {
  const detail = reason.cause instanceof Error && reason.cause.message !== "" ? reason.cause.message : message
  return detail.split("\n", 1)[0] ?? reason._tag
}
