/** Requests that create an animal: with a valid body, or with a template of a body that is invalid in one way. */
import * as Effect from "effect/Effect"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import type { Http, Sent } from "../../evaluation/Http.ts"
import type { Failure } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Header } from "../../http/Wire.ts"
import * as Responses from "./Responses.ts"

/** A category that the subject accepts. */
export const categoryOf = ({ facts }: Http, wanted = 1n): bigint =>
  facts.categories === "any" ? wanted : (facts.categories[0] ?? wanted)

/** A new animal with a name that belongs to this evaluation. */
export const own = (http: Http, trial: Trial, status?: PetStatus): Effect.Effect<Animal, Failure> =>
  http.create({ name: trial.name(), categoryId: categoryOf(http), status })

/** A body that every implementation accepts. */
export const PLAIN = '{"name":"$name","categoryId":$category}'

/** PLAIN with this JSON as the value of `name`. */
export const named = (value: string): string => `{"name":${value},"categoryId":$category}`

/** PLAIN with this JSON as the value of `categoryId`. */
export const inCategory = (value: string): string => `{"name":"$name","categoryId":${value}}`

/** PLAIN with another member. */
export const withMember = (member: string): string => `{"name":"$name","categoryId":$category,${member}}`

/** PLAIN with this JSON as the value of `status`. */
export const withStatus = (value: string): string => withMember(`"status":${value}`)

/** Arrays nested this many levels deep. */
export const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

/** The body of a template: `$name` is a new name of the trial, `$category` a category that the subject accepts. */
export const filled = (template: string, http: Http, trial: Trial): string =>
  template.replaceAll("$name", () => trial.name()).replaceAll("$category", String(categoryOf(http)))

const JSON_TYPE: Header = ["Content-Type", "application/json"]

/** A creation with exactly this body, sent as JSON. */
export const withBody = (body: string | Uint8Array): Sent => withHeaders([JSON_TYPE], body)

/** A creation with exactly these headers. */
export const withHeaders = (headers: ReadonlyArray<Header>, body: string | Uint8Array): Sent => ({
  method: "POST",
  path: "/pets",
  headers,
  body
})

/** A creation whose body is a template. */
export const request = (http: Http, trial: Trial, template: string = PLAIN): Sent =>
  withBody(filled(template, http, trial))

/** Creates an animal with exactly this body. */
export const create = (http: Http, body: string): Effect.Effect<Animal, Failure> =>
  Effect.flatMap(http.send(withBody(body)), (exchange) => Responses.pet(exchange, 201))

/** Largest body in bytes that this project's service reads. */
export const LARGEST = 65_536

/** A creation whose body has `size` bytes; `padding` may be a character of several bytes. */
export const padded = (http: Http, trial: Trial, size: number, padding: string): Sent => {
  const open = `${filled(PLAIN, http, trial).slice(0, -1)},"padding":"`
  const room = size - Buffer.byteLength(open) - 2
  const width = Buffer.byteLength(padding)
  return withBody(`${open}${padding.repeat(Math.floor(room / width))}${"x".repeat(room % width)}"}`)
}
