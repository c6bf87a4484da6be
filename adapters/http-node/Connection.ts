/** One connection of `NodeServer`: in which order it is answered, what breaks it, and how it ends. */
import { Buffer } from "node:buffer"
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { TransportError } from "../../core/service/Service.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"
import * as NodeListener from "./NodeListener.ts"
import { hasPendingBody } from "./NodeRequest.ts"
import type { PreparedResponse } from "./PreparedResponse.ts"
import * as TransportFault from "./TransportFault.ts"

/** Milliseconds that a broken connection stays open after its answer, so that its client comes to read it. */
const LINGER_MS = 1_000

/** Requests that may wait for the answer to an earlier one of their connection. */
const MAX_WAITING = 10_000

/** What a connection is answered with. */
export interface Answers {
  readonly handle: NodeListener.Handler
  readonly refuse: (
    error: TransportError,
    clientAddress: string | undefined,
    write: (answer: ServiceResponse) => void
  ) => void
}

/** How long a connection may be silent, in milliseconds. */
export interface Patience {
  /** When it is idle, as the client is told. */
  readonly keepAliveTimeoutMs: number
  /** When it is idle, also where that is not said. */
  readonly idleTimeoutMs: number
  /** When its client does not read what it asked for. */
  readonly readTimeoutMs: number
}

export class Connection {
  readonly #socket: Socket
  readonly #answers: Answers
  readonly #patience: Patience
  /** The response to the latest request. */
  #latest: ServerResponse | undefined
  #stopLatest: (() => void) | undefined
  #waiting = 0
  #broken = false
  /** What it had sent when the last look found it answered; silent since then, it is idle. */
  #bytesReadWhenAnswered: number | undefined
  #idleMs = 0
  #isWaitingForReader = false

  constructor(socket: Socket, answers: Answers, patience: Patience) {
    this.#socket = socket
    this.#answers = answers
    this.#patience = patience
  }

  receive(request: IncomingMessage, response: PreparedResponse, sendContinue?: () => void): void {
    response._keepAliveTimeout = this.#patience.keepAliveTimeoutMs
    const previous = this.#latest
    // After a response that announces the end of the connection nothing is processed (RFC 9112 §9.6).
    if (this.#broken || previous?.shouldKeepAlive === false) return
    this.#latest = response
    const fault = TransportFault.ofRequest(request)
    if (fault !== undefined) {
      this.#stopLatest = undefined
      response.shouldKeepAlive = false
      this.#refuse(fault, (answer) => NodeListener.send(request, response, answer))
    } else if (previous === undefined || previous.writableEnded) {
      // Answered, if not yet flushed: Node stops reading from a client that leaves its answers lying.
      if (hasPendingBody(request) && sendContinue === undefined) {
        // Most bodies come together with their heads: at the next tick they are there and need no waiting for.
        this.#handleLater(process.nextTick, request, response)
      } else this.#stopLatest = this.#answers.handle(request, response, sendContinue)
    } else {
      // One after the other (RFC 9112 §9.3.2). Node reads on meanwhile, whatever waits: hence the limit.
      if (++this.#waiting > MAX_WAITING) return void this.#socket.destroy()
      const afterPrevious = (turn: () => void): void => {
        previous.once("finish", () => {
          this.#waiting--
          // As above: it may have been told the end of the connection only when it was answered.
          if (previous.shouldKeepAlive) turn()
        })
      }
      this.#handleLater(afterPrevious, request, response, sendContinue)
    }
  }

  /** Answers what cannot be understood or did not come in time, after all that was asked before. */
  fail(error: Error): void {
    // Node reports every further piece of a broken stream, too.
    if (this.#broken || !this.#socket.writable) return
    this.#broken = true
    const latest = this.#latest
    const fault = TransportFault.ofError(error)
    const answerOutsideRequests = (): void =>
      this.#refuse(fault, (answer) => this.#lingeringClose(messageOf(answer)))

    if (latest === undefined || latest.writableFinished) answerOutsideRequests()
    else if (latest.req.complete) {
      // Until then nothing is read: bytes of no use must not make a client that does not read look alive.
      this.#socket.pause()
      latest.once("finish", () => {
        this.#socket.resume()
        answerOutsideRequests()
      })
    } else if (latest.headersSent) latest.end(() => this.#lingeringClose())
    else {
      this.#stopLatest?.()
      latest.shouldKeepAlive = false
      this.#refuse(fault, (answer) => {
        if (latest.headersSent) return
        NodeListener.writeHead(latest, answer)
        latest.write(answer.body, () => this.#lingeringClose())
      })
    }
  }

  /** Ends the connection as soon as it owes no answer. */
  dismiss(): void {
    if (this.#broken) return
    const latest = this.#latest
    if (latest === undefined || latest.writableFinished) this.#socket.destroySoon()
    else if (latest.headersSent) latest.once("finish", () => this.dismiss())
    else latest.shouldKeepAlive = false
  }

  /**
   * Looks after the connection, each time `elapsedMs` after the last: cuts it once it was idle for long enough, and
   * watches a client that leaves its answers lying. Timers of the socket would cost each request a microsecond.
   */
  inspect(elapsedMs: number): void {
    const socket = this.#socket
    const owesNothing = this.#latest?.writableFinished === true && !this.#broken
    const isIdle = owesNothing && socket.bytesRead === this.#bytesReadWhenAnswered
    this.#bytesReadWhenAnswered = owesNothing ? socket.bytesRead : undefined
    this.#idleMs = isIdle ? this.#idleMs + elapsedMs : 0
    // A look longer than announced, for what a client sends just before: it starts to count later than we do.
    if (isIdle && this.#idleMs > this.#patience.idleTimeoutMs) return void socket.destroy()

    const isWaitingForReader = socket.writableLength > 0
    if (isWaitingForReader !== this.#isWaitingForReader) {
      this.#isWaitingForReader = isWaitingForReader
      socket.setTimeout(isWaitingForReader ? this.#patience.readTimeoutMs : 0)
    }
  }

  /** Cuts the connection whose client has not read for long; it may have begun to since the last look. */
  timeOut(): void {
    if (this.#socket.writableLength > 0) this.#socket.destroy()
  }

  /** Handles the request when its turn comes, unless it is stopped before. */
  #handleLater(
    schedule: (turn: () => void) => void,
    request: IncomingMessage,
    response: ServerResponse,
    sendContinue?: () => void
  ): void {
    let stopped = false
    this.#stopLatest = () => {
      stopped = true
    }
    schedule(() => {
      if (stopped) return
      const stop = this.#answers.handle(request, response, sendContinue)
      if (this.#latest === response) this.#stopLatest = stop
    })
  }

  #refuse(error: TransportError, write: (answer: ServiceResponse) => void): void {
    this.#answers.refuse(error, this.#socket.remoteAddress, write)
  }

  /** Ends the connection, but reads on for a while: closed with bytes unread, it would take the answer from its client. */
  #lingeringClose(last = ""): void {
    this.#socket.end(last)
    const cut = setTimeout(() => this.#socket.destroy(), LINGER_MS)
    this.#socket.once("close", () => clearTimeout(cut))
  }
}

/** An answer as text, for a connection on which there is no request to answer. */
const messageOf = ({ body, headers, status }: ServiceResponse): string => {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close"
  ]
  return `${lines.join("\r\n")}\r\n\r\n${body}`
}
