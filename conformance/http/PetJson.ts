/** Parses and formats animals in JSON, with all digits of their integers. */
import * as Result from "effect/Result"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import { type Animal, type Draft, isInt64 } from "./Animal.ts"
import * as JsonLimits from "./JsonLimits.ts"
import { type Responded, text, type WireResponse } from "./Wire.ts"

/** Parses JSON with integers as `bigint`, in linear time; fails with a reason if it is invalid or exceeds a limit. */
export const parse = (text: string): Result.Result<unknown, string> => {
  const excess = JsonLimits.exceeded(text)
  if (excess !== undefined) return Result.fail(`${excess}: ${excerpt(text)}`)
  try {
    return Result.succeed(JSON.parse(text, reviver))
  } catch (error) {
    // Any other exception is a bug of the suite, which must not look like a violation of the subject.
    if (!(error instanceof SyntaxError)) throw error
    return Result.fail(`not JSON: ${excerpt(text)}`)
  }
}

/** Maximum length of a number that is passed to `BigInt`, which takes quadratic time; an int64 has 19 digits. */
const MAX_DIGITS = 40

// A number without a fraction is an integer however it is written, such as 1.0 and 1e3 (JSON Schema 2020-12, §6.1.1).
const exactNumber = (source: string): unknown => {
  const digits = source.length > MAX_DIGITS ? undefined : /^(-?[0-9]+)(?:\.0+)?$/.exec(source)?.[1]
  if (digits !== undefined) return BigInt(digits)
  const value = Number(source)
  return Number.isSafeInteger(value) ? BigInt(value) : value
}

// Safe: Node has passed the source of a number since version 21, but the types of ES2023 do not have this argument.
const reviver = ((_name: string, value: unknown, { source }: { readonly source: string }): unknown =>
  typeof value === "number" ? exactNumber(source) : value) as (name: string, value: unknown) => unknown

/** Returns the beginning of a text as a JSON string, for messages. */
const excerpt = (text: string): string => JSON.stringify(shorten(text))

const shorten = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text)

/** Returns the animal in a parsed value (contract §2 `Pet`), or the reason why it is not an animal. */
export const animal = (value: unknown): Result.Result<Animal, string> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Result.fail(`not a Pet object: ${show(value)}`)
  }
  const { categoryId, id, name, status } = value as { readonly [field: string]: unknown }
  const wrong = (field: string, type: string, given: unknown) =>
    Result.fail(`${field} is not ${type}: ${show(given)}`)
  if (!isInt64(id)) return wrong("id", "an int64", id)
  if (typeof name !== "string") return wrong("name", "a string", name)
  if (!isInt64(categoryId)) return wrong("categoryId", "an int64", categoryId)
  if (status !== undefined && !isStatus(status)) return wrong("status", "a PetStatus", status)
  return Result.succeed({ id, name, categoryId, status })
}

const isStatus = (value: unknown): value is PetStatus.PetStatus =>
  typeof value === "string" && PetStatus.is(value)

/** Whether two responses show the same animal; only its status may change. */
export const isSameAnimal = (a: Animal, b: Animal): boolean =>
  a.id === b.id && a.name === b.name && a.categoryId === b.categoryId

/** Maximum number of animals in a list, because laws compare all pairs of them; the contract allows 100. */
const MAX_ANIMALS = 1_000

/** Returns the animals of a list (contract §2 `Pets`: a bare array), or the reason why it is not a list. */
export const animals = (value: unknown): Result.Result<ReadonlyArray<Animal>, string> => {
  if (!Array.isArray(value)) return Result.fail(`not a bare array: ${show(value)}`)
  if (value.length > MAX_ANIMALS) return Result.fail(`a list of ${value.length} animals`)
  const read: Array<Animal> = []
  for (const element of value) {
    const parsed = animal(element)
    if (Result.isFailure(parsed)) return Result.fail(`in the list: ${parsed.failure}`)
    read.push(parsed.success)
  }
  return Result.succeed(read)
}

/** Returns the animals that a response lists; none if its body is not a list. */
export const listedIn = (response: Pick<WireResponse, "body"> | undefined): ReadonlyArray<Animal> =>
  Result.getOrElse(Result.flatMap(parse(text(response?.body)), animals), () => [])

/** Returns the animal that a request created, as the response showed it; `undefined` for any other exchange. */
export const createdBy = ({ request, response: { body, status } }: Responded): Animal | undefined =>
  request.method === "POST" && status === 201
    ? Result.getOrUndefined(Result.flatMap(parse(text(body)), animal))
    : undefined

/** Formats a parsed JSON value for messages, shortened, with all digits of an int64; `absent` for `undefined`. */
export const show = (value: unknown): string => {
  if (value === undefined) return "absent"
  if (typeof value === "bigint") return String(value)
  if (value === Infinity || value === -Infinity) return TOO_LARGE
  return shorten(
    JSON.stringify(value, (_name, member: unknown) => {
      if (typeof member === "bigint") return String(member)
      return member === Infinity || member === -Infinity ? TOO_LARGE : member
    })
  )
}

const TOO_LARGE = "a number beyond 1.8e308"

/** Formats an animal in one line for messages. */
export const line = ({ categoryId, id, name, status }: Animal): string =>
  `{id ${id}, name ${JSON.stringify(name)}, categoryId ${categoryId}${status === undefined ? "" : `, ${status}`}}`

/** Returns the JSON body of a creation, without fields that are `undefined`. */
export const draft = ({ categoryId, name, status }: Draft): string => {
  const ofStatus = status === undefined ? "" : `,"status":"${status}"`
  return `{"name":${JSON.stringify(name)},"categoryId":${categoryId}${ofStatus}}`
}
