/** The one way in which a port fails: its store could not do what was asked, and did nothing. */
import * as Data from "effect/Data"

/** Every port fails with it and with nothing else. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  /** Whether the same call may succeed later (a lost connection) or needs a person (a missing table). */
  readonly retryable: boolean
  /** The driver's own error, for logs; it never reaches a client. */
  readonly cause: unknown
}> {}
