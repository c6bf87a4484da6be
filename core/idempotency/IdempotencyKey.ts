/** The `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header-07 §2.1). */
import * as Result from "effect/Result"
import * as ApiError from "../errors/ApiError.ts"

/** Longest key in characters. */
export const MAX_LENGTH = 255

/** A string of structured fields (RFC 9651 §3.3.3): printable ASCII, with `\"` and `\\`. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/

/** What most clients send: visible ASCII without quotes, commas and semicolons, which separate values. */
const BARE = /^[!#-+\--:<-~]+$/

/** Returns the key of a header's value. Fails with `invalid_idempotency_key`, also for several values. */
export const parse = (value: string): Result.Result<string, ApiError.ApiError> => {
  const quoted = QUOTED.exec(value)?.[1]?.replace(/\\(.)/g, "$1")
  const key = quoted ?? (BARE.test(value) ? value : "")
  return key.length > 0 && key.length <= MAX_LENGTH ? Result.succeed(key) : invalid
}

const invalid = Result.fail(ApiError.make("invalid_idempotency_key"))
