/** Defines the error of all ports: the store could not complete a call. */
import * as Data from "effect/Data"

/**
 * The only error with which ports fail. Nothing was stored, except where the adapter documents that the outcome is
 * unknown: a connection may break after a statement was sent. A value that the store rejects is not an outage: it is a
 * defect, because the core validates all values.
 */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  /** True if the same call may succeed later (a lost connection), false if an operator must act (a missing table). */
  readonly retryable: boolean
  /** The driver's error, for logs; it is never sent to a client. */
  readonly cause: unknown
}> {
  override get message(): string {
    return "the store is unavailable"
  }
}
