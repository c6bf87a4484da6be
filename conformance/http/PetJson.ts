/** Animals as they come over the wire, read by the platform's own JSON reader with the digits as they were sent. */
import * as Result from "effect/Result"
import type { PetStatus } from "../../core/domain/PetStatus.ts"
import * as PetStatuses from "../../core/domain/PetStatus.ts"
import type { Animal } from "../checks/Catalogue.ts"

/** JSON with whole numbers as `bigint`, so that none of their digits is lost. */
export const parse = (text: string): Result.Result<unknown, string> => {
  try {
    return Result.succeed(JSON.parse(text, exact as (this: unknown, name: string, value: unknown) => unknown))
  } catch {
    return Result.fail(`no JSON: ${excerpt(text)}`)
  }
}

// Node 22 hands the number's own text to the reviver; TypeScript's library does not say so yet. A number without a fraction
// is an integer however it is written: 1.0 and 1e3 are (JSON Schema 2020-12, §6.1.1).
const exact = (_name: string, value: unknown, context: { readonly source?: string }): unknown => {
  if (typeof value !== "number") return value
  const digits = /^(-?[0-9]+)(?:\.0+)?$/.exec(context.source ?? "")?.[1]
  if (digits !== undefined) return BigInt(digits)
  return Number.isSafeInteger(value) ? BigInt(value) : value
}

/** The beginning of a text, quoted, for messages. */
export const excerpt = (text: string): string => JSON.stringify(shortened(text))

const shortened = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text)

const isInt64 = (value: unknown): value is bigint =>
  typeof value === "bigint" && BigInt.asIntN(64, value) === value

const isStatus = (value: unknown): value is PetStatus => PetStatuses.all.some((status) => status === value)

/** The animal that a value is (contract §2 `Pet`), or what is wrong with it. */
export const animal = (value: unknown): Result.Result<Animal, string> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Result.fail(`no Pet object: ${show(value)}`)
  }
  const { categoryId, id, name, status } = value as { readonly [field: string]: unknown }
  if (!isInt64(id)) return Result.fail(`id is no int64: ${show(id)}`)
  if (typeof name !== "string") return Result.fail(`name is no string: ${show(name)}`)
  if (!isInt64(categoryId)) return Result.fail(`categoryId is no int64: ${show(categoryId)}`)
  if (status !== undefined && !isStatus(status)) return Result.fail(`status is no PetStatus: ${show(status)}`)
  return Result.succeed({ id, name, categoryId, status })
}

/** The animals of a list (contract §2 `Pets`: a bare array), or what is wrong with it. */
export const animals = (value: unknown): Result.Result<ReadonlyArray<Animal>, string> => {
  if (!Array.isArray(value)) return Result.fail(`no bare array: ${show(value)}`)
  const read: Array<Animal> = []
  for (const element of value) {
    const one = animal(element)
    if (Result.isFailure(one)) return Result.fail(`in the list ${one.failure}`)
    read.push(one.success)
  }
  return Result.succeed(read)
}

/** A value of JSON for messages; digits of int64 as they are. */
export const show = (value: unknown): string =>
  value === undefined
    ? "absent"
    : shortened(
        typeof value === "bigint"
          ? String(value)
          : JSON.stringify(value, (_name, member: unknown) =>
              typeof member === "bigint" ? String(member) : member
            )
      )

/** An animal in one line for messages. */
export const line = ({ categoryId, id, name, status }: Animal): string =>
  `{id ${id}, name ${JSON.stringify(name)}, categoryId ${categoryId}${status === undefined ? "" : `, ${status}`}}`

/** The body of a creation; `status` is left out when there is none. */
export const draft = (pet: Omit<Animal, "id">): string =>
  `{"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}${
    pet.status === undefined ? "" : `,"status":"${pet.status}"`
  }}`
