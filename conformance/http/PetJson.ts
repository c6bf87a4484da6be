/** Parses and formats animals in JSON, with all digits of their integers. */
import * as Result from "effect/Result"
import type { PetStatus } from "../../core/domain/PetStatus.ts"
import * as PetStatuses from "../../core/domain/PetStatus.ts"
import type { Animal } from "./Animal.ts"
import * as ExactJson from "./ExactJson.ts"
import * as Excerpt from "./Excerpt.ts"
import * as JsonLimits from "./JsonLimits.ts"

/** Parses JSON with integers as `bigint`, in linear time; fails with a reason if it is invalid or exceeds a limit. */
export const parse = (text: string): Result.Result<unknown, string> => {
  const excess = JsonLimits.exceeded(text)
  if (excess !== undefined) return Result.fail(`${excess}: ${excerpt(text)}`)
  try {
    return Result.succeed(ExactJson.parse(text, exactNumber))
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

/** Returns the beginning of a text as a JSON string, for messages. */
export const excerpt = (text: string): string => JSON.stringify(shorten(text))

const shorten = (text: string): string => Excerpt.of(text, 120)

const isInt64 = (value: unknown): value is bigint =>
  typeof value === "bigint" && BigInt.asIntN(64, value) === value

const isStatus = (value: unknown): value is PetStatus => PetStatuses.all.some((status) => status === value)

/** Returns the animal in a parsed value (contract §2 `Pet`), or the reason why it is not an animal. */
export const animal = (value: unknown): Result.Result<Animal, string> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Result.fail(`not a Pet object: ${show(value)}`)
  }
  const { categoryId, id, name, status } = value as { readonly [field: string]: unknown }
  if (!isInt64(id)) return Result.fail(`id is not an int64: ${show(id)}`)
  if (typeof name !== "string") return Result.fail(`name is not a string: ${show(name)}`)
  if (!isInt64(categoryId)) return Result.fail(`categoryId is not an int64: ${show(categoryId)}`)
  if (status !== undefined && !isStatus(status))
    return Result.fail(`status is not a PetStatus: ${show(status)}`)
  return Result.succeed({ id, name, categoryId, status })
}

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

/** Formats an animal in one line for messages. */
export const line = ({ categoryId, id, name, status }: Animal): string =>
  `{id ${id}, name ${JSON.stringify(name)}, categoryId ${categoryId}${status === undefined ? "" : `, ${status}`}}`

/** Returns the JSON body of a creation, without `status` if it is `undefined`. */
export const draft = (pet: Omit<Animal, "id">): string =>
  `{"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}${
    pet.status === undefined ? "" : `,"status":"${pet.status}"`
  }}`
