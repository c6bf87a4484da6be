/** Adapts the service to a `(request, response)` listener for `node:http` and any server built on it. */
import { Buffer } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HostRoute } from "../../core/service/HostRoute.ts"
import { InFlight } from "../../core/service/InFlight.ts"
import { Service } from "../../core/service/Service.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"
import * as ByteBudget from "./ByteBudget.ts"
import { hasPendingBody, NodeRequest } from "./NodeRequest.ts"
import { OutgoingResponse } from "./OutgoingResponse.ts"

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void

/**
 * A route of the host, for one request.
 *
 * @internal
 */
export interface NodeRoute extends HostRoute {
  /** Whether the request was admitted, so that the host responds. */
  readonly isPassedOn: boolean
  /** Called before the service sends the response to a request that is not admitted. */
  readonly beforeRejection: () => void
}

/**
 * Handles one request and returns a function that interrupts the handling.
 *
 * @internal
 */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  /** Sends "100 Continue"; called only before a body is read, so that a rejected client does not send its body. */
  sendContinue?: () => void,
  /** The route of the host that responds if the service admits the request. */
  route?: NodeRoute
) => () => void

/** Maximum bytes of a rejected body that are read and discarded, so that its sender can read the response. */
const MAX_DISCARDED_BYTES = {
  /** After the service has started to read the body: the caller has a key. */
  requested: 64 * 1024 * 1024,
  /** After the service has rejected the request without reading its body, for example for a missing key. */
  unrequested: 1024 * 1024
}

/** Milliseconds for which the sender of a longer body can read the response before the connection is destroyed. */
const LINGER_MS = 1_000

/**
 * Creates a handler that interrupts the fiber of a request when its client disconnects, and that destroys the
 * connection if the service fails with a defect.
 *
 * @internal
 */
export const makeHandler = Effect.fnUntraced(function* (
  maxBytesInFlight?: number
): Effect.fn.Return<Handler, never, Service> {
  const service = yield* Service
  const inFlight = yield* InFlight
  const budget = new ByteBudget.ByteBudget(maxBytesInFlight ?? ByteBudget.defaultLimit())
  const run = Effect.runCallbackWith(yield* Effect.context())
  return (request, response, sendContinue, route) => {
    if (response.destroyed) return () => {}
    const incoming = new NodeRequest(request, response, budget, sendContinue)
    const respond = (exit: Exit.Exit<ServiceResponse>): void => {
      if (route?.isPassedOn === true) return
      if (Exit.isFailure(exit)) response.destroy()
      else {
        route?.beforeRejection()
        if (service.isDraining() || hasNoKeepAlive(response)) announceClose(response)
        send(request, response, exit.value, incoming)
      }
      incoming.settle(Exit.isSuccess(exit) ? exit.value.body.length : 0)
    }
    const reject = (): Effect.Effect<ServiceResponse> => {
      // Frees what has arrived.
      request.resume()
      return service.transportError("service_unavailable", incoming.clientAddress, request.headers.origin)
    }
    let running = true
    inFlight?.begin()
    const handle = (): Effect.Effect<ServiceResponse> =>
      route === undefined ? service.handle(incoming) : service.admit(incoming, route)
    // The host bounds the bodies that it reads itself.
    const interrupt = run(route !== undefined || incoming.tryHold() ? handle() : reject(), {
      onExit: (exit) => {
        if (running || Exit.isSuccess(exit)) respond(exit)
        running = false
        inFlight?.end()
      }
    })
    const stop = (): void => {
      running = false
      incoming.release()
      interrupt()
    }
    if (running) response.once("close", stop)
    return stop
  }
})

/** Creates a listener that responds to every request; mount it before any body parser. */
export const make: Effect.Effect<NodeListener, never, Service> = Effect.map(
  makeHandler(),
  (handle) => (request, response) => {
    handle(request, response)
  }
)

