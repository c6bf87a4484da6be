/** Recognizes the operation of a request, and makes changed copies of requests. */
import { headerValues, type WireRequest } from "../../http/Wire.ts"

const pathOf = ({ target }: WireRequest): string => target.split("?")[0] ?? ""

export const any = (): boolean => true

/** Whether a request lists animals, under any base path. */
export const isList = (request: WireRequest): boolean =>
  request.method === "GET" && pathOf(request).endsWith("/pets")

/** Whether a request creates an animal. */
export const isCreation = (request: WireRequest): boolean =>
  request.method === "POST" && pathOf(request).endsWith("/pets")

/** Whether a request retrieves a single animal. */
export const isGet = (request: WireRequest): boolean =>
  request.method === "GET" && /\/pets\/[^/]+$/.test(pathOf(request))

export const isHead = ({ method }: WireRequest): boolean => method === "HEAD"

/** Parses the parameters of the query. */
export const parameters = ({ target }: WireRequest): URLSearchParams =>
  new URLSearchParams(target.includes("?") ? target.slice(target.indexOf("?") + 1) : "")

/** Returns a parameter of a list request; `null` if it is absent, or if the request is not for a list. */
export const listParameter = (request: WireRequest, name: string): string | null =>
  isList(request) ? parameters(request).get(name) : null

/** Returns the request with these parameters instead of its own. */
const withParameters = (request: WireRequest, given: URLSearchParams): WireRequest => {
  const query = String(given)
  return { ...request, target: query === "" ? pathOf(request) : `${pathOf(request)}?${query}` }
}

/** Returns the request with a parameter that occurs once with this value, or without the parameter. */
export const withParameter = (request: WireRequest, name: string, value: string | undefined): WireRequest => {
  const given = parameters(request)
  given.delete(name)
  if (value !== undefined) given.set(name, value)
  return withParameters(request, given)
}

/** Returns the request with a header that occurs once with this value, or without the header. */
export const withHeader = (request: WireRequest, name: string, value: string | undefined): WireRequest => {
  const others = request.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase())
  return { ...request, headers: value === undefined ? others : [...others, [name, value]] }
}

/** Returns the request with another API key, or without one. */
export const withKey = (request: WireRequest, secret: string | undefined): WireRequest =>
  withHeader(request, "Authorization", secret && `Bearer ${secret}`)

/** Returns the values of the `Authorization` headers. */
export const credentials = (request: WireRequest): ReadonlyArray<string> =>
  headerValues(request, "authorization")

export const hasKey = (request: WireRequest, secret: string): boolean =>
  credentials(request).includes(`Bearer ${secret}`)
