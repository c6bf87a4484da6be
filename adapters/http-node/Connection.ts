/** Handles one connection of `NodeServer`: the order of its responses, its protocol errors and its timeouts. */
import { Buffer } from "node:buffer"
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { TransportError } from "../../core/service/Service.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"
import * as IncomingRequest from "./IncomingRequest.ts"
import * as NodeListener from "./NodeListener.ts"
import { hasBody, hasPendingBody } from "./NodeRequest.ts"
import type { OutgoingResponse } from "./OutgoingResponse.ts"
import type { Resumable, ResumeQueue } from "./ResumeQueue.ts"
import * as TransportErrors from "./TransportErrors.ts"

/** Milliseconds for which a closing connection still reads input, so that the client can receive the last response. */
const LINGER_MS = 1_000

/** Maximum number of bytes that a closing connection still reads; equal to the limit for rejected bodies (413). */
const MAX_LINGER_BYTES = 64 * 1024 * 1024

/** Maximum number of connections that hold a pipelined request at the same time, each with up to 128 KiB. */
const MAX_HOLDING = 400

/** Creates the responses to requests and to protocol errors. */
export interface Responder {
  readonly handle: NodeListener.Handler
  readonly reject: (
    error: TransportError,
    client: { readonly address: string | undefined; readonly origin: string | undefined },
    write: (response: ServiceResponse) => void
  ) => void
  /** Whether the service is draining; responses then announce that the connection closes. */
  readonly isDraining: () => boolean
}

/** Timeouts of a connection, in milliseconds. */
export interface Timeouts {
  /** Idle timeout that the `Keep-Alive` header announces; 0 omits the header. */
  readonly keepAliveTimeoutMs: number
  /** Idle timeout that the server enforces. */
  readonly idleTimeoutMs: number
  /** Time without progress after which a client that does not read its responses is disconnected; 0 disables it. */
  readonly readTimeoutMs: number
}

/** The state and functions that all connections of a server share. */
export interface ConnectionContext {
  readonly responder: Responder
  readonly timeouts: Timeouts
  readonly resumeQueue: ResumeQueue
  /** The connections that hold a request. */
  readonly holding: Set<Connection>
  /** Attaches a new HTTP parser of the server to a socket. */
  readonly attachParser: (socket: Socket) => void
}

export class Connection implements Resumable {
  readonly #socket: Socket
  readonly #context: ConnectionContext
  /** The response to the latest request. */
  #latest: OutgoingResponse | undefined
  #stopLatest: (() => void) | undefined
  /** Whether the socket holds an unparsed request that waits for the previous response. */
  #isHolding = false
  #hasHeld = false
  /** Whether Node may have paused the socket for the previous body; possible only for the first request that the connection holds. */
  #isPausedByNode = false
  #isBroken = false
  /** Bytes received up to the last check; `undefined` if the latest response was not finished then. */
  #bytesReadAtCheck: number | undefined
  #idleMs = 0
  #isWaitingForReader = false
  /** Milliseconds without progress in writing pending bytes; counted only while input is held or discarded. */
  #stalledMs = 0
  /** Bytes written to the client up to the last check. */
  #bytesFlushed = 0
  /** Whether the connection waits in the resume queue before it reads more. */
  #isQueued = false

  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket
    this.#context = context
    // While a request is held, no parser listens to the socket, and an unhandled `error` event would crash the process.
    socket.on("error", () => {})
    socket.on("timeout", () => this.#closeStalled())
  }

  /** Whether the next request must be held or discarded; the parser then stops after the head of that request. */
  get isBusy(): boolean {
    const latest = this.#latest
    // Node detaches the socket from a response once the response is flushed, in the next tick at the earliest.
    return this.#isClosing || (latest !== undefined && latest.socket !== null)
  }

