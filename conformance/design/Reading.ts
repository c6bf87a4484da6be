/** Reads a request as our service does: decodes its path once, takes HEAD for GET, and then reads it as the model does. */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { isUnknownMethod } from "../http/ByService.ts"
import { split } from "../http/RequestTarget.ts"
import { headerValues, type WireRequest } from "../http/Wire.ts"
import type { Key, Setup } from "../model/Exchange.ts"
import * as Request from "../model/Request.ts"
import type { Seen } from "../model/Seen.ts"

/** Who sends a request. `unclear`: the HTTP implementation decides whether the service sees the key. */
export type Caller =
  | { readonly is: "key"; readonly key: Key; readonly isUsual: boolean }
  | { readonly is: "nobody"; readonly hasCredential: boolean; readonly clause?: ClauseSlug | undefined }
  | { readonly is: "unclear"; readonly key: Key | undefined }

export interface Reading {
  readonly caller: Caller
  readonly operation: Request.Operation
  readonly path: "pets" | "pet" | "unknown"
  /** Our decision by which another path than the usual one is known or unknown. */
  readonly ofPath: ClauseSlug | undefined
  /** The decoded parameters in the order sent; `undefined` if an escape is malformed. */
  readonly query: ReadonlyArray<readonly [name: string, value: string]> | undefined
}

export const read = (request: WireRequest, setup: Setup): Reading => {
  const [written, query] = split(request.target)
  const decoded = decodePath(written)
  const path = pathOf(decoded, setup.basePath)
  const ofKnown = written.includes("%") ? "http.decoded-once" : undefined
  const target = (decoded ?? "").split("/").map(encodeURIComponent).join("/") + query
  const method = request.method === "HEAD" ? "GET" : request.method
  const { caller, operation } = Request.read({ ...request, method, target }, setup)
  return {
    caller: callerOf(request, caller),
    operation,
    path,
    ofPath: path === "unknown" ? whyUnknown(written, setup.basePath) : ofKnown,
    query: decode(query) === undefined ? undefined : [...new URLSearchParams(query)]
  }
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Decodes a path, except encoded slashes, which separate no segments. */
const decodePath = (path: string): string | undefined => decode(path.replaceAll(/%2f/gi, "%252f"))

const pathOf = (path: string | undefined, basePath: string): Reading["path"] => {
  if (!path?.startsWith(`${basePath}/pets`)) return "unknown"
  const rest = path.slice(`${basePath}/pets`.length)
  return rest === "" ? "pets" : /^\/[^/]+$/.test(rest) ? "pet" : "unknown"
}

/** Returns our decision by which a path is unknown that another service might know. */
const whyUnknown = (path: string, basePath: string): ClauseSlug => {
  if (decodePath(path) === undefined) return "http.malformed-escape"
  const tidy = path.toLowerCase().replaceAll(/\/+/g, "/").replace(/\/$/, "")
  if (pathOf(decodePath(tidy), basePath.toLowerCase()) !== "unknown") return "http.paths-exact"
  if (pathOf(decode(decode(path) ?? ""), basePath) !== "unknown") return "http.decoded-once"
  return /\/(?:categor|store|orders)/.test(path) ? "http.other-operations" : "http.unknown-path"
}

/** Maximum length of a token in characters. */
const MAX_TOKEN = 512

const callerOf = (request: WireRequest, { is, key }: Request.Caller): Caller => {
  const given = headerValues(request, "authorization").join(", ")
  if (given === "") return { is: "nobody", hasCredential: false }
  // A server trims header values, and need not accept other characters in them.
  if (given !== given.trim() || /[^ -~]/.test(given)) return { is: "unclear", key }
  const token = /^bearer +([^ ]+)$/i.exec(given)?.[1] ?? ""
  if (key !== undefined && key.secret === token) return { is: "key", key, isUsual: is === "valid" }
  // Our decision by which a credential that another service might accept is invalid.
  const ofKey = given.includes(",") ? "auth.two-headers" : "auth.token-verbatim"
  const isLong = given.length > "Bearer ".length + MAX_TOKEN
  return { is: "nobody", hasCredential: true, clause: isLong ? "auth.token-length" : key && ofKey }
}

/** Returns the caller as a response shows it. */
export const shownBy = (caller: Caller, exchange: Seen["exchange"]): Caller => {
  const { status } = exchange.response
  // What Node rejects by itself counts for the network.
  if (isUnknownMethod(exchange)) return { is: "nobody", hasCredential: false }
  if (caller.is !== "unclear" || status === 429) return caller
  if (status === 401) return { is: "nobody", hasCredential: true }
  return caller.key === undefined ? caller : { is: "key", key: caller.key, isUsual: false }
}

/** Returns the values of a parameter. */
export const valuesOf = ({ query = [] }: Reading, name: string): ReadonlyArray<string> =>
  query.filter(([given]) => given === name).map(([, value]) => value)

/** Whether a query has a parameter that no list has. */
export const hasUnknown = ({ query = [] }: Reading): boolean =>
  query.some(([name]) => !["limit", "status", "cursor"].includes(name))

/** Whether a URL is a path below the base address, or perhaps its absolute form behind a proxy. */
export const isAddressOf = (url: string, basePath: string, path: string): boolean =>
  url === basePath + path || (/^https?:\/\/[^/]/.test(url) && url.endsWith(path))
