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

/** What is known of a service: it accepts again what it has accepted, but perhaps no two animals of one name. */
export interface Known {
  /** Names with `a` for each letter, and categories. */
  readonly accepted: ReadonlySet<string>
  readonly isTaken: (name: string) => boolean
}

export const nothing: Known = { accepted: new Set(), isTaken: () => false }

/** Returns what a service accepts when it accepts an animal. */
export const acceptedBy = ({ categoryId, name }: Sent): ReadonlyArray<string> => [
  ...(name === undefined ? [] : [`name ${name.replaceAll(/[A-Za-z]/g, "a")}`]),
  ...(categoryId === undefined ? [] : [`category ${categoryId}`])
]

export const read = (request: WireRequest, setup: Setup, known: Known): Creation => {
  const unusual = unusualEncoding(request)
  const creation = readBody(request.body, setup, known)
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

const readBody = (body: Uint8Array | undefined, setup: Setup, known: Known): Creation => {
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
  return readFields(value as { readonly [field: string]: unknown }, content, setup, known)
}

const readFields = (
  fields: { readonly [field: string]: unknown },
  content: string,
  setup: Setup,
  known: Known
): Creation => {
  // RFC 8259 §4 leaves open which of two members with one name counts.
  if (["name", "categoryId", "status"].some((name) => JsonText.count(content, name) > 1))
    return open("a repeated member")
  const { categoryId, name, status } = fields
  if (name === undefined) return invalid("create.name-required", "no name")
  if (typeof name !== "string") return invalid("create.name-type", `the name ${PetJson.show(name)}`)
  if (categoryId === undefined) return invalid("create.category-required", "no categoryId", name)
  const shownCategory = `the category ${PetJson.show(categoryId)}`
  if (typeof categoryId === "bigint") {
    if (!isInt64(categoryId)) return invalid("create.category-range", shownCategory, name)
  } else if (typeof categoryId === "number" && Math.abs(categoryId) > 2 ** 63) {
    return invalid("create.category-range", shownCategory, name)
  } else if (!JsonText.mayBeInteger(categoryId, content)) {
    return invalid("create.category-type", shownCategory, name)
  }
  if (status !== undefined && status !== null && !isStatus(status)) {
    return invalid("create.status-enum", `the status ${PetJson.show(status)}`, name)
  }
  const sent: Sent = {
    name,
    ...(typeof categoryId === "bigint" ? { categoryId } : {}),
    ...(isStatus(status) ? { status } : {})
  }
  const because = leftOpen(fields, sent, content, setup, known)
  return because === undefined ? { is: "valid", because: "", sent } : open(because, sent)
}

/** What about a well-formed animal the contract leaves open. */
const leftOpen = (
  { categoryId, name, status, ...others }: { readonly [field: string]: unknown },
  sent: Sent,
  content: string,
  { categories }: Setup,
  { accepted, isTaken }: Known
): string | undefined => {
  const [other] = Object.keys(others)
  if (other !== undefined) return `the field ${PetJson.show(other)}`
  if (status === null) return "a status of null"
  const spelling = /"categoryId"\s*:\s*([^\s,}]*)/.exec(content)?.[1] ?? "escaped"
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(spelling))
    return `an integer in another spelling: ${PetJson.show(spelling.slice(0, 20))}`
  const [hasName, hasCategory] = acceptedBy(sent).map((each) => accepted.has(each))
  if (!hasName && !/^[A-Za-z]{1,12}$/.test(String(name))) return nameKind(String(name))
  // Other categories than declared ones need not exist; nearly every service has a category 1, if it has any.
  const certain: ReadonlyArray<unknown> = categories === "any" ? [1n] : categories
  if (!hasCategory && !certain.includes(categoryId)) return `a category that need not exist: ${categoryId}`
  return isTaken(String(name)) ? "the name of another animal" : undefined
}

const nameKind = (name: string): string => {
  if (name.trim() === "") return "a blank name"
  if (/\p{Surrogate}/u.test(name)) return "a name with half a character"
  if (/\p{Cc}/u.test(name)) return "a name with control characters"
  if (name.length > 64) return "a name of more than 64 characters"
  return /^[ -~]*$/.test(name) ? "a name with digits or punctuation" : "a name beyond ASCII"
}
