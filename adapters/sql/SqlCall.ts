/** Runs calls of a `SqlClient` with a timeout and with one kind of error. */
import type { SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as BoundedCall from "../storage/BoundedCall.ts"

/** Runs statements and transactions; a call fails only with `StoreUnavailable`. */
export type SqlCall = BoundedCall.BoundedCall<SqlError>

/** Creates calls with a timeout of `timeoutMs` milliseconds. */
export const make = (timeoutMs: number): SqlCall =>
  BoundedCall.make(
    timeoutMs,
    (error: SqlError) => new StoreUnavailable({ retryable: error.isRetryable, cause: error })
  )
