/** The body of `POST /pets` (contract §4.2): bytes → `NewPet`. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Int64 from "../domain/Int64.ts"
import { NewPet } from "../domain/NewPet.ts"
import * as ApiError from "../errors/ApiError.ts"
import * as Json from "./Json.ts"
import * as Utf8 from "./Utf8.ts"

const decodeIgnoringExcess = Schema.decodeUnknownResult(NewPet, { errors: "all" })
const decodeStrictly = Schema.decodeUnknownResult(NewPet, { errors: "all", onExcessProperty: "error" })

/**
 * Reads a body. Unknown fields, `id` included, are ignored, or refused when `strict`. Fails with `invalid_json` for
 * text that is no acceptable JSON, and with `invalid_body` naming every field at fault and why.
 */
export const decode = (
  bytes: Uint8Array,
  strict: boolean
): Result.Result<NewPet, ApiError.ApiError<"invalid_json" | "invalid_body">> => {
  const text = Utf8.decode(bytes)
  if (typeof text === "number") return invalidJson("not valid UTF-8", text)
  if (text.startsWith("\ufeff")) return invalidJson("a byte order mark is not allowed", 0)
  const json = Json.parse(text)
  if (Result.isFailure(json)) return invalidJson(json.failure.reason, json.failure.position)
  const body = json.success
  if (!isObject(body)) return Result.fail(ApiError.make("invalid_body", "The body must be a JSON object."))
  const decoded = (strict ? decodeStrictly : decodeIgnoringExcess)(withInt64(body))
  if (Result.isSuccess(decoded)) return Result.succeed(decoded.success)
  return Result.fail(ApiError.make("invalid_body", describe(decoded.failure.issue)))
}

const invalidJson = (reason: string, position: number) =>
  Result.fail(
    ApiError.make("invalid_json", `The body is not acceptable JSON: ${reason} at position ${position}.`)
  )

const isObject = (json: Json.Json): json is Json.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof Json.JsonNumber)

/** The members with `categoryId` as a `bigint`, where it is a number that denotes an int64. */
const withInt64 = (body: Json.JsonObject): { readonly [name: string]: unknown } => {
  const { categoryId } = body
  if (!(categoryId instanceof Json.JsonNumber)) return body
  return { ...body, categoryId: Int64.fromJsonNumber(categoryId.text) ?? categoryId }
}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    if (issue._tag === "MissingKey") return "is required"
    if (issue._tag === "UnexpectedKey") return "is not a known field"
    return SchemaIssue.defaultLeafHook(issue)
  }
})

const maxNamesShown = 5
const maxNameLength = 64

const describe = (issue: SchemaIssue.Issue): string => {
  const faults = issuesOf(issue).issues.map(({ message, path }) => {
    const name = String(path?.[0] ?? "body")
    return `${name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name}: ${message}`
  })
  const shown = faults.slice(0, maxNamesShown)
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`)
  return `The body is invalid: ${shown.join("; ")}.`
}
