/** The service as a `(request, response)` listener of `node:http`, for any server built on it. */
import { Buffer } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Immediate from "../../core/ports/Immediate.ts"
import { Service } from "../../core/service/Service.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"
import { hasPendingBody, NodeRequest } from "./NodeRequest.ts"
import { PreparedResponse } from "./PreparedResponse.ts"

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void

/** A listener of a server that leaves "100 Continue" to it; what it returns stops its work on the request. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  /** Called before a body is read, and only then: a refused client need not send one. */
  sendContinue?: () => void
) => () => void

/**
 * Bytes of a rejected body that are read and discarded, so that its sender comes to read the response: of a body that the
 * service asked for, and of any other, such as that of a caller without a key.
 */
const MAX_WANTED_BYTES = 64 * 1024 * 1024
const MAX_UNWANTED_BYTES = 1024 * 1024

/** Milliseconds in which the sender of a longer body can still read the response. */
const LINGER_MS = 1_000

/** A handler; the request's fiber is interrupted when its client goes away. */
export const makeHandler: Effect.Effect<Handler, never, Service> = Effect.gen(function* () {
  const service = yield* Service
  const clock = yield* Clock.Clock
  const run = Effect.runCallbackWith(yield* Effect.context())
  return (request, response, sendContinue) => {
    if (response.destroyed) return () => {}
    const incoming = new NodeRequest(request, sendContinue)
    const conclude = (exit: Exit.Exit<ServiceResponse>): void => {
      if (Exit.isFailure(exit)) return void response.destroy()
      if (service.isDraining()) announceClose(response)
      send(request, response, exit.value, incoming)
    }
    const answering = Immediate.start(service.handle(incoming, clock))
    if (Immediate.isDone(answering)) {
      conclude(answering)
      return () => {}
    }
    let running = true
    const interrupt = run(answering, {
      onExit: (exit) => {
        if (running || Exit.isSuccess(exit)) conclude(exit)
        running = false
      }
    })
    const stop = (): void => {
      running = false
      interrupt()
    }
    if (running) response.once("close", stop)
    return stop
  }
})

/** A listener; mount it before any body parser. */
export const make: Effect.Effect<NodeListener, never, Service> = Effect.map(
  makeHandler,
  (handle) => (request, response) => {
    handle(request, response)
  }
)

/**
 * Closes the connection after the response, and says so, so that the client sends its next request on another one, which
 * a load balancer opens to another process. Requests that the client has pipelined are handled first.
 */
const announceClose = (response: ServerResponse): void => {
  if (response instanceof PreparedResponse && response.hasSuccessor) return
  response.shouldKeepAlive = false
}

/** Writes an answer, unless the host has answered already. */
export const send = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: ServiceResponse,
  incoming?: NodeRequest
): void => {
  if (response.headersSent) return
  if (incoming?.isBodyRead || incoming?.isAwaitingContinue || !hasPendingBody(request)) {
    writeHead(response, answer)
    response.end(answer.body)
    return
  }
  const maxDiscarded = incoming?.isBodyWanted ? MAX_WANTED_BYTES : MAX_UNWANTED_BYTES
  if (Number(request.headers["content-length"] ?? 0) > maxDiscarded) response.shouldKeepAlive = false
  writeHead(response, answer)
  discardBody(request, response, answer.body, maxDiscarded)
}

export const writeHead = (response: ServerResponse, answer: ServiceResponse): void => {
  const { headers, status } = answer
  const contentLength = answer.bodyBytes ?? Buffer.byteLength(answer.body)
  if (response instanceof PreparedResponse && response.tryHead(answer, contentLength)) return
  const fields: Array<string> = []
  for (const [name, value] of headers) fields.push(name, value)
  if (status !== 204) fields.push("Content-Length", String(contentLength))
  response.writeHead(status, fields)
}

/**
 * Sends the response at once and reads on before it ends it: many clients read only after they have sent everything,
 * and a connection that is closed with bytes unread takes the response from them.
 */
const discardBody = (
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  maxBytes: number
): void => {
  response.write(body)
  response.flushHeaders()
  let left = maxBytes
  request.on("data", (chunk: Buffer) => {
    if (left < 0) return
    left -= chunk.length
    if (left >= 0) return
    request.pause()
    const cut = setTimeout(() => request.socket.destroy(), LINGER_MS)
    response.once("close", () => clearTimeout(cut))
  })
  request.once("end", () => response.end())
}
