/** Reads the body of a creation as our service does (§2, §4.2), with the decision by which it rejects or accepts it. */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as ExactJson from "../http/ExactJson.ts"
import * as JsonText from "../http/JsonText.ts"
import { headerValues, text, type WireRequest } from "../http/Wire.ts"
import { isStatus } from "../model/Creation.ts"
import { error, type Outcome } from "./Outcome.ts"

export interface Draft {
  readonly name: string
  readonly hasStatus: boolean
  /** Our decision by which the animal is accepted, if another service might reject it. */
  readonly clause: ClauseSlug | undefined
}

const MAX_BYTES = 65_536
const MAX_NAME = 255
const MAX_DEPTH = 32

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
  const invalid = (because: string, clause?: ClauseSlug) => error("invalid_json", because, clause)
  const content = text(body)
  if (!JsonText.isUtf8(body)) return invalid("a body that is not UTF-8", "create.json-utf8")
  if (content.startsWith("\ufeff")) return invalid("a byte order mark", "create.json-utf8")
  try {
    const { depth, hasDuplicate } = structureOf(content)
    if (depth > MAX_DEPTH) return invalid(`a body ${depth} levels deep`, "create.json-depth")
    const value = ExactJson.parse(content, (source) => new JsonNumber(source))
    return hasDuplicate ? invalid("a repeated member", "create.json-duplicates") : ofFields(value, request)
  } catch {
    const clause = JsonText.beginsWithValue(content) ? "create.json-strict" : undefined
    return invalid("a body that is not JSON", clause)
  }
}

export const isDraft = (read: Draft | Outcome): read is Draft => "hasStatus" in read

/** Returns the depth of a JSON text, and whether an object has two members with one name. */
const structureOf = (content: string) => {
  const open: Array<Set<unknown>> = []
  let [depth, hasDuplicate] = [0, false]
  for (const [token, string, colon] of content.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/gs)) {
    if (token === "{" || token === "[") depth = Math.max(depth, open.push(new Set()))
    else if (token === "}" || token === "]") open.pop()
    else if (colon !== undefined) {
      const names = open.at(-1)
      hasDuplicate ||= names?.size === names?.add(JSON.parse(string ?? "")).size
    }
  }
  return { depth, hasDuplicate }
}

/** A number as written. */
class JsonNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
  /** Returns its value if it is an integer within int64, however it is written. */
  int64(): bigint | undefined {
    const [, sign = "", whole = "", fraction = "", exponent = "0"] =
      /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(this.source) ?? []
    const all = (whole + fraction).replace(/^0+/, "")
    const digits = all.replace(/0+$/, "")
    if (digits === "") return 0n
    const zeros = Number(exponent) - fraction.length + all.length - digits.length
    if (zeros < 0 || digits.length + zeros > 19) return undefined
    const value = BigInt(sign + digits + "0".repeat(zeros))
    return BigInt.asIntN(64, value) === value ? value : undefined
  }
}

const ofFields = (value: unknown, request: WireRequest): Draft | Outcome => {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof JsonNumber) {
    return error("invalid_body", "a body that is no object")
  }
  // Safe: every JSON object is such a record.
  const { categoryId, name, status = "available", ...others } = value as { readonly [field: string]: unknown }
  const source = categoryId instanceof JsonNumber ? categoryId.source : ""
  const isCategory = categoryId instanceof JsonNumber && categoryId.int64() !== undefined
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
  const accepted = { name: String(name), source, others: Object.keys(others) }
  return { name: accepted.name, hasStatus: "status" in value, clause: whyAccepted(accepted, request) }
}

const whyInvalid = (name: string): ClauseSlug | undefined => {
  if (name === "" || [...name].length > MAX_NAME) return "create.name-length"
  if (!/\S/.test(name)) return "create.name-blank"
  return name.includes("\0") || /\p{Surrogate}/u.test(name) ? "create.name-characters" : undefined
}

interface Accepted {
  readonly name: string
  /** The number of the category as written. */
  readonly source: string
  readonly others: ReadonlyArray<string>
}

const whyAccepted = ({ name, others, source }: Accepted, request: WireRequest): ClauseSlug | undefined => {
  if ((request.body?.length ?? 0) > 4_096) return "create.body-size-accepted"
  if (others.length > 0) return others.includes("id") ? "create.id-ignored" : "create.unknown-fields"
  if (!/^-?[0-9]+$/.test(source)) return "create.category-by-value"
  if (headerValues(request, "content-type")[0] !== "application/json") return "create.content-type-form"
  if (!/^[ -~]*$/.test(name)) return "create.name-characters"
  if (name.length > 64) return "create.name-length"
  return source === "1" ? undefined : "create.category-any"
}
