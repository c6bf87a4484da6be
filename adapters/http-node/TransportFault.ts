/** What is wrong with what came in, where there is no request to answer or none that HTTP allows. */
import type { IncomingMessage } from "node:http"
import type { TransportError } from "../../core/service/Service.ts"

export const MAX_HEADER_BYTES = 16_384
const MAX_HEADERS = 100
const MAX_TARGET_LENGTH = 8_192

/** What HTTP forbids and Node's parser lets through. */
export const ofRequest = ({ httpVersion, rawHeaders, url }: IncomingMessage): TransportError | undefined => {
  if (rawHeaders.length > MAX_HEADERS * 2 || (url?.length ?? 0) > MAX_TARGET_LENGTH)
    return "headers_too_large"
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === "host") hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0") ? undefined : "malformed_request"
}

/** What an error of Node's parser, or of its timers, means. */
export const ofError = ({ code }: NodeJS.ErrnoException): TransportError => {
  if (code === "HPE_HEADER_OVERFLOW") return "headers_too_large"
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "request_timeout" : "malformed_request"
}
