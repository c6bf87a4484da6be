/** Calls of a `SqlClient`: in bounded time, and with one kind of error. */
import type { SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as BoundedCall from "../storage/BoundedCall.ts"

/** Runs statements and transactions; every call fails with `StoreUnavailable` and nothing else. */
export type SqlCall = BoundedCall.BoundedCall<SqlError>

/** Calls with a deadline of `timeoutMs` milliseconds. */
export const make = (timeoutMs: number): SqlCall =>
  BoundedCall.make(
    timeoutMs,
    (error: SqlError) => new StoreUnavailable({ retryable: error.isRetryable, cause: error })
  )
