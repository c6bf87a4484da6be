/** Parses the `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header-07 §2.1). */
import * as Result from "effect/Result"
import * as ApiError from "../errors/ApiError.ts"

/** Maximum length of a key in characters. */
export const MAX_LENGTH = 255

/** Matches a structured-field string (RFC 9651 §3.3.3): printable ASCII, with the escapes `\"` and `\\`. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/

/** Matches the form that most clients send: visible ASCII without quotes, and without the separators `,` and `;`. */
const BARE = /^[!#-+\--:<-~]+$/

/** Returns the key of a header value; fails with `invalid_idempotency_key` if it is malformed or not a single key. */
export const parse = (value: string): Result.Result<string, ApiError.ApiError> => {
  const quoted = QUOTED.exec(value)?.[1]?.replace(/\\(.)/g, "$1")
  const key = quoted ?? (BARE.test(value) ? value : "")
  return key.length > 0 && key.length <= MAX_LENGTH ? Result.succeed(key) : invalid
}

const invalid = Result.fail(ApiError.make("invalid_idempotency_key"))
