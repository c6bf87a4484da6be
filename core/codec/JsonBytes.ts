/** Parses bytes as JSON: strict UTF-8, no byte order mark, lossless numbers. */
import * as Result from "effect/Result"
import * as Json from "./Json.ts"
import * as Utf8 from "./Utf8.ts"

/** Parses a JSON text; the position of a fault in UTF-8 is a byte, of other faults a UTF-16 unit. */
export const parse = (bytes: Uint8Array): Result.Result<Json.Json, Json.JsonFault> => {
  const text = Utf8.decode(bytes)
  if (typeof text === "number") return Result.fail({ reason: "not valid UTF-8", position: text })
  if (text.startsWith("\ufeff")) {
    return Result.fail({ reason: "a byte order mark is not allowed", position: 0 })
  }
  return Json.parse(text)
}

/** Whether a value is an object. */
export const isObject = (json: Json.Json): json is Json.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof Json.JsonNumber)
