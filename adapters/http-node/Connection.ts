/** One connection of `NodeServer`: in which order it is answered, what breaks it, and how it ends. */
import { Buffer } from "node:buffer"
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { TransportError } from "../../core/service/Service.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"
import * as IncomingRequest from "./IncomingRequest.ts"
import * as NodeListener from "./NodeListener.ts"
import { hasBody, hasPendingBody } from "./NodeRequest.ts"
import type { PreparedResponse } from "./PreparedResponse.ts"
import * as TransportFault from "./TransportFault.ts"
import type { Turns, Waiting } from "./Turns.ts"

/** Milliseconds that a broken connection stays open after its answer, so that its client comes to read it. */
const LINGER_MS = 1_000

/** What a connection is answered with. */
export interface Answers {
  readonly handle: NodeListener.Handler
  readonly refuse: (
    error: TransportError,
    clientAddress: string | undefined,
    write: (answer: ServiceResponse) => void
  ) => void
  /** Whether responses announce that the connection is closed. */
  readonly isDraining: () => boolean
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

/** What the connections of a server share. */
export interface Host {
  readonly answers: Answers
  readonly patience: Patience
  readonly turns: Turns
  /** Gives a socket to a new parser of the server. */
  readonly parse: (socket: Socket) => void
}

export class Connection implements Waiting {
  readonly #socket: Socket
  readonly #host: Host
  /** The response to the latest request. */
  #latest: PreparedResponse | undefined
  #stopLatest: (() => void) | undefined
  /** Whether a request waits for the response to the one before it, unparsed and together with the bytes after it. */
  #isHolding = false
  #hasHeld = false
  /** Whether Node may have stopped to read from the socket when the first request was held. */
  #isStopped = false
  #broken = false
  /** What it had sent when the last look found it answered; silent since then, it is idle. */
  #bytesReadWhenAnswered: number | undefined
  #idleMs = 0
  #isWaitingForReader = false
  /** How long no byte could be written to the client, and how many had been by then. */
  #unreadMs = 0
  #bytesFlushed = 0
  /** Whether it reads on only when it has its turn. */
  #isWaitingForTurn = false

  constructor(socket: Socket, host: Host) {
    this.#socket = socket
    this.#host = host
    // While a request is held, no parser listens to the socket.
    socket.on("error", () => {})
    socket.on("timeout", () => this.#timeOut())
  }

  /** Whether the next request has to wait, or is not handled at all: then the parser stops at it. */
  get isBusy(): boolean {
    const latest = this.#latest
    // Node takes the socket from a response once it is flushed, at the earliest in the next tick.
    return latest !== undefined && (latest.socket !== null || this.#isOver)
  }

  /** Whether no request is handled any more; none is after a response that announces the end (RFC 9112 §9.6). */
  get #isOver(): boolean {
    return this.#broken || this.#latest?.shouldKeepAlive === false
  }

  receive(request: IncomingMessage, response: PreparedResponse, sendContinue?: () => void): void {
    response._keepAliveTimeout = this.#host.patience.keepAliveTimeoutMs
    // The parser should have stopped. Handled nevertheless, requests would pile up without bound.
    if (this.isBusy) return void this.#socket.destroy()
    this.#latest = response
    const fault = TransportFault.ofRequest(request)
    if (fault !== undefined) {
      this.#stopLatest = undefined
      response.shouldKeepAlive = false
      // Where its body ends cannot be trusted: nothing after its head is parsed for a response.
      this.#broken = hasPendingBody(request)
      this.#refuse(fault, (answer) => {
        if (this.#broken) this.#sendLast(response, answer)
        else NodeListener.send(request, response, answer)
      })
    } else if ((hasPendingBody(request) && sendContinue === undefined) || this.#host.answers.isDraining()) {
      // Most bodies come together with their heads: at the next tick they are there and need no waiting for. A
      // pipelined request is held by then, so that the response before it does not close the connection.
      let stopped = false
      this.#stopLatest = () => {
        stopped = true
      }
      process.nextTick(() => {
        if (!stopped) this.#handle(request, response, sendContinue)
      })
    } else this.#handle(request, response, sendContinue)
  }