  /** Whether further requests are discarded, as after a response with `Connection: close` (RFC 9112 §9.6). */
  get #isClosing(): boolean {
    return this.#isBroken || this.#latest?.shouldKeepAlive === false
  }

  receive(request: IncomingMessage, response: OutgoingResponse, sendContinue?: () => void): void {
    response.keepAliveTimeoutMs = this.#context.timeouts.keepAliveTimeoutMs
    // The parser should have stopped. If it did not, requests would accumulate without bound.
    if (this.isBusy) return void this.#socket.destroy()
    this.#latest = response
    const error = TransportErrors.ofRequest(request)
    if (error !== undefined) {
      this.#stopLatest = undefined
      response.shouldKeepAlive = false
      // The end of the body is uncertain, so nothing after the head may be parsed as a request.
      this.#isBroken = hasPendingBody(request)
      this.#reject(error, request, (rejection) => {
        if (this.#isBroken) this.#sendAndClose(response, rejection)
        else NodeListener.send(request, response, rejection)
      })
    } else if (
      (hasPendingBody(request) && sendContinue === undefined) ||
      this.#context.responder.isDraining()
    ) {
      // Most bodies arrive together with their heads and are complete at the next tick. While the server drains, the
      // delay also lets `hold` receive a pipelined request, so that this response does not close the connection.
      let isStopped = false
      this.#stopLatest = () => {
        isStopped = true
      }
      process.nextTick(() => {
        if (!isStopped) this.#handle(request, response, sendContinue)
      })
    } else this.#handle(request, response, sendContinue)
  }

  /**
   * Holds a request after which the parser stopped, and the bytes after it, until the previous response is flushed
   * (RFC 9112 §9.3.2). Both are pushed back into the socket, which stops reading when its buffer is full.
   */
  hold(request: IncomingMessage, rest: Buffer): void {
    const socket = this.#socket
    // Closing a socket with unread bytes resets the connection, and the client could lose the response.
    if (this.#isClosing) return void socket.resume()
    if (this.#context.holding.size >= MAX_HOLDING) return void this.#closeAfterLatest()
    const latest = this.#latest
    // Node's first parser bypasses the stream; if it paused the socket for a body, only Node can resume the socket.
    this.#isPausedByNode = !this.#hasHeld && latest !== undefined && hasBody(latest.req)
    this.#hasHeld = true
    socket.pause()
    socket.unshift(rest)
    socket.unshift(IncomingRequest.head(request))
    this.#isHolding = true
    this.#context.holding.add(this)
    if (latest !== undefined) latest.hasSuccessor = true
    if (latest === undefined || latest.socket === null) this.#queue()
    else {
      latest.once("finish", () => {
        if (!latest.shouldKeepAlive) return void socket.resume()
        // Frees the response while the connection waits in the queue.
        this.#latest = undefined
        this.#stopLatest = undefined
        this.#queue()
      })
    }
  }

  /**
   * Closes the connection after the latest response; the client should send its pipelined requests again on another
   * connection (RFC 9112 §9.3.2). Further input is not read, because each read leaves a buffer of 64 KiB for the
   * garbage collector. A client that has sent more than two reads may lose the end of the response
   * (docs/decisions/connections.md#what-a-connection-may-hold).
   */
  #closeAfterLatest(): void {
    const latest = this.#latest
    this.#isBroken = true
    this.#socket.pause()
    if (latest === undefined || latest.writableFinished) return void this.#socket.destroySoon()
    if (!latest.headersSent) latest.shouldKeepAlive = false
    latest.once("finish", () => this.#socket.destroySoon())
  }

  /** Parses the held request, or reads more; called by the resume queue. */
  resume(): void {
    this.#isQueued = false
    const socket = this.#socket
    if (socket.destroyed) return
    if (this.#isHolding) {
      this.#isHolding = false
      this.#context.holding.delete(this)
      this.#context.attachParser(socket)
      if (this.#isPausedByNode) socket.once("resume", () => this.#limitReads())
      else this.#limitReads()
      socket.resume()
    } else if (!this.#isBroken) socket.resume()
  }

  /** Whether the service is processing the latest request. */
  get isInFlight(): boolean {
    const latest = this.#latest
    if (latest === undefined || latest.writableEnded || latest.destroyed) return false
    return !latest.isWaiting && !hasPendingBody(latest.req)
  }

  /** Responds to a parse error or a timeout after all earlier responses, and closes the connection. */
  fail(error: Error): void {
    // Node also reports an error for each further chunk of a broken stream.
    if (this.#isBroken || !this.#socket.writable) return
    const latest = this.#latest
    // Bytes after the last request of a connection are ignored (RFC 9112 §9.6), but Node 22 reports them as an error.
    if (latest?.shouldKeepAlive === false && latest.req.complete) return
    this.#isBroken = true
    const transportError = TransportErrors.ofError(error)
    const respondWithoutRequest = (): void =>
      this.#reject(transportError, undefined, (rejection) => this.#lingeringClose(serialize(rejection)))

    if (latest === undefined || latest.writableFinished) respondWithoutRequest()
    else if (latest.req.complete) {
      // Further bytes would restart the socket's timer, which disconnects a client that does not read.
      this.#socket.pause()
      latest.once("finish", () => {
        this.#socket.resume()
        respondWithoutRequest()
      })
    } else if (latest.headersSent) latest.end(() => this.#lingeringClose())
    else {
      this.#stopLatest?.()
      latest.shouldKeepAlive = false
      this.#reject(transportError, latest.req, (rejection) => this.#sendAndClose(latest, rejection))
    }
  }

  /** Closes the connection once every received request has its response. */
  closeWhenIdle(): void {
    // While the server drains, the response to the last held or unparsed request closes the connection.
    if (this.#isBroken || this.#isHolding || this.#socket.readableLength > 0) return
    const latest = this.#latest
    if (latest === undefined || latest.writableFinished) this.#socket.destroySoon()
    else latest.once("finish", () => this.closeWhenIdle())
  }

  /**
   * Destroys the connection if it has been idle for too long, or if its client does not read its responses.
   * `NodeServer` calls it every `elapsedMs` milliseconds, because a socket timer for each request costs about a
   * microsecond.
   */
  checkTimeouts(elapsedMs: number): void {
    const socket = this.#socket
    const hasResponded = this.#latest?.writableFinished === true && !this.#isBroken
    const isSilent = socket.bytesRead === this.#bytesReadAtCheck
    const isIdle = hasResponded && !this.#isHolding && !this.#isQueued && isSilent
    this.#bytesReadAtCheck = hasResponded ? socket.bytesRead : undefined
    this.#idleMs = isIdle ? this.#idleMs + elapsedMs : 0
    // `>`: one extra interval, because the client's timer starts later than ours.
    const { idleTimeoutMs, readTimeoutMs } = this.#context.timeouts
    if (isIdle && this.#idleMs > idleTimeoutMs) return void socket.destroy()

    const isWaitingForReader = socket.writableLength > 0
    // Incoming bytes restart the socket's own timer even if they are not parsed, so stalls are also counted here.
    const bytesFlushed = socket.bytesWritten - socket.writableLength
    const isStalled = isWaitingForReader && bytesFlushed === this.#bytesFlushed
    this.#bytesFlushed = bytesFlushed
    this.#stalledMs = isStalled && (this.#isHolding || this.#isClosing) ? this.#stalledMs + elapsedMs : 0
    if (readTimeoutMs > 0 && this.#stalledMs > readTimeoutMs) return void socket.destroy()
    if (isWaitingForReader !== this.#isWaitingForReader) {
      this.#isWaitingForReader = isWaitingForReader
      socket.setTimeout(isWaitingForReader ? readTimeoutMs : 0)
    }
  }

  /** Destroys the connection when the socket's timer expires, unless the client has read everything since. */
  #closeStalled(): void {
    if (this.#socket.writableLength > 0) this.#socket.destroy()
  }

  #handle(request: IncomingMessage, response: ServerResponse, sendContinue?: () => void): void {
    const stop = this.#context.responder.handle(request, response, sendContinue)
    if (this.#latest === response) this.#stopLatest = stop
  }

  /**
   * Pauses the socket after each read. Called for each new parser: without this `data` listener, Node would continue to
   * read after `resume`, even if the socket's buffer is full.
   */
  #limitReads(): void {
    this.#socket.off("data", this.#pauseUntilResumed).on("data", this.#pauseUntilResumed)
  }

  /**
   * Pauses after each read until the resume queue resumes the connection, so that pipelined data of many clients does
   * not block the event loop.
   */
  readonly #pauseUntilResumed = (): void => {
    const socket = this.#socket
    if (this.#isHolding || socket.readableLength > 0 || socket.isPaused()) return
    socket.pause()
    this.#queue()
  }

  #queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#context.resumeQueue.add(this)
  }

  /** Passes the response to a protocol error to `write`; `request` is `undefined` if its head did not arrive. */
  #reject(
    error: TransportError,
    request: IncomingMessage | undefined,
    write: (response: ServiceResponse) => void
  ): void {
    const client = { address: this.#socket.remoteAddress, origin: request?.headers.origin }
    this.#context.responder.reject(error, client, write)
  }

  /** Responds to a request whose body is broken, and closes the connection. */
  #sendAndClose(response: ServerResponse, rejection: ServiceResponse): void {
    if (response.headersSent) return
    NodeListener.writeHead(response, rejection)
    response.write(rejection.body, () => this.#lingeringClose())
  }

  /**
   * Closes the connection after `LINGER_MS`, and until then discards up to `MAX_LINGER_BYTES`: closing with unread
   * bytes could lose the response.
   */
  #lingeringClose(lastBytes = ""): void {
    const socket = this.#socket
    socket.end(lastBytes)
    // Reads without waiting in the resume queue.
    socket.off("data", this.#pauseUntilResumed).resume()
    const maxBytesRead = socket.bytesRead + MAX_LINGER_BYTES
    // Added later, because a `data` listener detaches Node's first parser, which must resume the socket first.
    setImmediate(() =>
      socket.on("data", () => {
        if (socket.bytesRead > maxBytesRead) socket.pause()
      })
    )
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once("close", () => clearTimeout(timer))
  }
}

/** Encodes a response as HTTP text, for a connection without a request to respond to. */
const serialize = ({ body, headers, status }: ServiceResponse): string => {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close"
  ]
  return `${lines.join("\r\n")}\r\n\r\n${body}`
}
