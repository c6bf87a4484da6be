/** Decodes the body of `POST /v1/pets` (contract §4.2). */
import * as Result from "effect/Result"
import type { NewPet } from "../domain/NewPet.ts"
import * as ApiError from "../errors/ApiError.ts"
import * as JsonBody from "./JsonBody.ts"
import * as JsonBytes from "./JsonBytes.ts"
import * as NewPetFields from "./NewPetFields.ts"

/**
 * Decodes a body. Unknown fields, including `id`, are ignored, or rejected if `strict`. Fails with `invalid_json` if
 * the body is not valid JSON, otherwise with `invalid_body`, which names every invalid field and the reason.
 */
export const decode = (
  bytes: Uint8Array,
  strict: boolean
): Result.Result<NewPet, ApiError.ApiError<"invalid_json" | "invalid_body">> => {
  const json = JsonBody.parse(bytes)
  if (Result.isFailure(json)) return Result.fail(json.failure)
  const body = json.success
  if (!JsonBytes.isObject(body)) {
    return Result.fail(ApiError.make("invalid_body", "The body must be a JSON object."))
  }
  return Result.mapError(NewPetFields.decode(body, strict ? noOtherFields : "all"), JsonBody.invalid)
}

const noOtherFields: NewPetFields.Allowed = []