const hasNoKeepAlive = (response: ServerResponse): boolean =>
  response instanceof OutgoingResponse && response.keepAliveTimeoutMs === 0

/**
 * Sends `Connection: close`, so that the client opens a new connection, which a load balancer routes to another
 * process. Pipelined requests are handled first: only the last response closes the connection.
 *
 * @internal
 */
export const announceClose = (response: ServerResponse): void => {
  if (response instanceof OutgoingResponse && response.hasSuccessor) return
  response.shouldKeepAlive = false
}

/**
 * Sends the service's response, unless the host has already sent one.
 *
 * @internal
 */
export const send = (
  request: IncomingMessage,
  response: ServerResponse,
  serviceResponse: ServiceResponse,
  incoming?: NodeRequest
): void => {
  if (response.headersSent) return
  // A server of the host may reject a body, even an empty one, that a response cannot have.
  const content = request.method === "HEAD" ? "" : (serviceResponse.bytes ?? serviceResponse.body)
  if (incoming?.isBodyRead || incoming?.isAwaitingContinue || !hasPendingBody(request)) {
    writeHead(response, serviceResponse)
    if (typeof content === "string") response.end(content)
    else writeBytes(response, content, () => response.end())
    return
  }
  const maxBytes = MAX_DISCARDED_BYTES[incoming?.isBodyRequested ? "requested" : "unrequested"]
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) response.shouldKeepAlive = false
  writeHead(response, serviceResponse)
  discardBody(request, response, content, maxBytes)
}

/** Bytes of a file in each write. Each completed write shows that a slow client still reads. */
const CHUNK_BYTES = 64 * 1024

/** Writes a file as fast as the client reads it, then calls `done`. Chunks are views of its memory, not copies. */
const writeBytes = (response: ServerResponse, bytes: Uint8Array, done: () => void, from = 0): void => {
  if (from >= bytes.length) return void done()
  const end = from + CHUNK_BYTES
  const chunk = bytes.subarray(from, end)
  const next = (): void => writeBytes(response, bytes, done, end)
  if (response instanceof OutgoingResponse) {
    // Waits for the callback, not for `drain`, which Node does not emit while the connection holds the next request.
    response.write(chunk, (error) => {
      if (error === null || error === undefined) next()
    })
  } else if (response.write(chunk)) next()
  // A host's middleware may wrap `write` and drop its callback.
  else response.once("drain", next)
}

/** @internal */
export const writeHead = (
  response: ServerResponse,
  { body, bytes, headers, status }: ServiceResponse
): void => {
  const fields = [...headers]
  if (status !== 204 && status !== 304) {
    fields.push("Content-Length", String(bytes?.length ?? Buffer.byteLength(body)))
  }
  // Node writes this header only with its own idle timeout, which starts a timer for each request.
  if (response instanceof OutgoingResponse && response.keepAliveTimeoutMs > 0 && response.shouldKeepAlive) {
    fields.push("Keep-Alive", `timeout=${Math.floor(response.keepAliveTimeoutMs / 1000)}`)
  }
  response.writeHead(status, fields)
}

/**
 * Sends the response immediately, but ends it only after the request body is read: many clients read only after they
 * have sent everything, and closing a connection with unread bytes could lose the response.
 */
const discardBody = (
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array,
  maxBytes: number
): void => {
  const onWritten = (): void => {
    if (request.readableEnded) response.end()
    else request.once("end", () => response.end())
  }
  if (typeof body === "string") {
    if (body !== "") response.write(body)
    onWritten()
  } else writeBytes(response, body, onWritten)
  response.flushHeaders()
  let remaining = maxBytes
  request.on("data", (chunk: Buffer) => {
    if (remaining < 0) return
    remaining -= chunk.length
    if (remaining >= 0) return
    request.pause()
    const timer = setTimeout(() => request.socket.destroy(), LINGER_MS)
    response.once("close", () => clearTimeout(timer))
  })
}
