/** Decodes an animal from a line of an import: the JSON of the service, with or without an id. */
import * as Result from "effect/Result"
import * as JsonBytes from "../codec/JsonBytes.ts"
import { type FieldValue, Invalid, int64 } from "../codec/JsonField.ts"
import * as NewPetFields from "../codec/NewPetFields.ts"
import * as Int64 from "../domain/Int64.ts"
import type { NewPet } from "../domain/NewPet.ts"

/** A decoded animal; `id` is `undefined` if the database assigns the id. */
export interface ImportedPet extends NewPet {
  readonly id: Int64.Int64 | undefined
}

/** Options that determine the allowed content of lines. */
export interface LineOptions {
  /** Whether animals keep the ids of their lines instead of getting new ids; each line must then have an id. */
  readonly keepIds: boolean
  /** Whether unknown fields are ignored; otherwise they make a line invalid, because they may be misspelled. */
  readonly ignoreUnknown: boolean
}

/**
 * Decodes a line by the rules of `POST /v1/pets`; fails with the invalid fields and the reasons. An `id` is allowed; it
 * is ignored unless `keepIds`.
 */
export const decode = (
  line: Uint8Array,
  { ignoreUnknown, keepIds }: LineOptions
): Result.Result<ImportedPet, string> => {
  const json = JsonBytes.parse(line)
  if (Result.isFailure(json)) {
    return Result.fail(`not valid JSON: ${json.failure.reason} at position ${json.failure.position}`)
  }
  const object = json.success
  if (!JsonBytes.isObject(object)) return Result.fail("must be a JSON object")
  const pet = NewPetFields.decode(object, ignoreUnknown ? "all" : withId)
  const id = keepIds ? idIn(object.id) : undefined
  const idError = id instanceof Invalid ? id.reason : undefined
  if (Result.isSuccess(pet) && !(id instanceof Invalid)) return Result.succeed({ id, ...pet.success })
  const errors = Result.isFailure(pet) ? pet.failure : []
  return Result.fail([...(idError === undefined ? [] : [`id: ${idError}`]), ...errors].join("; "))
}

const withId = ["id"]

/** Decodes an id; the largest int64 is invalid, so that later animals get larger ids. */
const idIn = (value: FieldValue): Int64.Int64 | Invalid => {
  const id = int64(value)
  if (id instanceof Invalid) return id
  if (id < 1n) return new Invalid("must be 1 or more")
  return id === Int64.max
    ? new Invalid(`must be less than ${Int64.max}, so that later animals get larger ids`)
    : id
}
