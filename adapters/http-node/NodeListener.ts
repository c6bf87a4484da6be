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

/** Bytes of a refused body that are read and thrown away, so that its sender comes to read the answer. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024

/** A handler; the request's fiber is interrupted when its client goes away. */
export const makeHandler: Effect.Effect<Handler, never, Service> = Effect.gen(function* () {
  const service = yield* Service
  const clock = yield* Clock.Clock
  const run = Effect.runCallbackWith(yield* Effect.context())
  return (request, response, sendContinue) => {
    if (response.destroyed) return () => {}
    const incoming = new NodeRequest(request, sendContinue)
    const conclude = (exit: Exit.Exit<ServiceResponse>): void => {
      if (Exit.isFailure(exit)) response.destroy()
      else send(request, response, exit.value, incoming.isBodyRead)
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

/** Writes an answer, unless the host has answered already. */
export const send = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: ServiceResponse,
  isBodyRead = false
): void => {
  if (response.headersSent) return
  const { shouldKeepAlive } = response
  writeHead(response, answer)
  // Node gives the connection up here when the client still waits for "100 Continue": it sends no body then.
  const refusedExpectation = shouldKeepAlive && !response.shouldKeepAlive
  if (refusedExpectation || isBodyRead || !hasPendingBody(request)) response.end(answer.body)
  else drain(request, response, answer.body)
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
 * Answers in full and reads on before it ends the response: many clients read only after they have sent everything,
 * and a connection that is closed with bytes unread takes the answer from them.
 */
const drain = (request: IncomingMessage, response: ServerResponse, body: string): void => {
  response.write(body)
  response.flushHeaders()
  let allowance = MAX_DRAINED_BYTES
  request.on("data", (chunk: Buffer) => {
    allowance -= chunk.length
    if (allowance < 0) request.socket.destroy()
  })
  request.once("end", () => response.end())
}
