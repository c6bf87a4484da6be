/** Builds requests that create an animal, with a valid body or with one that is invalid in one way. */
import * as Effect from "effect/Effect"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import type { Http, Sent } from "../../evaluation/Http.ts"
import type { Failure } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Header } from "../../http/Wire.ts"
import * as Responses from "./Responses.ts"

/** Returns a category that the subject accepts: `wanted` if it accepts any, otherwise the first that it declares. */
export const categoryOf = ({ facts }: Http, wanted = 1n): bigint =>
  facts.categories === "any" ? wanted : (facts.categories[0] ?? wanted)

/** Creates an animal with a new name that belongs to this evaluation. */
export const createOwn = (http: Http, trial: Trial, status?: PetStatus): Effect.Effect<Animal, Failure> =>
  http.create({ name: trial.name(), categoryId: categoryOf(http), status })

/** The template of a body that every implementation accepts; see `fill`. */
export const PLAIN = '{"name":"$name","categoryId":$category}'

/** Returns PLAIN with this JSON as the value of `name`. */
export const withName = (value: string): string => `{"name":${value},"categoryId":$category}`

/** Returns PLAIN with this JSON as the value of `categoryId`. */
export const withCategory = (value: string): string => `{"name":"$name","categoryId":${value}}`

/** Returns PLAIN with one more member. */
export const withMember = (member: string): string => `{"name":"$name","categoryId":$category,${member}}`

/** Returns PLAIN with this JSON as the value of `status`. */
export const withStatus = (value: string): string => withMember(`"status":${value}`)

/** Returns the JSON of arrays that are nested `levels` deep. */
export const nestedArrays = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

/** Fills a template: `$name` becomes a new name of the trial, `$category` a category that the subject accepts. */
export const fill = (template: string, http: Http, trial: Trial): string =>
  template.replaceAll("$name", () => trial.name()).replaceAll("$category", String(categoryOf(http)))

const JSON_TYPE: Header = ["Content-Type", "application/json"]

/** Returns a creation with exactly this body, sent as JSON. */
export const withBody = (body: string | Uint8Array): Sent => withHeaders([JSON_TYPE], body)

/** Returns a creation with exactly these headers and this body. */
export const withHeaders = (headers: ReadonlyArray<Header>, body: string | Uint8Array): Sent => ({
  method: "POST",
  path: "/pets",
  headers,
  body
})

/** Returns a creation whose body is the filled template. */
export const request = (http: Http, trial: Trial, template: string = PLAIN): Sent =>
  withBody(fill(template, http, trial))

/** Sends a creation with exactly this body; fails unless the response is 201 with the animal. */
export const create = (http: Http, body: string): Effect.Effect<Animal, Failure> =>
  Effect.flatMap(http.send(withBody(body)), (exchange) => Responses.petOf(exchange, 201))

/** Maximum size, in bytes, of a body that this project's service accepts. */
export const MAX_BODY_BYTES = 65_536

/** Returns a creation whose body has `size` bytes; `padding` may be a character of several bytes. */
export const withPadding = (http: Http, trial: Trial, size: number, padding: string): Sent => {
  const start = `${fill(PLAIN, http, trial).slice(0, -1)},"padding":"`
  const room = size - Buffer.byteLength(start) - 2
  const width = Buffer.byteLength(padding)
  return withBody(`${start}${padding.repeat(Math.floor(room / width))}${"x".repeat(room % width)}"}`)
}
