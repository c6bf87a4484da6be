/** Parses the bodies of requests as JSON (contract §1). */
import * as Result from "effect/Result"
import * as ApiError from "../errors/ApiError.ts"
import type * as Json from "./Json.ts"
import * as JsonBytes from "./JsonBytes.ts"

/** Parses a body; fails with `invalid_json`, the reason and the position. */
export const parse = (bytes: Uint8Array): Result.Result<Json.Json, ApiError.ApiError<"invalid_json">> => {
  const json = JsonBytes.parse(bytes)
  if (Result.isSuccess(json)) return Result.succeed(json.success)
  const { position, reason } = json.failure
  return Result.fail(
    ApiError.make("invalid_json", `The body is not valid JSON: ${reason} at position ${position}.`)
  )
}

/** Creates the error of a JSON body whose values are invalid for these reasons. */
export const invalid = (reasons: ReadonlyArray<string>): ApiError.ApiError<"invalid_body"> =>
  ApiError.make("invalid_body", `The body is invalid: ${reasons.join("; ")}.`)
