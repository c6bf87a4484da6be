/** Tells responses of a service from those that its HTTP implementation sends without calling it. */
import type { Responded } from "./Wire.ts"

/** Statuses that an HTTP implementation sends without calling the service; they are not in the contract. */
const transportStatuses: ReadonlySet<number> = new Set([
  408, 411, 414, 417, 421, 426, 431, 501, 502, 504, 505
])

/** Matches targets that RFC 3986 does not allow: an HTTP implementation may reject them with 400 by itself. */
const malformedTarget = /%(?![0-9a-f]{2})|[^!-~]/i

/** Matches the methods that every HTTP implementation knows; it may reject others with 400 by itself. */
const knownMethod = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT)$/

/** Whether an HTTP implementation probably rejected the method by itself. */
export const isUnknownMethod = ({ request, response }: Responded): boolean =>
  response.status === 400 && !knownMethod.test(request.method)

/** Whether the service itself probably sent the response. */
export const isOfService = ({ request, response }: Responded): boolean =>
  !transportStatuses.has(response.status) &&
  !isUnknownMethod({ request, response }) &&
  (response.status !== 400 || !malformedTarget.test(request.target))

/** Whether a response to this method and with this status may have a body. */
export const hasBody = ({ request, response }: Responded): boolean =>
  request.method !== "HEAD" && response.status >= 200 && response.status !== 204 && response.status !== 304

/** Whether the body is not empty. */
export const isFilled = (exchange: Responded): boolean =>
  hasBody(exchange) && exchange.response.body.length > 0
