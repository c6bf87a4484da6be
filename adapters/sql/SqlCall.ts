/** Runs calls to a `SqlClient` with a timeout; they fail only with `StoreUnavailable`. */
import type { SqlError } from "effect/sql/SqlError"
import * as BoundedCall from "../storage/BoundedCall.ts"
import * as StoreFailure from "../storage/StoreFailure.ts"
import * as SqlFailure from "./SqlFailure.ts"

/** Runs statements and transactions with a timeout. */
export type SqlCall = BoundedCall.BoundedCall<SqlError>

/** Creates calls with a timeout of `timeoutMs` milliseconds. */
export const make = (timeoutMs: number): SqlCall =>
  BoundedCall.make(timeoutMs, (error: SqlError) => StoreFailure.toEffect(SqlFailure.causeOf(error), error))
