/**
 * The responses of `NodeServer`, whose heads are put together from lines of heads before. `writeHead` checks every name
 * and every value anew, which took a seventh of the CPU of a whole request; here only what is new is checked.
 */
import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http"
import type { Header, ServiceResponse } from "../../core/service/ServiceResponse.ts"

/** For the option `ServerResponse` of `createServer`. */
export class PreparedResponse<
  Request extends IncomingMessage = IncomingMessage
> extends ServerResponse<Request> {
  /** Where `writeHead`, too, leaves the head for the first write; `null` before that. */
  declare _header: string | null
  /** Milliseconds that the server keeps an idle connection. */
  declare _keepAliveTimeout: number

  /**
   * Takes the head of an answer, the same bytes as `writeHead` would make. Where that has more to decide, or to refuse,
   * it answers `false` and does nothing; and so it does should a later Node keep the head elsewhere.
   */
  tryHead({ headers, status }: ServiceResponse, contentLength: number): boolean {
    const reason = STATUS_CODES[status]
    const isOrdinary =
      this._header === null &&
      this._keepAliveTimeout > 0 &&
      this.shouldKeepAlive &&
      !this.maxRequestsOnConnectionReached &&
      this.req.headers.expect === undefined &&
      reason !== undefined &&
      status >= 200 &&
      status !== 204 &&
      status !== 304 &&
      this.getHeaderNames().length === 0
    if (!isOrdinary) return false
    let head = `HTTP/1.1 ${status} ${reason}\r\n`
    let isDated = false
    let index = 0
    for (const field of headers) {
      const line = lineAt(index++, field)
      if (line === undefined) return false
      if (field[0] === "Date") isDated = true
      head += line
    }
    if (!isDated) return false
    this.statusCode = status
    this._header = `${head}Content-Length: ${contentLength}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(this._keepAliveTimeout / 1000)}\r\n\r\n`
    return true
  }

  /** Whether the server ends the connection with this answer; in Node, not in its types. */
  declare readonly maxRequestsOnConnectionReached: boolean
}

/** The latest field at each place, and its line: most fields are the very ones of the answer before, and never change. */
const latestFields: Array<Header> = []
const latestLines: Array<string> = []

/** RFC 9110 §5.1, as far as Node takes it; what decides about the connection is left to Node. */
const isName =
  /^(?!(?:connection|keep-alive|transfer-encoding|trailer|content-length|expect)$)[!#$%&'*+.^_`|~0-9a-z-]+$/i

/** RFC 9110 §5.5, as far as Node takes it. */
const isValue = (text: string): boolean => {
  // A loop: a pattern takes 0.1 µs more for the four values of an answer that are new.
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x20 ? unit !== 0x09 : unit === 0x7f || unit > 0xff) return false
  }
  return true
}

/** `undefined` for a field that no line may hold. */
const lineAt = (index: number, field: Header): string | undefined => {
  if (latestFields[index] === field) return latestLines[index]
  const [name, value] = field
  if (latestFields[index]?.[0] !== name && !isName.test(name)) return undefined
  if (!isValue(value)) return undefined
  const line = `${name}: ${value}\r\n`
  latestFields[index] = field
  latestLines[index] = line
  return line
}
