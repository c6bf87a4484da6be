/** Requests and answers changed on their way: what faulty servers are made of. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Animal } from "../checks/Catalogue.ts"
import * as PetJson from "../http/PetJson.ts"
import {
  bytes,
  type Header,
  type Transport,
  text,
  type WireRequest,
  type WireResponse
} from "../http/Wire.ts"

/** A transport whose answers are changed. */
export const answers =
  (change: (response: WireResponse, request: WireRequest) => WireResponse) =>
  (real: Transport): Transport =>
  (request) =>
    Effect.map(real(request), (response) => change(response, request))

/** A transport whose requests are changed. */
export const requests =
  (change: (request: WireRequest) => WireRequest) =>
  (real: Transport): Transport =>
  (request) =>
    real(change(request))

const pathOf = ({ target }: WireRequest): string => target.split("?")[0] ?? ""

/** Whether it asks for a list of animals, whatever the base path. */
export const isList = (request: WireRequest): boolean =>
  request.method === "GET" && pathOf(request).endsWith("/pets")

/** Whether it asks for a new animal. */
export const isCreation = (request: WireRequest): boolean =>
  request.method === "POST" && pathOf(request).endsWith("/pets")

/** Whether it asks for a single animal. */
export const isGet = (request: WireRequest): boolean =>
  request.method === "GET" && /\/pets\/[^/]+$/.test(pathOf(request))

/** The parameters of the query. */
export const parameters = ({ target }: WireRequest): URLSearchParams =>
  new URLSearchParams(target.includes("?") ? target.slice(target.indexOf("?") + 1) : "")

/** The same request with these parameters. */
export const withParameters = (request: WireRequest, given: URLSearchParams): WireRequest => {
  const query = String(given)
  return { ...request, target: query === "" ? pathOf(request) : `${pathOf(request)}?${query}` }
}

/** The same request with one parameter changed: given once with this value, or left out. */
export const withParameter = (request: WireRequest, name: string, value: string | undefined): WireRequest => {
  const given = parameters(request)
  given.delete(name)
  if (value !== undefined) given.set(name, value)
  return withParameters(request, given)
}

export const withStatus = (response: WireResponse, status: number): WireResponse => ({ ...response, status })

/** Without the header, however often it came. */
export const withoutHeader = (response: WireResponse, name: string): WireResponse => ({
  ...response,
  headers: response.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase())
})

/** With the header once. */
export const withHeader = (response: WireResponse, ...header: Header): WireResponse => {
  const { headers, ...rest } = withoutHeader(response, header[0])
  return { ...rest, headers: [...headers, header] }
}

export const withBody = (response: WireResponse, body: string): WireResponse => ({
  ...response,
  body: bytes(body)
})

/** JSON with the digits of a `bigint` as a number. */
export const write = (value: unknown): string => {
  if (typeof value === "bigint") return String(value)
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(",")}}`
}

/** With what `change` makes of the JSON in the body; as it is when there is none. */
export const withJson = (response: WireResponse, change: (value: unknown) => unknown): WireResponse =>
  Result.match(PetJson.parse(text(response.body)), {
    onSuccess: (value) => withBody(response, write(change(value))),
    onFailure: () => response
  })

/** The animals in the body of a list, if it is one. */
export const animalsOf = (response: WireResponse): ReadonlyArray<Animal> | undefined =>
  Result.getOrUndefined(Result.flatMap(PetJson.parse(text(response.body)), PetJson.animals))

/** The animal in the body, if there is one. */
export const animalOf = (response: WireResponse): Animal | undefined =>
  Result.getOrUndefined(Result.flatMap(PetJson.parse(text(response.body)), PetJson.animal))

/** A transport whose lists hold other animals. */
export const lists = (
  change: (animals: ReadonlyArray<Animal>, request: WireRequest) => unknown
): ((real: Transport) => Transport) =>
  answers((response, request) => {
    const animals = isList(request) && response.status === 200 ? animalsOf(response) : undefined
    return animals === undefined ? response : withBody(response, write(change(animals, request)))
  })