  /**
   * Holds a request at which the parser stopped, and the bytes after it, until the response before it is flushed
   * (RFC 9112 §9.3.2). Both go back into the socket, which stops to read when it holds enough.
   */
  hold(request: IncomingMessage, rest: Buffer): void {
    const socket = this.#socket
    // Read and discarded: a connection that is closed with bytes unread takes the response from its client.
    if (this.#isOver) return void socket.resume()
    const latest = this.#latest
    // Node's first parser reads below the stream. Where it stopped to read a body, only Node reads on.
    this.#isStopped = !this.#hasHeld && latest !== undefined && hasBody(latest.req)
    this.#hasHeld = true
    socket.pause()
    socket.unshift(rest)
    socket.unshift(IncomingRequest.head(request))
    this.#isHolding = true
    if (latest !== undefined) latest.hasSuccessor = true
    if (latest === undefined || latest.socket === null) this.#host.turns.add(this)
    else {
      latest.once("finish", () => {
        if (!latest.shouldKeepAlive) return void socket.resume()
        // It is not needed any more, and a thousand that wait for their turns would grow old in memory.
        this.#latest = undefined
        this.#stopLatest = undefined
        this.#host.turns.add(this)
      })
    }
  }

  /** In its turn: gives what is held to a new parser, or reads on. */
  goOn(): void {
    this.#isWaitingForTurn = false
    const socket = this.#socket
    if (socket.destroyed) return
    if (this.#isHolding) {
      this.#isHolding = false
      this.#host.parse(socket)
      if (this.#isStopped) socket.once("resume", () => this.#startPacing())
      else this.#startPacing()
      socket.resume()
    } else if (!this.#broken) socket.resume()
  }

  /** Whether the service works on the latest request. */
  get isUnderWay(): boolean {
    const latest = this.#latest
    return latest !== undefined && !latest.writableEnded && !latest.destroyed && !hasPendingBody(latest.req)
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
      this.#refuse(fault, (answer) => this.#sendLast(latest, answer))
    }
  }

  /** Closes the connection as soon as every request that it has received has its response. */
  dismiss(): void {
    // While the server drains, the response to the last request that is held, or parsed again, closes the connection.
    if (this.#broken || this.#isHolding || this.#socket.readableLength > 0) return
    const latest = this.#latest
    if (latest === undefined || latest.writableFinished) this.#socket.destroySoon()
    else latest.once("finish", () => this.dismiss())
  }

  /**
   * Looks after the connection, each time `elapsedMs` after the last: cuts it once it was idle for long enough, and
   * watches a client that leaves its answers lying. Timers of the socket would cost each request a microsecond.
   */
  inspect(elapsedMs: number): void {
    const socket = this.#socket
    const owesNothing = this.#latest?.writableFinished === true && !this.#broken
    const isSilent = socket.bytesRead === this.#bytesReadWhenAnswered
    const isIdle = owesNothing && !this.#isHolding && !this.#isWaitingForTurn && isSilent
    this.#bytesReadWhenAnswered = owesNothing ? socket.bytesRead : undefined
    this.#idleMs = isIdle ? this.#idleMs + elapsedMs : 0
    // A look longer than announced, for what a client sends just before: it starts to count later than we do.
    const { idleTimeoutMs, readTimeoutMs } = this.#host.patience
    if (isIdle && this.#idleMs > idleTimeoutMs) return void socket.destroy()

    const isWaitingForReader = socket.writableLength > 0
    // The socket's own timer starts anew with each byte that comes in, also where none of them is parsed.
    const bytesFlushed = socket.bytesWritten - socket.writableLength
    const readsNothing = isWaitingForReader && bytesFlushed === this.#bytesFlushed
    this.#bytesFlushed = bytesFlushed
    this.#unreadMs = readsNothing && (this.#isHolding || this.#isOver) ? this.#unreadMs + elapsedMs : 0
    if (readTimeoutMs > 0 && this.#unreadMs > readTimeoutMs) return void socket.destroy()
    if (isWaitingForReader !== this.#isWaitingForReader) {
      this.#isWaitingForReader = isWaitingForReader
      socket.setTimeout(isWaitingForReader ? readTimeoutMs : 0)
    }
  }

  /** Cuts the connection whose client has not read for long; it may have begun to since the last look. */
  #timeOut(): void {
    if (this.#socket.writableLength > 0) this.#socket.destroy()
  }

  #handle(request: IncomingMessage, response: ServerResponse, sendContinue?: () => void): void {
    const stop = this.#host.answers.handle(request, response, sendContinue)
    if (this.#latest === response) this.#stopLatest = stop
  }

  /** For each parser anew: until somebody else listens, Node reads on at every `resume`, however much the socket holds. */
  #startPacing(): void {
    this.#socket.off("data", this.#pace).on("data", this.#pace)
  }

  /** Reads on in turn: what a thousand clients send would otherwise be read and parsed in one turn of the event loop. */
  readonly #pace = (): void => {
    const socket = this.#socket
    if (this.#isHolding || socket.readableLength > 0 || socket.isPaused()) return
    socket.pause()
    this.#isWaitingForTurn = true
    this.#host.turns.add(this)
  }

  #refuse(error: TransportError, write: (answer: ServiceResponse) => void): void {
    this.#host.answers.refuse(error, this.#socket.remoteAddress, write)
  }

  /** Answers a request whose body is broken, and ends the connection. */
  #sendLast(response: ServerResponse, answer: ServiceResponse): void {
    if (response.headersSent) return
    NodeListener.writeHead(response, answer)
    response.write(answer.body, () => this.#lingeringClose())
  }

  /** Ends the connection, but reads on for a while: closed with bytes unread, it would take the answer from its client. */
  #lingeringClose(last = ""): void {
    this.#socket.end(last)
    this.#socket.resume()
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
