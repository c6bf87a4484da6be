/**
 * Handles one connection of `NodeServer`: its pipelined requests, its protocol errors and its timeouts.
 *
 * Node's parser processes everything that it receives in one go, and one read can contain two thousand requests. It
 * therefore receives slices, each of which ends at or before the end of a request, and the next request only after the
 * response.
 */
import { Buffer } from "node:buffer"
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { TransportError } from "../../core/service/Service.ts"
import { pairs, type ServiceResponse } from "../../core/service/ServiceResponse.ts"
import * as NodeListener from "./NodeListener.ts"
import { hasPendingBody } from "./NodeRequest.ts"
import type { OutgoingResponse } from "./OutgoingResponse.ts"
import { ParserStream } from "./ParserStream.ts"
import type { Resumable, ResumeQueue } from "./ResumeQueue.ts"
import * as TransportErrors from "./TransportErrors.ts"
import type { WriteBatch } from "./WriteBatch.ts"

/** Ends each head and each chunked body; Node's parser rejects line ends without CR. */
const EMPTY_LINE = Buffer.from("\r\n\r\n")

/** Maximum slices per turn of the event loop; blank lines and chunks of a body can contain thousands of empty lines. */
const MAX_SLICES = 64

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
  /** Whether each connection closes after its response, as while the service drains. */
  readonly isClosing: () => boolean
}

/** Timeouts of a connection, in milliseconds. */
export interface Timeouts {
  /** Idle timeout that the `Keep-Alive` header announces; with 0, each response closes its connection. */
  readonly keepAliveTimeoutMs: number
  /** Idle timeout that the server enforces. */
  readonly idleTimeoutMs: number
  /** Time in which a head must arrive. */
  readonly headersTimeoutMs: number
  /**
   * Time in which a request must arrive, and time without progress after which a client that does not read its
   * responses is disconnected; 0 disables both.
   */
  readonly requestTimeoutMs: number
}

/** The state and functions that all connections of a server share. */
export interface ConnectionContext {
  readonly responder: Responder
  readonly timeouts: Timeouts
  readonly resumeQueue: ResumeQueue
  readonly writes: WriteBatch
  /** The connections that hold a request. */
  readonly holding: Set<Connection>
}

export class Connection implements Resumable {
  /** What Node's HTTP server uses as the socket of this connection. */
  readonly stream: ParserStream
  readonly #socket: Socket
  readonly #context: ConnectionContext
  /** The response to the latest request; `undefined` before the first one, and once the connection is idle. */
  #latest: OutgoingResponse | undefined
  #stopLatest: (() => void) | undefined
  /** Whether a response was finished and `#latest` released. */
  #isReleased = false
  /** Whether the socket holds bytes that wait for the response to an earlier request. */
  #isHolding = false
  #hasHeld = false
  /** Whether the socket holds a part of a body that the service does not read yet. */
  #isBodyPaused = false
  #isBroken = false
  /** Whether the body of the latest request was not complete at the last `#checkBody`. */
  #isBodyPending = false
  /** Bytes of that body which have not arrived; 0 if its length is not declared. */
  #bodyBytes = 0
  /** Whether the latest slice ended within a head or a chunked body, so that its empty line may be split. */
  #isSplit = false
  /** Milliseconds since the first byte of a request that has not arrived completely. */
  #receivingMs = 0
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
    this.stream = new ParserStream(socket, context.writes).on("resume", () => this.#resumeBody())
    // `close` follows. An unhandled `error` event would crash the process.
    socket.on("error", () => {})
    socket.on("timeout", () => this.#closeStalled())
    socket.on("data", this.#parse)
  }

  /** Whether the response to the latest request is not flushed. */
  get #isResponding(): boolean {
    const latest = this.#latest
    return latest !== undefined && latest.socket !== null
  }

  /** Whether no request is in progress; the head of the next one may have arrived in part. */
  get isIdle(): boolean {
    return !this.#isResponding && !this.#isClosing && !this.#isHolding && !this.#isQueued
  }

  /** Whether further requests are discarded, as after a response with `Connection: close` (RFC 9112 §9.6). */
  get #isClosing(): boolean {
    return this.#isBroken || this.#latest?.shouldKeepAlive === false
  }

