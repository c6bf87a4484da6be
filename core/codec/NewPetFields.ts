/** Decodes the fields of an animal in a JSON object (contract §2 `NewPet`). */
import * as Result from "effect/Result"
import { NewPet } from "../domain/NewPet.ts"
import * as PetFields from "../domain/PetFields.ts"
import type * as Json from "./Json.ts"
import { Invalid } from "./JsonField.ts"

/** The fields that are allowed in addition to the fields of `NewPet`: all fields, or only the named fields. */
export type Allowed = "all" | ReadonlyArray<string>

const decoders = PetFields.names.map((name) => ({ name, decode: PetFields.fields[name].decode }))

/** Decodes an object; fails with one message per invalid field, such as `name: is required`. */
export const decode = (
  object: Json.JsonObject,
  allowed: Allowed
): Result.Result<NewPet, ReadonlyArray<string>> => {
  // Decodes without the schema, which doubles the time of the whole validation; a law checks that both agree.
  const pet: { [name: string]: unknown } = {}
  const errors: Array<string> = []
  for (const { decode, name } of decoders) {
    const value = decode(object[name])
    if (value instanceof Invalid) errors.push(`${name}: ${value.reason}`)
    else if (value !== undefined) pet[name] = value
  }
  if (allowed !== "all") errors.push(...unknownFieldErrors(unknownNamesIn(object, allowed)))
  // The cast is safe: each field is decoded.
  return errors.length === 0 ? Result.succeed(pet as unknown as NewPet) : Result.fail(errors)
}

const unknownNamesIn = (object: Json.JsonObject, allowed: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.keys(object).filter((field) => !Object.hasOwn(NewPet.fields, field) && !allowed.includes(field))

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
