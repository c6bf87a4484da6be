/** Reads a creation as our service does (§2, §4.2), with our decision on it, and judges the animal in its response. */
import * as Result from "effect/Result"
import * as Json from "../../core/codec/Json.ts"
import { getPet } from "../../core/deprecation/Deprecation.ts"
import * as Int64 from "../../core/domain/Int64.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import * as JsonText from "../http/JsonText.ts"
import { header, headerValues, text, type WireRequest } from "../http/Wire.ts"
import { isStatus } from "../model/Creation.ts"
import { type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import { error, type Outcome } from "./Outcome.ts"
import { isAddressOf } from "./Reading.ts"

export interface Draft {
  readonly name: string
  readonly hasStatus: boolean
  /** Our decision by which the animal is accepted, if another service might reject it. */
  readonly clause: ClauseSlug | undefined
}

const MAX_BYTES = 65_536
const MAX_NAME = 255

/** Returns the errors in the headers and the size of a request, which precede those in its content. */
export const envelopeErrors = (request: WireRequest): ReadonlyArray<Outcome> => {
  if (request.body === undefined && request.method !== "POST") return []
  const errors: Array<Outcome> = []
  if (headerValues(request, "content-encoding").length > 0) {
    errors.push(error("unsupported_media_type", "a Content-Encoding", "create.content-encoding"))
  }
  const type = headerValues(request, "content-type").join(", ")
  if (!jsonType.test(type)) {
    const isJson = /^application\/json\s*(?:;|$)/i.test(type)
    const clause = isJson ? "create.content-type-form" : "create.content-type"
    errors.push(error("unsupported_media_type", `the content type ${type || "is absent"}`, clause))
  }
  const { length } = request.body ?? []
  if (length > MAX_BYTES) {
    const hasLength = headerValues(request, "transfer-encoding").length === 0
    const isAscii = request.body?.every((byte) => byte < 0x80)
    const clause = hasLength && isAscii ? "create.body-size" : "create.body-size-counted"
    errors.push(error("payload_too_large", `a body of ${length} bytes`, clause))
  }
  return errors
}

const jsonType =
  /^application\/json[ \t]*(?:;[ \t]*)*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*(?:;[ \t]*)*)?$/i

/** Returns the animal that a body describes, or the error in its content. */
export const read = (request: WireRequest): Draft | Outcome => {
  const { body = new Uint8Array() } = request
  const content = text(body)
  if (!JsonText.isUtf8(body)) return error("invalid_json", "a body that is not UTF-8", "create.json-utf8")
  if (content.startsWith("\ufeff")) return error("invalid_json", "a byte order mark", "create.json-utf8")
  const parsed = Json.parse(content)
  if (Result.isSuccess(parsed)) return ofFields(parsed.success, request)
  const { reason } = parsed.failure
  const [, clause] = strictness.find(([pattern]) => pattern.test(reason)) ?? []
  return error("invalid_json", `invalid JSON: ${reason}`, clause)
}

/** Our decisions by which JSON is invalid that another service might accept, by the reason of the parser. */
const strictness = [
  [/duplicate/, "create.json-duplicates"],
  [/nested/, "create.json-depth"],
  [/after the value/, "create.json-strict"]
] as const

export const isDraft = (read: Draft | Outcome): read is Draft => "hasStatus" in read

const ofFields = (value: Json.Json, request: WireRequest): Draft | Outcome => {
  if (!isObject(value)) return error("invalid_body", "a body that is no object")
  const { categoryId, name, status = "available", ...others } = value
  const source = categoryId instanceof Json.JsonNumber ? categoryId.text : ""
  const isCategory = Int64.fromJsonNumber(source) !== undefined
  const ofName = typeof name === "string" ? whyInvalid(name) : undefined
  const ofCategory = /e[+-]?[0-9]{3,}$/i.test(source) ? "create.number-cost" : undefined
  const fields: ReadonlyArray<readonly [field: string, isValid: boolean, clause: ClauseSlug | undefined]> = [
    ["name", typeof name === "string" && ofName === undefined, ofName],
    ["categoryId", isCategory, ofCategory],
    ["status", isStatus(status), status === null ? "create.status-null" : undefined]
  ]
  const invalid = fields.filter(([, isValid]) => !isValid)
  if (invalid.length > 0) {
    const names = invalid.map(([field]) => field)
    // With a second error, a 201 breaks the contract itself.
    const clause = invalid.length > 1 ? undefined : invalid[0]?.[2]
    return error("invalid_body", `invalid ${names.join(", ")}`, clause, names)
  }
  const clause = whyAccepted(String(name), source, Object.keys(others), request)
  return { name: String(name), hasStatus: "status" in value, clause }
}

const isObject = (value: Json.Json): value is Json.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Json.JsonNumber)

const whyInvalid = (name: string): ClauseSlug | undefined => {
  if (name === "" || [...name].length > MAX_NAME) return "create.name-length"
  if (!/\S/.test(name)) return "create.name-blank"
  return name.includes("\0") || /\p{Surrogate}/u.test(name) ? "create.name-characters" : undefined
}

/** Returns our decision to accept an animal; `source` is its category as written, `others` are its other fields. */
const whyAccepted = (
  name: string,
  source: string,
  others: ReadonlyArray<string>,
  request: WireRequest
): ClauseSlug | undefined => {
  if ((request.body?.length ?? 0) > 4_096) return "create.body-size-accepted"
  if (others.length > 0) return others.includes("id") ? "create.id-ignored" : "create.unknown-fields"
  if (!/^-?[0-9]+$/.test(source)) return "create.category-by-value"
  if (headerValues(request, "content-type")[0] !== "application/json") return "create.content-type-form"
  if (!/^[ -~]*$/.test(name)) return "create.name-characters"
  if (name.length > 64) return "create.name-length"
  return source === "1" ? undefined : "create.category-any"
}

/** Judges the response to a creation. */
export const judge = (exchange: Seen["exchange"], basePath: string): ReadonlyArray<Ruling> => {
  const { from, request, response, to } = exchange
  const animal = CreatedAnimal.of(exchange)
  if (animal === undefined) return []
  const location = header(response, "location")
  const path = `/pets/${animal.id}`
  const isAddress = isAddressOf(location ?? "", basePath, path)
  const [isBefore, isAfter] = [to < getPet.sunsetAt, from >= getPet.sunsetAt]
  const ofLocation = [
    ...(isBefore ? [rule(isAddress, "create.location", basePath + path, location)] : []),
    ...(isAfter ? [rule(location === undefined, "create.location", "no Location", location)] : [])
  ]
  const sent = read(request)
  if (!isDraft(sent)) return ofLocation
  const members = Object.keys(JSON.parse(text(response.body)))
    .toSorted()
    .join()
  const isExact = members === "categoryId,id,name,status"
  const isAvailable = animal.status === "available"
  const [name, returned] = [sent.name, animal.name].map((each) => JSON.stringify(each))
  return [
    ...ofLocation,
    rule(name === returned, "create.name-exact", `${name}`, returned),
    rule(isExact, "create.unknown-fields", "only the four fields", members),
    ...(sent.hasStatus ? [] : [rule(isAvailable, "create.status-default", "available", animal.status)])
  ]
}
