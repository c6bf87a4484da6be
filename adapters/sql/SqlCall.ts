/** Runs calls to a `SqlClient` with a timeout; they fail only with `StoreUnavailable`. */
import type { SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as BoundedCall from "../storage/BoundedCall.ts"

/** Runs statements and transactions with a timeout. */
export type SqlCall = BoundedCall.BoundedCall<SqlError>

/** Creates calls with a timeout of `timeoutMs` milliseconds. */
export const make = (timeoutMs: number): SqlCall =>
  BoundedCall.make(
    timeoutMs,
    (error: SqlError) => new StoreUnavailable({ retryable: error.isRetryable, cause: error })
  )