  receive(request: IncomingMessage, response: OutgoingResponse, sendContinue?: () => void): void {
    response.keepAliveTimeoutMs = this.#context.timeouts.keepAliveTimeoutMs
    // A slice contains at most one request. If that were wrong, requests would accumulate without bound.
    if (this.#isResponding) return void this.#socket.destroy()
    this.#latest = response
    this.#isSplit = false
    this.#isBodyPending = hasPendingBody(request)
    if (this.#isBodyPending) this.#bodyBytes = Number(request.headers["content-length"] ?? 0)
    else this.#receivingMs = 0
    const error = TransportErrors.ofRequest(request)
    if (error !== undefined) {
      this.#stopLatest = undefined
      response.shouldKeepAlive = false
      // The end of the body is uncertain, so nothing after the head may be parsed as a request.
      this.#isBroken = this.#isBodyPending
      this.#reject(error, request, (rejection) => {
        if (this.#isBroken) this.#sendAndClose(response, rejection)
        else NodeListener.send(request, response, rejection)
      })
    } else if ((this.#isBodyPending && sendContinue === undefined) || this.#context.responder.isClosing()) {
      // Most bodies arrive together with their heads and are complete at the next tick. If the response closes the
      // connection, the delay also lets `#hold` receive a pipelined request, so that only the last response closes it.
      let isStopped = false
      this.#stopLatest = () => {
        isStopped = true
      }
      process.nextTick(() => {
        if (!isStopped) this.#handle(request, response, sendContinue)
      })
    } else this.#handle(request, response, sendContinue)
  }

  /** Passes received bytes to the parser, as far as the next request may be handled now. */
  readonly #parse = (bytes: Buffer): void => {
    const socket = this.#socket
    this.#context.writes.count()
    for (let start = 0, slices = 0; start < bytes.length; slices++) {
      this.#checkBody()
      // Discarded, because closing a socket with unread bytes resets the connection, and the client could lose the
      // response.
      if (this.#isBroken || (this.#isClosing && !this.#isBodyPending)) return
      if (this.stream.readableLength > 0) return void this.#pauseBody(bytes.subarray(start))
      if ((this.#isResponding && !this.#isBodyPending) || slices === MAX_SLICES) {
        return void this.#hold(bytes.subarray(start))
      }
      const end = this.#endOfSlice(bytes, start)
      this.stream.push(bytes.subarray(start, end))
      start = end
    }
    // Pipelined data of many clients must not block the event loop.
    if (this.#hasHeld && !this.#isBroken) {
      socket.pause()
      this.#queue()
    }
  }

  /**
   * Updates `#isBodyPending`. The end of a body may be parsed long after it was pushed, because the stream buffers it
   * until the service reads the body.
   */
  #checkBody(): void {
    if (!this.#isBodyPending || this.#latest?.req.complete !== true) return
    this.#isBodyPending = false
    this.#isSplit = false
    this.#receivingMs = 0
  }

  /** Returns an index that is not after the end of the request to which the byte at `start` belongs. */
  #endOfSlice(bytes: Buffer, start: number): number {
    if (this.#bodyBytes > 0) {
      const end = Math.min(bytes.length, start + this.#bodyBytes)
      this.#bodyBytes -= end - start
      return end
    }
    // An empty line that is split between two reads ends with one of the first three bytes of the second read.
    if (this.#isSplit && start < EMPTY_LINE.length - 1) return start + 1
    const index = bytes.indexOf(EMPTY_LINE, this.#isSplit ? 0 : start)
    this.#isSplit = index < 0
    return this.#isSplit ? bytes.length : index + EMPTY_LINE.length
  }

  /** Stops reading until the service reads the body of the latest request. */
  #pauseBody(rest: Buffer): void {
    this.#isBodyPaused = true
    this.#socket.pause()
    this.#socket.unshift(rest)
  }

  #resumeBody(): void {
    if (!this.#isBodyPaused) return
    this.#isBodyPaused = false
    this.#socket.resume()
  }

  /**
   * Holds bytes until the previous response is flushed (RFC 9112 §9.3.2). They are pushed back into the socket, which
   * stops reading when its buffer is full.
   */
  #hold(rest: Buffer): void {
    const socket = this.#socket
    if (this.#context.holding.size >= MAX_HOLDING) return void this.#closeAfterLatest()
    const latest = this.#latest
    this.#hasHeld = true
    socket.pause()
    socket.unshift(rest)
    this.#isHolding = true
    this.#context.holding.add(this)
    if (latest === undefined || latest.socket === null || this.#isBodyPending) return void this.#queue()
    latest.hasSuccessor = true
    latest.once("finish", () => {
      if (!latest.shouldKeepAlive) return void socket.resume()
      this.#release()
      this.#queue()
    })
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
    if (latest === undefined || latest.writableFinished || this.#isBodyPending) {
      return void this.#socket.destroySoon()
    }
    if (!latest.headersSent) latest.shouldKeepAlive = false
    latest.once("finish", () => this.#socket.destroySoon())
  }

  /** Parses the held bytes, or reads more; called by the resume queue. */
  resume(): void {
    this.#isQueued = false
    this.#isHolding = false
    this.#context.holding.delete(this)
    if (!this.#isBroken) this.#socket.resume()
  }

  /** Whether the service is processing the latest request. */
  get isInFlight(): boolean {
    const latest = this.#latest
    if (latest === undefined || latest.writableEnded || latest.destroyed) return false
    return !latest.isWaiting && !hasPendingBody(latest.req)
  }

  /** Responds to a parse error or a timeout of a request that has not arrived completely, and closes the connection. */
  fail(error: TransportError): void {
    if (this.#isBroken || !this.#socket.writable) return
    this.#isBroken = true
    const latest = this.#latest
    if (latest === undefined || latest.socket === null) {
      this.#reject(error, undefined, (rejection) => this.#lingeringClose(serialize(rejection)))
    } else if (latest.headersSent) latest.end(() => this.#lingeringClose())
    else {
      this.#stopLatest?.()
      latest.shouldKeepAlive = false
      this.#reject(error, latest.req, (rejection) => this.#sendAndClose(latest, rejection))
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
    this.#checkBody()
    const socket = this.#socket
    const latest = this.#latest
    const hasResponded =
      (latest === undefined ? this.#isReleased : latest.writableFinished) && !this.#isBroken
    if (hasResponded && latest?.shouldKeepAlive === true && !this.#isBodyPending) {
      this.#release()
    }
    const isSilent = socket.bytesRead === this.#bytesReadAtCheck
    const isIdle = hasResponded && !this.#isHolding && !this.#isQueued && isSilent
    this.#bytesReadAtCheck = hasResponded ? socket.bytesRead : undefined
    this.#idleMs = isIdle ? this.#idleMs + elapsedMs : 0
    // `>`: one extra interval, because the client's timer starts later than ours.
    const { headersTimeoutMs, idleTimeoutMs, requestTimeoutMs } = this.#context.timeouts
    if (isIdle && this.#idleMs > idleTimeoutMs) return void socket.destroy()

    if (this.#isReceiving) {
      this.#receivingMs += elapsedMs
      const timeoutMs = this.#isBodyPending ? requestTimeoutMs : headersTimeoutMs
      if (timeoutMs > 0 && this.#receivingMs > timeoutMs) return void this.fail("request_timeout")
    }

    const isWaitingForReader = socket.writableLength > 0
    // Incoming bytes restart the socket's own timer even if they are not parsed, so stalls are also counted here.
    const bytesFlushed = socket.bytesWritten - socket.writableLength
    const isStalled = isWaitingForReader && bytesFlushed === this.#bytesFlushed
    this.#bytesFlushed = bytesFlushed
    this.#stalledMs = isStalled && (this.#isHolding || this.#isClosing) ? this.#stalledMs + elapsedMs : 0
    if (requestTimeoutMs > 0 && this.#stalledMs > requestTimeoutMs) return void socket.destroy()
    if (isWaitingForReader !== this.#isWaitingForReader) {
      this.#isWaitingForReader = isWaitingForReader
      socket.setTimeout(isWaitingForReader ? requestTimeoutMs : 0)
    }
  }

  /** Frees the latest response, which is finished: its objects are about half the memory of an idle connection. */
  #release(): void {
    this.#latest = undefined
    this.#stopLatest = undefined
    this.#isReleased = true
  }

  /** Whether a request has not arrived completely; a new connection counts as one. */
  get #isReceiving(): boolean {
    if (this.#isBroken || this.#isHolding || this.#isQueued) return false
    return this.#isBodyPending || this.#isSplit || (this.#latest === undefined && !this.#isReleased)
  }

  /** Destroys the connection when the socket's timer expires, unless the client has read everything since. */
  #closeStalled(): void {
    if (this.#socket.writableLength > 0) this.#socket.destroy()
  }

  #handle(request: IncomingMessage, response: ServerResponse, sendContinue?: () => void): void {
    const stop = this.#context.responder.handle(request, response, sendContinue)
    if (this.#latest === response) this.#stopLatest = stop
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
    const maxBytesRead = socket.bytesRead + MAX_LINGER_BYTES
    socket.on("data", () => {
      if (socket.bytesRead > maxBytesRead) socket.pause()
    })
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once("close", () => clearTimeout(timer))
  }
}

/** Encodes a response as HTTP text, for a connection without a request to respond to. */
const serialize = ({ body, headers, status }: ServiceResponse): string => {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...pairs(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close"
  ]
  return `${lines.join("\r\n")}\r\n\r\n${body}`
}
