/**
 * The stream that Node's HTTP server gets instead of a socket: it writes to the socket, and `Connection` chooses which
 * bytes from the socket Node's parser receives.
 */

import type { Socket } from "node:net"
import { Duplex } from "node:stream"
import type { WriteBatch } from "./WriteBatch.ts"

type Callback = (error?: Error | null) => void

interface Write {
  readonly chunk: string | Uint8Array
  readonly encoding: BufferEncoding
}

export class ParserStream extends Duplex {
  readonly #socket: Socket
  readonly #batch: WriteBatch

  constructor(socket: Socket, batch: WriteBatch) {
    super({ decodeStrings: false, highWaterMark: socket.readableHighWaterMark })
    this.#socket = socket
    this.#batch = batch
    socket.once("end", () => this.push(null))
    socket.once("close", () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /** Closes the connection once everything is written; Node calls it after the last response. */
  destroySoon(): void {
    this.#socket.destroySoon()
  }

  /** Does nothing: `Connection` pushes bytes as they arrive, and pauses the socket. */
  override _read(): void {}

  override _write(chunk: Write["chunk"], encoding: BufferEncoding, callback: Callback): void {
    this.#batch.add(this.#socket)
    this.#socket.write(chunk, encoding, callback)
  }

  /** Sends several writes, such as a head and its body, in one segment. */
  override _writev(writes: ReadonlyArray<Write>, callback: Callback): void {
    this.#batch.add(this.#socket)
    for (const { chunk, encoding } of writes.slice(0, -1)) this.#socket.write(chunk, encoding)
    for (const { chunk, encoding } of writes.slice(-1)) this.#socket.write(chunk, encoding, callback)
  }

  override _final(callback: Callback): void {
    this.#socket.end(callback)
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#socket.destroy()
    callback(error)
  }
}
