/** Detects protocol errors: input that is not a valid HTTP request, or exceeds a transport limit. */
import type { IncomingMessage } from "node:http"
import { isIPv6 } from "node:net"
import type { TransportError } from "../../core/service/Service.ts"

export const MAX_HEADER_BYTES = 16_384
const MAX_HEADERS = 100
const MAX_TARGET_LENGTH = 8_192

/**
 * Returns the error of a request that Node's parser accepts although it is invalid or too large; `undefined` for any
 * other request.
 */
export const ofRequest = ({ httpVersion, rawHeaders, url }: IncomingMessage): TransportError | undefined => {
  if (rawHeaders.length > MAX_HEADERS * 2 || (url?.length ?? 0) > MAX_TARGET_LENGTH)
    return "headers_too_large"
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ""
    const value = rawHeaders[index + 1] ?? ""
    if (name.length === 4 && name.toLowerCase() === "host") {
      hosts++
      if (!isHost(value)) return "malformed_request"
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      // Node's parser decodes the last coding and ignores the others. HTTP/1.0 has no codings (RFC 9112 §6.1).
      if (value.toLowerCase() !== "chunked" || httpVersion !== "1.1") return "malformed_request"
    }
  }
  const hasValidHosts = httpVersion === "1.1" ? hosts === 1 : httpVersion === "1.0" && hosts <= 1
  return hasValidHosts ? undefined : "malformed_request"
}

/** Whether a `Host` header is valid: `uri-host [":" port]` (RFC 9110 §7.2), which may be empty. */
const isHost = (value: string): boolean => {
  if (isRegisteredName.test(value)) return true
  const address = /^\[(.*)\](?::\d*)?$/.exec(value)?.[1]
  // Node's `isIPv6` accepts zone identifiers; URIs do not (RFC 3986 §3.2.2).
  return address !== undefined && ((isIPv6(address) && !address.includes("%")) || isIpFuture.test(address))
}

const isRegisteredName = /^(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*(?::\d*)?$/i
const isIpFuture = /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i

/** Maps an error of Node's HTTP parser to a transport error. */
export const ofError = ({ code }: NodeJS.ErrnoException): TransportError =>
  code === "HPE_HEADER_OVERFLOW" ? "headers_too_large" : "malformed_request"
