/**
 * The requests of `NodeServer`, at which Node's parser stops while their connection is busy.
 *
 * The parser takes at once whatever was read, for example two thousand requests in 64 kB. Pausing the socket does not stop
 * it, but an upgrade does, and returns the bytes that were not parsed. A request on a busy connection therefore counts as
 * an upgrade: it is held together with these bytes, and parsed again, as an ordinary request, when its turn has come.
 * So is a request that really asks for an upgrade, since Node loses what follows one that is rejected.
 */
import { Buffer } from "node:buffer"
import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"

/** Requests for the option `IncomingMessage` of `createServer`. */
export const makeClass = (isBusy: (socket: Socket) => boolean): typeof IncomingMessage =>
  class IncomingRequest extends IncomingMessage {
    #upgrade: boolean | undefined

    /** Whether the parser stops after the head of this request. */
    get upgrade(): boolean | undefined {
      return this.#upgrade
    }

    set upgrade(value: boolean | null) {
      // The constructor of `IncomingMessage` clears it before this class has fields.
      if (value !== null) this.#upgrade = value || isBusy(this.socket)
    }
  }

/** The head of a request in its original bytes, but for optional white space and the wish to upgrade. */
export const head = ({ httpVersion, method, rawHeaders, url }: IncomingMessage): Buffer => {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ""
    // No space after the colon: the head must not grow beyond its limit.
    if (name.toLowerCase() !== "upgrade") text += `${name}:${rawHeaders[index + 1]}\r\n`
  }
  return Buffer.from(`${text}\r\n`, "latin1")
}
