/** Makes faulty responses from correct ones, and reads animals from their bodies. */
import * as Result from "effect/Result"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { bytes, text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { World } from "../Fault.ts"

/** Makes a faulty response from the correct one. */
export type Edit = (response: WireResponse, request: WireRequest, world: World) => WireResponse

/** An edit that needs only the response. */
type PlainEdit = (response: WireResponse) => WireResponse

export const status =
  (code: number): PlainEdit =>
  (response) => ({ ...response, status: code })

export const body =
  (content: string): PlainEdit =>
  (response) => ({ ...response, body: bytes(content) })

/** Replaces the status and the body, and keeps the headers. */
export const replace =
  (code: number, content: string): PlainEdit =>
  (response) => ({ ...response, status: code, body: bytes(content) })

/** Replaces the response with an Error, and keeps the headers. */
export const error = (otherStatus: number, code: string): PlainEdit =>
  replace(otherStatus, `{"code":"${code}","message":"It failed.","status":${otherStatus}}`)

/** Removes all headers with this name. */
export const without =
  (name: string): PlainEdit =>
  (response) => ({
    ...response,
    headers: response.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase())
  })

/** Sets the header, so that it occurs exactly once. */
export const header =
  (name: string, value: string): PlainEdit =>
  (response) => {
    const { headers, ...rest } = without(name)(response)
    return { ...rest, headers: [...headers, [name, value]] }
  }

/** Changes the text of the body. */
export const rewritten =
  (change: (body: string) => string): PlainEdit =>
  (response) =>
    body(change(text(response.body)))(response)

/** Encodes JSON; a `bigint` becomes a number with all its digits. */
export const write = (value: unknown): string => {
  if (typeof value === "bigint") return String(value)
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(",")}}`
}

/** Changes the object in the body; a body that is not JSON is unchanged. */
export const members =
  (change: (members: { readonly [name: string]: unknown }) => unknown): PlainEdit =>
  (response) =>
    Result.match(PetJson.parse(text(response.body)), {
      onSuccess: (value) => body(write(change({ ...Object(value) })))(response),
      onFailure: () => response
    })

/** Remembers what a function returns for a response, because many mutants read the same recorded response. */
const remembered = <A>(read: (response: WireResponse) => A): ((response: WireResponse) => A) => {
  const known = new WeakMap<WireResponse, A>()
  return (response) => {
    const before = known.get(response)
    if (before !== undefined || known.has(response)) return before as A // it was set by `read`
    const value = read(response)
    known.set(response, value)
    return value
  }
}

/** Returns the animals in the body of a list, or `undefined` if it is not a list of animals. */
export const animalsOf: (response: WireResponse) => ReadonlyArray<Animal> | undefined = remembered(
  (response) => Result.getOrUndefined(Result.flatMap(PetJson.parse(text(response.body)), PetJson.animals))
)

/** Returns the animal in the body, or `undefined` if there is none. */
export const animalOf: (response: WireResponse) => Animal | undefined = remembered((response) =>
  Result.getOrUndefined(Result.flatMap(PetJson.parse(text(response.body)), PetJson.animal))
)
