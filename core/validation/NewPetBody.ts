/** The body of `POST /pets` (contract §4.2): bytes → `NewPet`. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Int64 from "../domain/Int64.ts"
import { NewPet } from "../domain/NewPet.ts"
import * as ApiError from "../errors/ApiError.ts"
import * as Json from "./Json.ts"
import * as Utf8 from "./Utf8.ts"

const decodeFields = Schema.decodeUnknownResult(NewPet, { errors: "all" })

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
  const decoded = decodeFields(withInt64(body))
  const unknown = strict ? Object.keys(body).filter((name) => !Object.hasOwn(NewPet.fields, name)) : []
  if (Result.isSuccess(decoded) && unknown.length === 0) return Result.succeed(decoded.success)
  const faults = Result.isFailure(decoded) ? faultsOf(decoded.failure.issue) : []
  return Result.fail(
    ApiError.make(
      "invalid_body",
      `The body is invalid: ${[...faults, ...faultsOfUnknown(unknown)].join("; ")}.`
    )
  )
}

const invalidJson = (reason: string, position: number) =>
  Result.fail(
    ApiError.make("invalid_json", `The body is not acceptable JSON: ${reason} at position ${position}.`)
  )

const isObject = (json: Json.Json): json is Json.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof Json.JsonNumber)

/** The same members, with `categoryId` turned into a `bigint` where it is a number that denotes an int64. */
const withInt64 = (body: Json.JsonObject): { readonly [name: string]: unknown } => {
  const { categoryId } = body
  if (!(categoryId instanceof Json.JsonNumber)) return body
  // In place: nobody else holds a body that was just read, and copying it costs as much as reading it.
  const members: { [name: string]: unknown } = body
  members.categoryId = Int64.fromJsonNumber(categoryId.text) ?? categoryId
  return members
}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => (issue._tag === "MissingKey" ? "is required" : SchemaIssue.defaultLeafHook(issue))
})

const faultsOf = (issue: SchemaIssue.Issue): ReadonlyArray<string> =>
  issuesOf(issue).issues.map(({ message, path }) => `${String(path?.[0])}: ${message}`)

const MAX_NAMES = 3
const MAX_NAME_LENGTH = 40

const faultsOfUnknown = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const faults = names.slice(0, MAX_NAMES).map((name) => `${quote(name)}: is not a known field`)
  return names.length > MAX_NAMES
    ? [...faults, `and ${names.length - MAX_NAMES} more unknown fields`]
    : faults
}

// An unknown name may hold controls of terminals and of text direction and, where it is cut, half a surrogate pair.
const quote = (name: string): string =>
  JSON.stringify(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name).replace(
    /\p{C}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`
  )
