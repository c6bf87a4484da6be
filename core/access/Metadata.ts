/** Defines the metadata of API keys: a small JSON object that the operator stores with a key, never sent to clients. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../codec/Json.ts"
import * as Utf8 from "../codec/Utf8.ts"

/** A JSON object. */
export type Metadata = Schema.JsonObject

/** Maximum size of the JSON text in bytes of UTF-8. */
const maxBytes = 4096

/** The metadata is not a JSON object, or too large. */
export class MetadataInvalid extends Data.TaggedError("MetadataInvalid")<{ readonly reason: string }> {
  override get message(): string {
    return `metadata ${this.reason}`
  }
}

/** Returns a frozen copy of the metadata; fails if it is not a JSON object of at most `maxBytes`. */
export const valid = (given: unknown): Result.Result<Metadata, MetadataInvalid> => {
  if (!isObject(given, 1)) return invalid(`must be a JSON object with at most ${Json.maxDepth} levels`)
  const text = JSON.stringify(given)
  if (Utf8.lengthOf(text) > maxBytes) return invalid(`must have at most ${maxBytes} bytes as JSON text`)
  return Result.succeed(parse(text))
}

const invalid = (reason: string) => Result.fail(new MetadataInvalid({ reason }))

/** Parses metadata that `valid` returned and a store wrote as JSON text. All its objects are frozen. */
export const parse = (text: string): Metadata => JSON.parse(text, (_, value) => Object.freeze(value))

const isJson = (value: unknown, depth: number): value is Schema.Json => {
  if (Array.isArray(value)) return depth <= Json.maxDepth && value.every((item) => isJson(item, depth + 1))
  if (typeof value === "number") return Number.isFinite(value)
  return value === null || typeof value === "string" || typeof value === "boolean" || isObject(value, depth)
}

// The depth also ends at objects that contain themselves.
const isObject = (value: unknown, depth: number): value is Metadata => {
  if (typeof value !== "object" || value === null || depth > Json.maxDepth) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === null || prototype === Object.prototype
  return isPlain && Object.values(value).every((member) => isJson(member, depth + 1))
}
