/**
 * Handles cross-origin requests (CORS, in the Fetch standard): determines the origins whose web pages may read
 * responses. Browser credentials (cookies, TLS certificates) are never allowed; pages send their API key themselves.
 */
import * as Rule from "../options/Rule.ts"
import type { ServiceRequest } from "./ServiceRequest.ts"
import * as ServiceResponse from "./ServiceResponse.ts"

/** The value in `corsOrigins` that allows all origins. */
const ANY = "*"

type Headers = ServiceResponse.FlatHeaders

/** The permission of pages from one origin. */
export interface Permission {
  /** The headers of a response. */
  readonly headers: Headers
  /**
   * The response to a preflight request. Every method and header is allowed, so that pages can read the errors of the
   * service instead of a network failure without a reason.
   */
  readonly preflight: ServiceResponse.Reply
}

/** Returns the permission of pages from this `Origin`. */
export type Cors = (origin: string | undefined) => Permission

/** Creates the permissions for the allowed origins; returns `undefined` if no origin is allowed. */
export const make = (origins: ReadonlyArray<string>): Cors | undefined => {
  if (origins.length === 0) return undefined
  if (origins.includes(ANY)) return everyone
  const allowed = new Map(origins.map((origin) => [origin, permissionOf(origin)]))
  return (origin = "") => allowed.get(origin) ?? noPermission
}

/** Whether a browser sends this request to ask for the permission to send another one. */
export const isPreflight = (request: ServiceRequest): boolean =>
  request.method === "OPTIONS" &&
  request.header("origin") !== undefined &&
  request.header("access-control-request-method") !== undefined

/** Headers that pages may read in addition to the headers that the Fetch standard always exposes. */
const exposedHeaders =
  "Accept, Accept-Encoding, Allow, Date, Deprecation, Idempotency-Replayed, Link, Location, RateLimit, " +
  "RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, " +
  "X-RateLimit-Reset, X-Request-Id"

/** Time for which a browser may cache a preflight response, in seconds: the maximum of Chromium. */
const MAX_AGE = "7200"

const varyOrigin: Headers = ["Vary", "Origin"]

const permissionOf = (origin: string): Permission => {
  const allowOrigin: Headers = ["Access-Control-Allow-Origin", origin]
  const vary = origin === ANY ? [] : varyOrigin
  return {
    headers: [...allowOrigin, "Access-Control-Expose-Headers", exposedHeaders, ...vary],
    preflight: ServiceResponse.make(204, "", [
      ...allowOrigin,
      ...["Access-Control-Allow-Methods", "GET, HEAD, POST, *"],
      // `*` does not include `Authorization`, and browsers from 2019 treat `*` as a header name.
      ...["Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, *"],
      ...["Access-Control-Max-Age", MAX_AGE],
      ...vary
    ])
  }
}

// A response without permission also depends on the origin: caches must not return it to pages of allowed origins.
const noPermission: Permission = {
  headers: varyOrigin,
  preflight: ServiceResponse.make(204, "", varyOrigin)
}

const allOrigins = permissionOf(ANY)

/** The permissions of responses that every page may read. */
export const everyone: Cors = () => allOrigins

/**
 * Returns whether a string is an origin as browsers send it (RFC 6454 §6.2): in lower case, without a path, and without
 * the default port of its scheme. `null`, which browsers send for pages without an origin, is not accepted, because
 * anybody can create such pages.
 */
export const isOrigin = (text: string): boolean => {
  const [, scheme, port] =
    /^([a-z][a-z0-9+.-]*):\/\/(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?$/.exec(
      text
    ) ?? []
  return (
    scheme !== undefined && (port === undefined || (Number(port) < 65_536 && port !== defaultPorts[scheme]))
  )
}

const defaultPorts: { readonly [scheme: string]: string | undefined } = { http: "80", https: "443" }

/** The rule for a list of allowed origins. */
export const rule: Rule.Rule<ReadonlyArray<string>> = Rule.make(
  (value): value is ReadonlyArray<string> =>
    Array.isArray(value) &&
    value.every((origin) => typeof origin === "string" && (origin === ANY || isOrigin(origin))) &&
    (value.length === 1 || !value.includes(ANY)),
  "must be origins as browsers send them, such as https://shop.example or http://localhost:5173, in lower case and " +
    `without a path or a default port, or only ${ANY}`
)
