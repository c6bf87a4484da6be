/** Which operation a request calls, and the same request changed. */
import { headerValues, type WireRequest } from "../../http/Wire.ts"

const pathOf = ({ target }: WireRequest): string => target.split("?")[0] ?? ""

export const any = (): boolean => true

/** True for a list of animals, whatever the base path. */
export const isList = (request: WireRequest): boolean =>
  request.method === "GET" && pathOf(request).endsWith("/pets")

/** True for the creation of an animal. */
export const isCreation = (request: WireRequest): boolean =>
  request.method === "POST" && pathOf(request).endsWith("/pets")

/** True for the retrieval of a single animal. */
export const isGet = (request: WireRequest): boolean =>
  request.method === "GET" && /\/pets\/[^/]+$/.test(pathOf(request))

export const isHead = ({ method }: WireRequest): boolean => method === "HEAD"

/** The parameters of the query. */
export const parameters = ({ target }: WireRequest): URLSearchParams =>
  new URLSearchParams(target.includes("?") ? target.slice(target.indexOf("?") + 1) : "")

/** A parameter of a list; `null` when it is absent or the request is for something else. */
export const listParameter = (request: WireRequest, name: string): string | null =>
  isList(request) ? parameters(request).get(name) : null

/** The same request with these parameters. */
export const withParameters = (request: WireRequest, given: URLSearchParams): WireRequest => {
  const query = String(given)
  return { ...request, target: query === "" ? pathOf(request) : `${pathOf(request)}?${query}` }
}

/** The same request with one parameter changed: present once with this value, or absent. */
export const withParameter = (request: WireRequest, name: string, value: string | undefined): WireRequest => {
  const given = parameters(request)
  given.delete(name)
  if (value !== undefined) given.set(name, value)
  return withParameters(request, given)
}

/** The same request with one header changed: present once with this value, or absent. */
export const withHeader = (request: WireRequest, name: string, value: string | undefined): WireRequest => {
  const others = request.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase())
  return { ...request, headers: value === undefined ? others : [...others, [name, value]] }
}

/** The same request with another API key, or without one. */
export const withKey = (request: WireRequest, secret: string | undefined): WireRequest =>
  withHeader(request, "Authorization", secret && `Bearer ${secret}`)

/** The values of the `Authorization` headers. */
export const credentials = (request: WireRequest): ReadonlyArray<string> =>
  headerValues(request, "authorization")

export const hasKey = (request: WireRequest, secret: string): boolean =>
  credentials(request).includes(`Bearer ${secret}`)
