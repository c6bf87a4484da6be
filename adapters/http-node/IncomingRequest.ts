/**
 * Makes Node's parser stop after the head of a request while its connection is busy.
 *
 * The parser processes everything that one read returns, such as two thousand requests in 64 kB. Pausing the socket
 * does not stop it, but an upgrade does, and returns the unparsed bytes. A request on a busy connection is therefore
 * marked as an upgrade: it is held together with these bytes, and later parsed again as an ordinary request. A real
 * upgrade request is handled in the same way, because Node loses the bytes after an upgrade that is rejected.
 */
import { Buffer } from "node:buffer"
import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"

/** Creates the class for the `IncomingMessage` option of `createServer`. */
export const makeClass = (isBusy: (socket: Socket) => boolean): typeof IncomingMessage =>
  class IncomingRequest extends IncomingMessage {
    #upgrade: boolean | undefined

    /** Whether the parser stops after the head of this request. */
    get upgrade(): boolean | undefined {
      return this.#upgrade
    }

    set upgrade(value: boolean | null) {
      // The constructor of `IncomingMessage` sets it to null before this class initializes its fields.
      if (value !== null) this.#upgrade = value || isBusy(this.socket)
    }
  }

/** Encodes the head of a request again, without optional white space and without its `Upgrade` header. */
export const head = ({ httpVersion, method, rawHeaders, url }: IncomingMessage): Buffer => {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ""
    // No space after the colon, so that the head does not grow beyond the size limit.
    if (name.toLowerCase() !== "upgrade") text += `${name}:${rawHeaders[index + 1]}\r\n`
  }
  return Buffer.from(`${text}\r\n`, "latin1")
}
