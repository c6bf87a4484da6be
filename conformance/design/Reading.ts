/** Reads a request as our service does: with its own routes, and by our decisions on credentials. */
import * as Operations from "../../core/operations/Operations.ts"
import * as Router from "../../core/service/Router.ts"
import * as Target from "../../core/service/Target.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { isUnknownMethod } from "../http/ByService.ts"
import { headerValues, type WireRequest } from "../http/Wire.ts"
import type { Key, Setup } from "../model/Exchange.ts"
import * as Request from "../model/Request.ts"
import type { Seen } from "../model/Seen.ts"

/** Who sends a request. `unclear`: the HTTP implementation decides whether the service sees the key. */
export type Caller =
  | { readonly is: "key"; readonly key: Key; readonly isUsual: boolean }
  | { readonly is: "nobody"; readonly hasCredential: boolean; readonly clause?: ClauseSlug | undefined }
  | { readonly is: "unclear"; readonly key: Key | undefined }

export interface Reading extends Target.Target {
  readonly request: WireRequest
  readonly basePath: string
  readonly caller: Caller
  /** The decoded parameters. */
  readonly sent: URLSearchParams
  /** The operation as the model reads it, from the path as sent. */
  readonly operation: Request.Operation
  /** The route of our service; `undefined` if the path is unknown. */
  readonly route: Router.Route | undefined
}

const resources = Router.resourcesOf(Operations.all)

export const read = (request: WireRequest, setup: Setup): Reading => {
  const { basePath } = setup
  const target = Target.parse(request.target)
  const { caller, operation } = Request.read(request, setup)
  const route = Router.make(basePath, resources)(request.method, target.path)
  const sent = new URLSearchParams(`?${target.query}`)
  return { ...target, request, basePath, caller: callerOf(request, caller), sent, operation, route }
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

/** Whether a query has a parameter that the operation does not have. */
export const isOdd = ({ route, sent }: Reading): boolean =>
  [...sent.keys()].some((name) => !Object.hasOwn(route?.operation?.query ?? {}, name))

/** Whether a URL is a path below the base address, or perhaps its absolute form behind a proxy. */
export const isAddressOf = (url: string, basePath: string, path: string): boolean =>
  url === basePath + path || (/^https?:\/\/[^/]/.test(url) && url.endsWith(path))
