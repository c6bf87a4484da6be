/** Reads a request as our service does: its caller, its path and its query (§4, §5). */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { isUnknownMethod } from "../http/ByService.ts"
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
  const [path = "", ...query] = request.target.split("?")
  return {
    caller: callerOf(request, setup),
    path: pathOf(path, setup.basePath),
    query: queryOf(query.join("?"))
  }
}

export const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Maximum length of a token in characters. */
const MAX_TOKEN = 512

const callerOf = (request: WireRequest, { keys }: Setup): Caller => {
  const values = headerValues(request, "authorization")
  const given = values.join(", ")
  if (given === "") return { is: "nobody", hasCredential: false }
  // A server trims header values, and need not accept other characters in them.
  if (given !== given.trim() || /[^ -~]/.test(given)) {
    return { is: "unclear", key: keys.find(({ isValid, secret }) => isValid && given.includes(secret)) }
  }
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(given)?.[1] ?? ""
  const key = token.length > MAX_TOKEN ? undefined : keys.find(({ secret }) => secret === token)
  return key?.isValid === true
    ? { is: "key", key, isUsual: given === `Bearer ${token}` }
    : { is: "nobody", hasCredential: true, clause: whyInvalid(given, keys) }
}

/** Returns our decision by which a credential that another service might accept is invalid. */
const whyInvalid = (given: string, keys: ReadonlyArray<Key>): ClauseSlug | undefined => {
  if (given.length > "Bearer ".length + MAX_TOKEN) return "auth.token-length"
  if (!keys.some(({ isValid, secret }) => isValid && given.includes(secret))) return undefined
  return given.includes(",") ? "auth.two-headers" : "auth.token-verbatim"
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
  const segments = segmentsOf(path)
  if (segments === undefined) return { is: "unknown", clause: "http.malformed-escape" }
  const known = match(segments, basePath)
  if (known !== undefined) return { ...known, isEncoded: path.includes("%") }
  return { is: "unknown", clause: whyUnknown(path, basePath) }
}

const segmentsOf = (path: string): ReadonlyArray<string> | undefined => {
  const segments = path.slice(1).split("/").map(decode)
  return path.startsWith("/") && segments.every((segment) => segment !== undefined) ? segments : undefined
}

const match = (segments: ReadonlyArray<string>, basePath: string) => {
  const pets = `${basePath}/pets`.slice(1).split("/")
  const [id = "", ...others] = segments.slice(pets.length)
  if (!pets.every((segment, index) => segment === segments[index]) || others.length > 0) return undefined
  if (segments.length === pets.length) return { is: "pets", id: "" } as const
  return id === "" ? undefined : ({ is: "pet", id } as const)
}

/** Returns our decision by which a path is unknown that another service might know. */
const whyUnknown = (path: string, basePath: string): ClauseSlug => {
  const tidy = path.toLowerCase().replaceAll(/\/+/g, "/").replace(/\/$/, "")
  if (match(segmentsOf(tidy) ?? [], basePath.toLowerCase()) !== undefined) return "http.paths-exact"
  const again = segmentsOf(decode(path) ?? "")
  if (again !== undefined && match(again, basePath) !== undefined) return "http.decoded-once"
  return /\/(?:categor|store|orders)/.test(path) ? "http.other-operations" : "http.unknown-path"
}

/** Returns the decoded parameters of a query; `undefined` if an escape is malformed. */
export const queryOf = (query: string): Reading["query"] => {
  const pairs = query.split("&").filter((pair) => pair !== "")
  const read = pairs.map((pair) => {
    const [name = "", ...value] = pair.replaceAll("+", " ").split("=")
    return [decode(name), decode(value.join("="))] as const
  })
  const isDecoded = (
    pair: readonly [string | undefined, string | undefined]
  ): pair is readonly [string, string] => pair[0] !== undefined && pair[1] !== undefined
  return read.every(isDecoded) ? read : undefined
}

/** Returns the values of a parameter. */
export const valuesOf = ({ query = [] }: Reading, name: string): ReadonlyArray<string> =>
  query.filter(([given]) => given === name).map(([, value]) => value)

/** Whether a query has a parameter with another name. */
export const hasUnknown = ({ query = [] }: Reading, ...names: ReadonlyArray<string>): boolean =>
  query.some(([name]) => !names.includes(name))
