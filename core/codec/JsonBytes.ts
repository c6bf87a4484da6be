/** Parses bytes as JSON: in strict UTF-8, without a byte order mark, and with exact numbers. */
import * as Result from "effect/Result"
import * as Json from "./Json.ts"
import * as Utf8 from "./Utf8.ts"

/** Parses a JSON text. The position of an error counts bytes if the UTF-8 is invalid, otherwise UTF-16 code units. */
export const parse = (bytes: Uint8Array): Result.Result<Json.Json, Json.JsonError> => {
  const text = Utf8.decode(bytes)
  if (typeof text === "number") return Result.fail({ reason: "not valid UTF-8", position: text })
  if (text.startsWith("\ufeff")) {
    return Result.fail({ reason: "unexpected byte order mark", position: 0 })
  }
  return Json.parse(text)
}

/** Returns whether a JSON value is an object. */
export const isObject = (json: Json.Json): json is Json.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof Json.JsonNumber)
