/** Decodes the fields of an animal in a JSON object (contract §2 `NewPet`). */
import * as Result from "effect/Result"
import * as Int64 from "../domain/Int64.ts"
import { NewPet } from "../domain/NewPet.ts"
import * as PetName from "../domain/PetName.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import * as Json from "./Json.ts"

/** The reason that is reported for an absent required field. */
export const MISSING = "is required"

/** The fields that are allowed in addition to the fields of `NewPet`: all fields, or only the named fields. */
export type Allowed = "all" | ReadonlyArray<string>

/** Decodes an object; fails with one message per invalid field, such as `name: is required`. */
export const decode = (
  object: Json.JsonObject,
  allowed: Allowed
): Result.Result<NewPet, ReadonlyArray<string>> => {
  // Decodes without the schema, which doubles the time of the whole validation; a law checks that both agree.
  const { name, status = PetStatus.initial } = object
  const categoryId = int64In(object.categoryId)
  const nameError = nameErrorOf(name)
  const isStatus = typeof status === "string" && PetStatus.is(status)
  const unknownNames =
    allowed === "all"
      ? noNames
      : Object.keys(object).filter(
          (field) => !Object.hasOwn(NewPet.fields, field) && !allowed.includes(field)
        )
  if (
    typeof name === "string" &&
    nameError === undefined &&
    categoryId !== undefined &&
    isStatus &&
    unknownNames.length === 0
  ) {
    return Result.succeed({ name, categoryId, status })
  }
  const errors: Array<string> = []
  if (nameError !== undefined) errors.push(`name: ${nameError}`)
  if (categoryId === undefined) errors.push(`categoryId: ${int64ErrorOf(object.categoryId)}`)
  if (!isStatus) errors.push(`status: ${PetStatus.message}`)
  errors.push(...unknownFieldErrors(unknownNames))
  return Result.fail(errors)
}

/** Returns the value as an int64, or `undefined` if it is not an int64. */
export const int64In = (value: Json.Json | undefined): Int64.Int64 | undefined =>
  value instanceof Json.JsonNumber ? Int64.fromJsonNumber(value.text) : undefined

/** Returns the reason why a value that is not an int64 is rejected. */
export const int64ErrorOf = (value: Json.Json | undefined): string =>
  value === undefined ? MISSING : Int64.message

const noNames: ReadonlyArray<string> = []

const nameErrorOf = (name: Json.Json | undefined): string | undefined => {
  if (name === undefined) return MISSING
  return typeof name === "string" ? PetName.problem(name) : PetName.notText
}

const MAX_NAMES = 3
const MAX_NAME_LENGTH = 40

const unknownFieldErrors = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const errors = names.slice(0, MAX_NAMES).map((name) => `${quote(name)}: is not a known field`)
  return names.length > MAX_NAMES
    ? [...errors, `and ${names.length - MAX_NAMES} more unknown fields`]
    : errors
}

// Escapes control characters, text direction marks, and surrogates that the truncation separated from their pair.
const quote = (name: string): string =>
  JSON.stringify(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name).replace(
    /\p{C}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`
  )
