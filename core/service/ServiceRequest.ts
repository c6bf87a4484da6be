/** Defines requests to the service, independent of the host that receives them. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** The scheme of a request: `https` if the host itself terminates TLS. */
export type Scheme = "http" | "https"

/** A request; a host creates it and the service reads it. */
export interface ServiceRequest {
  /** The method as sent, case-sensitive. */
  readonly method: string
  /** The request target as sent (RFC 9112 §3.2): path and query, or the absolute form. */
  readonly target: string
  /** Returns the value of a header by its lower-case name; several values are joined by `, ` (RFC 9110 §5.3). */
  readonly header: (name: string) => string | undefined
  /** The scheme by which the peer connected to the host; absent means `http`. */
  readonly scheme?: Scheme | undefined
  /** The peer's IP address; absent if the host does not provide it. */
  readonly clientAddress: string | undefined
  /** Reads at most `maxBytes` of the body; called at most once, and only after the caller is admitted. */
  readonly body: (maxBytes: number) => Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed>
}

/** The body exceeds the limit, counted in bytes read. */
export class BodyTooLarge extends Data.TaggedClass("BodyTooLarge") {}

/** The host read the body before the service did, so that its bytes are lost: the host is misconfigured. */
export class BodyConsumed extends Data.TaggedClass("BodyConsumed") {}
