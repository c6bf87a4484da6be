/** Defines requests to the service, independent of the host that receives them. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** The scheme of a request: `https` if the host itself terminates TLS. */
export type Scheme = "http" | "https"

/**
 * An error that a host reports when a connection carried no complete request, or `service_unavailable` when the host
 * holds too many bytes of other requests.
 */
export type TransportError =
  | "malformed_request"
  | "request_timeout"
  | "headers_too_large"
  | "service_unavailable"

/** A request; a host creates it and the service reads it. */
export interface ServiceRequest {
  /** The method as sent, case-sensitive. */
  readonly method: string
  /** The request target as sent (RFC 9112 §3.2): path and query, or the absolute form. */
  readonly target: string
  /** The path where the host has mounted the service, with which `target` begins; absent if it does not tell. */
  readonly mountPath?: string | undefined
  /** Returns the value of a header by its lower-case name; several values are joined by `, ` (RFC 9110 §5.3). */
  readonly header: (name: string) => string | undefined
  /** The scheme by which the peer connected to the host; absent means `http`. */
  readonly scheme?: Scheme | undefined
  /** The peer's IP address; absent if the host does not provide it. */
  readonly clientAddress: string | undefined
  /**
   * Reads at most `maxBytes` of the body; called at most once, and only after the caller is admitted. `caller` is the id
   * of its key. A host that bounds the memory for bodies may wait first, or fail with `HostBusy`.
   */
  readonly body: (
    maxBytes: number,
    caller: string
  ) => Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed | HostBusy>
  /**
   * Waits until the host has room for a response of at most `bytes` bytes to this caller; `undefined` if it has room
   * now. Called at most once, before a large response is created; `caller` is the id of its key, or "" without a key.
   * Absent if the host does not bound responses.
   */
  readonly room?: (bytes: number, caller: string) => Effect.Effect<void, HostBusy> | undefined
}

/** The body exceeds the limit, counted in bytes read. */
export class BodyTooLarge extends Data.TaggedClass("BodyTooLarge") {}

/** The host holds too many bytes of other requests, and this one has waited for too long: 503. */
export class HostBusy extends Data.TaggedClass("HostBusy") {}

/** The host read the body before the service did, so that its bytes are lost: the host is misconfigured. */
export class BodyConsumed extends Data.TaggedClass("BodyConsumed") {}
