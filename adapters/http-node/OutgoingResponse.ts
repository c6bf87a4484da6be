/** Extends Node's `ServerResponse` with the state of its connection that determines response headers. */
import { type IncomingMessage, ServerResponse } from "node:http"

/** The class for the `ServerResponse` option of `createServer`. */
export class OutgoingResponse<
  Request extends IncomingMessage = IncomingMessage
> extends ServerResponse<Request> {
  /** Whether the next request of the connection has already arrived. */
  hasSuccessor = false
  /** Whether the request waits for the budget of bytes in flight. */
  isWaiting = false
  /** Idle timeout in milliseconds for the `Keep-Alive` header; with 0, the response closes the connection. */
  keepAliveTimeoutMs = 0
}
