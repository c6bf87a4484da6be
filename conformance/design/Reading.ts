/** Reads a request as our service does: its caller, its path and its query (§4, §5). */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { isUnknownMethod } from "../http/ByService.ts"
import { split } from "../http/RequestTarget.ts"
import { headerValues, type WireRequest } from "../http/Wire.ts"
import type { Key, Setup } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"

/** Who sends a request. `unclear`: the HTTP implementation decides whether the service sees the key. */
export type Caller =
  | { readonly is: "key"; readonly key: Key; readonly isUsual: boolean }
  | { readonly is: "nobody"; readonly hasCredential: boolean; readonly clause?: ClauseSlug | undefined }
  | { readonly is: "unclear"; readonly key: Key | undefined }

/** The path of a request; `clause` is our decision by which an unknown path is unknown. */
export type Path =
  | { readonly is: "pets" | "pet"; readonly id: string; readonly isEncoded: boolean }
  | { readonly is: "unknown"; readonly clause: ClauseSlug }

export interface Reading {
  readonly caller: Caller
  readonly path: Path
  /** The decoded parameters in the order sent; `undefined` if an escape is malformed. */
  readonly query: ReadonlyArray<readonly [name: string, value: string]> | undefined
}

export const read = (request: WireRequest, setup: Setup): Reading => {
  const [path, query] = split(request.target)
  return { caller: callerOf(request, setup), path: pathOf(path, setup.basePath), query: queryOf(query) }
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

/** Maximum length of a token in characters. */
const MAX_TOKEN = 512

const callerOf = (request: WireRequest, { keys }: Setup): Caller => {
  const given = headerValues(request, "authorization").join(", ")
  if (given === "") return { is: "nobody", hasCredential: false }
  const near = keys.find(({ isValid, secret }) => isValid && given.includes(secret))
  // A server trims header values, and need not accept other characters in them.
  if (given !== given.trim() || /[^ -~]/.test(given)) return { is: "unclear", key: near }
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(given)?.[1] ?? ""
  const key = token.length > MAX_TOKEN ? undefined : keys.find(({ secret }) => secret === token)
  if (key?.isValid === true) return { is: "key", key, isUsual: given === `Bearer ${token}` }
  // Our decision by which a credential that another service might accept is invalid.
  const ofKey = given.includes(",") ? "auth.two-headers" : "auth.token-verbatim"
  const isLong = given.length > "Bearer ".length + MAX_TOKEN
  return { is: "nobody", hasCredential: true, clause: isLong ? "auth.token-length" : near && ofKey }
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

const pathOf = (path: string, basePath: string): Path => {
  const decoded = decodePath(path)
  if (decoded === undefined) return { is: "unknown", clause: "http.malformed-escape" }
  const known = match(decoded, basePath)
  if (known !== undefined) return { ...known, isEncoded: path.includes("%") }
  // Our decision by which a path is unknown that another service might know.
  const tidy = path.toLowerCase().replaceAll(/\/+/g, "/").replace(/\/$/, "")
  const isUntidy = match(decodePath(tidy) ?? "", basePath.toLowerCase()) !== undefined
  const isEncodedTwice = match(decode(decode(path) ?? "") ?? "", basePath) !== undefined
  const isOther = /\/(?:categor|store|orders)/.test(path)
  const ofUnknown = isOther ? "http.other-operations" : "http.unknown-path"
  return {
    is: "unknown",
    clause: isUntidy ? "http.paths-exact" : isEncodedTwice ? "http.decoded-once" : ofUnknown
  }
}

const match = (path: string, basePath: string) => {
  const pets = `${basePath}/pets`
  if (path === pets) return { is: "pets", id: "" } as const
  const id = path.startsWith(`${pets}/`) ? path.slice(pets.length + 1) : ""
  return id === "" || id.includes("/") ? undefined : ({ is: "pet", id } as const)
}

/** Returns the decoded parameters of a query; `undefined` if an escape is malformed. */
const queryOf = (query: string): Reading["query"] =>
  decode(query) === undefined ? undefined : [...new URLSearchParams(query)]

/** Returns the values of a parameter. */
export const valuesOf = ({ query = [] }: Reading, name: string): ReadonlyArray<string> =>
  query.filter(([given]) => given === name).map(([, value]) => value)

/** Whether a query has a parameter that no list has. */
export const hasUnknown = ({ query = [] }: Reading): boolean =>
  query.some(([name]) => !["limit", "status", "cursor"].includes(name))

/** Whether a URL is a path below the base address, or perhaps its absolute form behind a proxy. */
export const isAddressOf = (url: string, basePath: string, path: string): boolean =>
  url === basePath + path || (/^https?:\/\/[^/]/.test(url) && url.endsWith(path))
