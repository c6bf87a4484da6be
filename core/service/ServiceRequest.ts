/** A request as the pipeline reads it: what HTTP says, without a host's types. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** One request; a host makes it, the service reads it. */
export interface ServiceRequest {
  /** As sent, case-sensitive. */
  readonly method: string
  /** The request target as sent (RFC 9112 §3.2): path and query, or the absolute form. */
  readonly target: string
  /** The value of a header by its lower-case name; several values are joined by `, ` (RFC 9110 §5.3). */
  readonly header: (name: string) => string | undefined
  /** The peer's IP address, where the host knows it. */
  readonly clientAddress: string | undefined
  /** Reads the body, at most `maxBytes` of it; called once at most, and only for callers who may send one. */
  readonly body: (maxBytes: number) => Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed>
}

/** The body is longer than allowed, counted in bytes read. */
export class BodyTooLarge extends Data.TaggedClass("BodyTooLarge") {}

/** The host read the body before the service could, so its exact bytes are gone: a mistake in the host's set-up. */
export class BodyConsumed extends Data.TaggedClass("BodyConsumed") {}
