/** Parses and formats animals in JSON, with all digits of their integers. */
import * as Result from "effect/Result"
import { type Animal, additionalFields, type Draft, fields, isInt64 } from "./Animal.ts"
import * as JsonLimits from "./JsonLimits.ts"
import { text, type WireResponse } from "./Wire.ts"

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
  const members = value as { readonly [field: string]: unknown }
  if (!isInt64(members.id)) return Result.fail(`id is not an int64: ${show(members.id)}`)
  const read: { [name: string]: unknown } = { id: members.id }
  for (const { is, isPromised, name, type } of fields) {
    const field = members[name]
    if (field === undefined ? isPromised : !is(field)) {
      return Result.fail(`${name} is not ${type}: ${show(field)}`)
    }
    read[name] = field
  }
  return Result.succeed(read as unknown as Animal) // each field was checked
}

/** Whether two responses show the same animal, so that only fields that may change differ. */
export const isSameAnimal = (a: Animal, b: Animal): boolean =>
  a.id === b.id && fields.every(({ mayChange, name }) => mayChange || encode(a[name]) === encode(b[name]))

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

/** Formats a parsed JSON value for messages, shortened, with all digits of an int64; `absent` for `undefined`. */
export const show = (value: unknown): string => {
  if (value === undefined) return "absent"
  if (typeof value === "bigint") return String(value)
  if (value === Infinity || value === -Infinity) return TOO_LARGE
  return shorten(
    JSON.stringify(value, (_name, member: unknown) =>
      typeof member === "bigint"
        ? String(member)
        : member === Infinity || member === -Infinity
          ? TOO_LARGE
          : member
    )
  )
}

const TOO_LARGE = "a number beyond 1.8e308"

/** Encodes a value as JSON, with all digits of integers; `undefined` for `undefined`. */
const encode = (value: unknown): string | undefined =>
  typeof value === "bigint" ? String(value) : JSON.stringify(value)

/** Formats an animal in one line for messages. */
export const line = (animal: Animal): string => {
  const { categoryId, id, name, status } = animal
  const others = additionalFields.flatMap((field) =>
    animal[field] === undefined ? [] : [`, ${field} ${show(animal[field])}`]
  )
  return `{id ${id}, name ${JSON.stringify(name)}, categoryId ${categoryId}${status === undefined ? "" : `, ${status}`}${others.join("")}}`
}

/** Returns the JSON body of a creation, without fields that are `undefined`. */
export const draft = (pet: Draft): string =>
  `{${fields
    .flatMap(({ name }) => (pet[name] === undefined ? [] : [`"${name}":${encode(pet[name])}`]))
    .join(",")}}`
