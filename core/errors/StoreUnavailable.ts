/** The one way in which a port fails: its store could not do what was asked. */
import * as Data from "effect/Data"

/**
 * Every port fails with it and with nothing else. Nothing was stored then, unless the adapter says when that cannot be
 * known: a connection may break after a statement was sent.
 */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  /** Whether the same call may succeed later (a lost connection) or needs a person (a missing table). */
  readonly retryable: boolean
  /** The driver's own error, for logs; it never reaches a client. */
  readonly cause: unknown
}> {
  override get message(): string {
    return "the store is unavailable"
  }
}
