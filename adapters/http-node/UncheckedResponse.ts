/**
 * The responses of `NodeServer`, whose heads are written in one piece. `writeHead` checks every name and every value
 * anew, which is a seventh of the CPU of a whole request; those of an answer are the service's own, and end no line.
 */
import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http"
import type { Header, ServiceResponse } from "../../core/service/ServiceResponse.ts"

/** For the option `ServerResponse` of `createServer`. */
export class UncheckedResponse<
  Request extends IncomingMessage = IncomingMessage
> extends ServerResponse<Request> {
  /** Where `writeHead`, too, leaves the head for the first write; `null` before that. */
  declare _header: string | null
  /** Milliseconds that the server keeps an idle connection. */
  declare _keepAliveTimeout: number

  /**
   * Takes the head of an answer, the same bytes as `writeHead` would make, unless that had more to decide: then it
   * answers `false`, and so it does should a later Node keep the head elsewhere.
   */
  tryHead({ headers, status }: ServiceResponse, contentLength: number): boolean {
    const isOrdinary =
      this._header === null &&
      this.shouldKeepAlive &&
      status !== 204 &&
      this.req.headers.expect === undefined &&
      this._keepAliveTimeout > 0
    if (!isOrdinary) return false
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    for (const field of headers) head += lineOf(field)
    this.statusCode = status
    this._header = `${head}Content-Length: ${contentLength}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(this._keepAliveTimeout / 1000)}\r\n\r\n`
    return true
  }
}

/** The latest line of each name: most values are those of the answer before, and their lines need no making. */
const lines = new Map<string, { readonly value: string; readonly line: string }>()

const lineOf = ([name, value]: Header): string => {
  const latest = lines.get(name)
  if (latest?.value === value) return latest.line
  const line = `${name}: ${value}\r\n`
  lines.set(name, { value, line })
  return line
}
