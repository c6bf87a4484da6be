/** Decodes the body of `POST /pets` (contract §4.2). */
import * as Result from "effect/Result"
import * as Int64 from "../domain/Int64.ts"
import { NewPet } from "../domain/NewPet.ts"
import * as PetName from "../domain/PetName.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import * as ApiError from "../errors/ApiError.ts"
import * as Json from "./Json.ts"
import * as Utf8 from "./Utf8.ts"

/**
 * Decodes a body. Unknown fields, including `id`, are ignored, or rejected if `strict`. Fails with `invalid_json` for
 * invalid JSON, and with `invalid_body`, which names every invalid field and the reason.
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

  // Not with the schema, which doubles the time of the whole validation; a law checks that both decode alike.
  const { name, status = PetStatus.initial } = body
  const categoryId =
    body.categoryId instanceof Json.JsonNumber ? Int64.fromJsonNumber(body.categoryId.text) : undefined
  const nameFault = faultOfName(name)
  const isStatus = typeof status === "string" && PetStatus.is(status)
  const unknown = strict ? Object.keys(body).filter((field) => !Object.hasOwn(NewPet.fields, field)) : []
  if (
    typeof name === "string" &&
    nameFault === undefined &&
    categoryId !== undefined &&
    isStatus &&
    unknown.length === 0
  ) {
    return Result.succeed({ name, categoryId, status })
  }
  const faults: Array<string> = []
  if (nameFault !== undefined) faults.push(`name: ${nameFault}`)
  if (categoryId === undefined) {
    faults.push(`categoryId: ${body.categoryId === undefined ? MISSING : Int64.message}`)
  }
  if (!isStatus) faults.push(`status: ${PetStatus.message}`)
  faults.push(...faultsOfUnknown(unknown))
  return Result.fail(ApiError.make("invalid_body", `The body is invalid: ${faults.join("; ")}.`))
}

const MISSING = "is required"

const faultOfName = (name: Json.Json | undefined): string | undefined => {
  if (name === undefined) return MISSING
  return typeof name === "string" ? PetName.fault(name) : PetName.notText
}

const invalidJson = (reason: string, position: number) =>
  Result.fail(
    ApiError.make("invalid_json", `The body is not acceptable JSON: ${reason} at position ${position}.`)
  )

const isObject = (json: Json.Json): json is Json.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof Json.JsonNumber)

const MAX_NAMES = 3
const MAX_NAME_LENGTH = 40

const faultsOfUnknown = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const faults = names.slice(0, MAX_NAMES).map((name) => `${quote(name)}: is not a known field`)
  return names.length > MAX_NAMES
    ? [...faults, `and ${names.length - MAX_NAMES} more unknown fields`]
    : faults
}

// Escapes control characters, text direction marks and surrogates that are split by the truncation.
const quote = (name: string): string =>
  JSON.stringify(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name).replace(
    /\p{C}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`
  )
