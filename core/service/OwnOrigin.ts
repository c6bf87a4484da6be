/** Determines the address at which a client reached the service. */
import type { ServiceRequest } from "./ServiceRequest.ts"

/**
 * Returns the origin of the service from the client's point of view, such as `http://localhost:3000`; `undefined` if
 * it is not certain. Behind a proxy, the service may receive another host, and another scheme if the proxy terminates
 * TLS. The origin is therefore certain only for local addresses and for `https`, and only without proxy headers.
 */
export const of = (request: ServiceRequest): string | undefined => {
  if (proxyHeaders.some((name) => request.header(name) !== undefined)) return undefined
  const absolute = /^(https?):\/\/([^/?#]*)/i.exec(request.target)
  const scheme = (absolute?.[1] ?? "http").toLowerCase()
  const host = (absolute?.[2] ?? request.header("host") ?? "").toLowerCase()
  return (scheme === "https" ? hostPattern : localHostPattern).test(host) ? `${scheme}://${host}` : undefined
}

/** Headers that proxies add to requests. */
const proxyHeaders = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"]

const localHostPattern = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/
const hostPattern = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/
