/** Reads the body of a creation as the contract says (§2 `NewPet`, §4.2): valid, invalid, or left open. */
import { isUtf8 } from "node:buffer"
import * as Result from "effect/Result"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { isInt64 } from "../http/Animal.ts"
import * as JsonLimits from "../http/JsonLimits.ts"
import * as JsonText from "../http/JsonText.ts"
import * as PetJson from "../http/PetJson.ts"
import { headerValues, text, type WireRequest } from "../http/Wire.ts"
import type { Setup } from "./Exchange.ts"

/** The fields that were sent, as far as every reader of the body reads them alike. */
export interface Sent {
  readonly name?: string
  readonly categoryId?: bigint
  readonly status?: string
}

export interface Creation {
  /** `valid`: it must get 201. `invalid`: it must get 400, by `clause`. `open`: a service may accept or reject it. */
  readonly is: "valid" | "invalid" | "open"
  readonly clause?: ClauseSlug
  /** What makes it invalid or leaves it open, for reports. */
  readonly because: string
  readonly sent: Sent
}

export const isStatus = (value: unknown): value is PetStatus.PetStatus =>
  PetStatus.all.some((status) => status === value)

/** Maximum size of a body in bytes that no service may reject as too large. */
const SMALL = 1_024

/** The reason of an animal that is open only because its body has no declared length. */
export const CHUNKS = "chunks"

const open = (because: string, sent: Sent = {}): Creation => ({ is: "open", because, sent })

const invalid = (clause: ClauseSlug, because: string, name?: string): Creation => ({
  is: "invalid",
  clause,
  because,
  sent: name === undefined ? {} : { name }
})

export const read = (request: WireRequest, setup: Setup): Creation => {
  const unusual = unusualEncoding(request)
  const creation = readBody(request.body, setup)
  if (unusual === undefined) return creation
  if (creation.is === "open")
    return unusual === CHUNKS ? { ...creation, because: `${creation.because} in ${CHUNKS}` } : creation
  // Whatever its encoding, an invalid animal must not be created; but another status than 400 may say so.
  return creation.is === "invalid"
    ? { ...creation, because: `${creation.because}; ${unusual}` }
    : { ...creation, is: "open", because: unusual }
}

/** Whether only the content type, the encoding or the size of the body is unusual. */
const unusualEncoding = (request: WireRequest): string | undefined => {
  const types = headerValues(request, "content-type")
  if (types.length !== 1 || types[0] !== "application/json") {
    if (types.join("") === "") return types.length === 0 ? "no content type" : "an empty content type"
    return `the content type ${types.join(" and ")}`
  }
  if (headerValues(request, "content-encoding").length > 0) return "a Content-Encoding"
  if (headerValues(request, "transfer-encoding").length > 0) return CHUNKS
  return (request.body?.length ?? 0) > SMALL ? `a body of more than ${SMALL} bytes` : undefined
}

const readBody = (body: Uint8Array | undefined, setup: Setup): Creation => {
  const content = text(body)
  if (body === undefined || content.trim() === "") return invalid("create.body-required", "no body")
  if (content.startsWith("\ufeff")) return open("a byte order mark")
  if (!isUtf8(body)) return open("a body that is not UTF-8")
  if (JsonLimits.exceeded(content) !== undefined) return open("a deeply nested body")
  const parsed = PetJson.parse(content)
  if (Result.isFailure(parsed)) {
    return JsonText.beginsWithValue(content)
      ? invalid("create.json-strict", "text after the JSON value")
      : invalid("create.json-syntax", "a body that is not JSON")
  }
  const value = parsed.success
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalid("create.body-object", `a body that is ${PetJson.show(value)}`)
  }
  return readFields(value as { readonly [field: string]: unknown }, content, setup)
}

const readFields = (
  fields: { readonly [field: string]: unknown },
  content: string,
  setup: Setup
): Creation => {
  // RFC 8259 §4 leaves open which of two members with one name counts.
  if (["name", "categoryId", "status"].some((name) => JsonText.count(content, name) > 1))
    return open("a repeated member")
  const { categoryId, name, status } = fields
  if (name === undefined) return invalid("create.name-required", "no name")
  if (typeof name !== "string") return invalid("create.name-type", `the name ${PetJson.show(name)}`)
  if (categoryId === undefined) return invalid("create.category-required", "no categoryId", name)
  const category = `the category ${PetJson.show(categoryId)}`
  if (typeof categoryId === "bigint") {
    if (!isInt64(categoryId)) return invalid("create.category-range", category, name)
  } else if (typeof categoryId === "number" && Math.abs(categoryId) > 2 ** 63) {
    return invalid("create.category-range", category, name)
  } else if (!JsonText.mayBeInteger(categoryId, content)) {
    return invalid("create.category-type", category, name)
  }
  if (status !== undefined && status !== null && !isStatus(status)) {
    return invalid("create.status-enum", `the status ${PetJson.show(status)}`, name)
  }
  const sent: Sent = {
    name,
    ...(typeof categoryId === "bigint" ? { categoryId } : {}),
    ...(isStatus(status) ? { status } : {})
  }
  const because = leftOpen(fields, content, setup)
  return because === undefined ? { is: "valid", because: "", sent } : open(because, sent)
}

/** What about a well-formed animal the contract leaves open. */
const leftOpen = (
  { categoryId, name, status, ...others }: { readonly [field: string]: unknown },
  content: string,
  { categories }: Setup
): string | undefined => {
  const [other] = Object.keys(others)
  if (other !== undefined) return `the field ${PetJson.show(other)}`
  if (status === null) return "a status of null"
  if (!/"categoryId"\s*:\s*(?:0|-?[1-9][0-9]*)\s*[,}]/.test(content)) return "an integer in another spelling"
  // Only a declared category exists for certain; nearly every service has a category 1, if it has categories at all.
  const exists =
    categories === "any" ? categoryId === 1n : categories.some((category) => category === categoryId)
  if (!/^[A-Za-z]{1,12}$/.test(String(name))) return nameKind(String(name))
  return exists ? undefined : "a category that need not exist"
}

const nameKind = (name: string): string => {
  if (name.trim() === "") return "a blank name"
  if (/\p{Surrogate}/u.test(name)) return "a name with half a character"
  if (/\p{Cc}/u.test(name)) return "a name with control characters"
  if (name.length > 64) return "a name of more than 64 characters"
  return /^[ -~]*$/.test(name) ? "a name with digits or punctuation" : "a name beyond ASCII"
}
