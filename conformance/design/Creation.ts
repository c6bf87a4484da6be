/** Reads the body of a creation as our service does (§2, §4.2), with the decision by which it rejects or accepts it. */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as ExactJson from "../http/ExactJson.ts"
import { headerValues, type WireRequest } from "../http/Wire.ts"
import { isStatus } from "../model/Creation.ts"

/** An error of a body; without `clause`, the contract itself requires the rejection. */
export interface Defect {
  readonly status: 400 | 413 | 415
  readonly code: "unsupported_media_type" | "payload_too_large" | "invalid_json" | "invalid_body"
  readonly because: string
  readonly clause?: ClauseSlug | undefined
  /** The invalid fields. */
  readonly names?: ReadonlyArray<string>
}

export interface Draft {
  readonly name: string
  readonly categoryId: bigint
  readonly status: string
  readonly hasStatus: boolean
  /** Our decision by which the animal is accepted, if another service might reject it. */
  readonly clause?: ClauseSlug | undefined
}

const MAX_BYTES = 65_536
const MAX_NAME = 255
const MAX_DEPTH = 32

/** Returns the error in the headers or the size of a creation, which precedes those in its content. */
export const envelopeDefects = (request: WireRequest): ReadonlyArray<Defect> => {
  const defects: Array<Defect> = []
  const unsupported = { status: 415, code: "unsupported_media_type" } as const
  if (headerValues(request, "content-encoding").length > 0) {
    defects.push({ ...unsupported, because: "a Content-Encoding", clause: "create.content-encoding" })
  }
  const type = headerValues(request, "content-type").join(", ")
  if (!isJsonType(type)) {
    const clause = /^application\/json\s*(?:;|$)/i.test(type)
      ? "create.content-type-form"
      : "create.content-type"
    defects.push({ ...unsupported, because: `the content type ${type || "is absent"}`, clause })
  }
  const size = request.body?.length ?? 0
  if (size > MAX_BYTES) {
    const clause = (request.body?.some((byte) => byte > 0x7f) ?? false) || hasNoLength(request)
    const counted = clause ? "create.body-size-counted" : "create.body-size"
    defects.push({
      status: 413,
      code: "payload_too_large",
      because: `a body of ${size} bytes`,
      clause: counted
    })
  }
  return defects
}

const isJsonType = (type: string): boolean =>
  /^application\/json[ \t]*(?:;[ \t]*)*$/i.test(type) ||
  /^application\/json[ \t]*(?:;[ \t]*)+charset=(?:utf-8|"utf-8")[ \t]*(?:;[ \t]*)*$/i.test(type)

const hasNoLength = (request: WireRequest): boolean => headerValues(request, "transfer-encoding").length > 0

/** Returns the animal that a body describes, or the error in its content. */
export const read = (request: WireRequest): Draft | Defect => {
  const { body = new Uint8Array() } = request
  const invalid = (because: string, clause?: ClauseSlug): Defect => ({
    status: 400,
    code: "invalid_json",
    because,
    clause
  })
  let content: string
  try {
    content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    return invalid("a body that is not UTF-8", "create.json-utf8")
  }
  if (content.startsWith("\ufeff")) return invalid("a byte order mark", "create.json-utf8")
  const { depth, end, hasDuplicate } = structureOf(content)
  if (depth > MAX_DEPTH) return invalid(`a body ${depth} levels deep`, "create.json-depth")
  try {
    const value = ExactJson.parse(content, (source) => new JsonNumber(source))
    return hasDuplicate ? invalid("a repeated member", "create.json-duplicates") : ofFields(value, request)
  } catch {
    const isFollowed = end !== undefined && isJson(content.slice(0, end))
    return invalid("a body that is not JSON", isFollowed ? "create.json-strict" : undefined)
  }
}

const isJson = (content: string): boolean => {
  try {
    JSON.parse(content)
    return true
  } catch {
    return false
  }
}

export const isDefect = (read: Draft | Defect): read is Defect => "code" in read

/** Returns the depth of a JSON text, whether an object has two members with one name, and where its first value ends. */
const structureOf = (content: string) => {
  const open: Array<Set<string>> = []
  let [depth, hasDuplicate] = [0, false]
  let end: number | undefined
  for (const { 0: token, 1: string, 2: colon, index } of content.matchAll(
    /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/gs
  )) {
    if (token === "{" || token === "[") depth = Math.max(depth, open.push(new Set()))
    else if (token === "}" || token === "]") {
      open.pop()
      if (open.length === 0) end ??= index + 1
    } else if (colon !== undefined && string !== undefined) {
      const name = unescaped(string)
      hasDuplicate ||= open.at(-1)?.has(name) === true
      open.at(-1)?.add(name)
    }
  }
  return { depth, end, hasDuplicate }
}

const unescaped = (string: string): string => {
  try {
    return String(JSON.parse(string))
  } catch {
    return string
  }
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

const ofFields = (value: unknown, request: WireRequest): Draft | Defect => {
  const invalid = { status: 400, code: "invalid_body" } as const
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof JsonNumber) {
    return { ...invalid, because: "a body that is no object" }
  }
  // Safe: every JSON object is such a record.
  const { categoryId, name, status = "available", ...others } = value as { readonly [field: string]: unknown }
  const id = categoryId instanceof JsonNumber ? categoryId.int64() : undefined
  const nameDefect = typeof name === "string" ? defectOfName(name) : "unclaimed"
  const names = [
    ...(nameDefect === undefined ? [] : ["name"]),
    ...(id === undefined ? ["categoryId"] : []),
    ...(isStatus(status) ? [] : ["status"])
  ]
  if (id === undefined || typeof name !== "string" || !isStatus(status) || nameDefect !== undefined) {
    const ofName = nameDefect === "unclaimed" ? undefined : nameDefect
    const isHuge = categoryId instanceof JsonNumber && /e[+-]?[0-9]{3,}$/i.test(categoryId.source)
    const clause = isHuge
      ? "create.number-cost"
      : (ofName ?? (status === null ? "create.status-null" : undefined))
    // With a second error, a 201 breaks the contract itself.
    return {
      ...invalid,
      because: `invalid ${names.join(", ")}`,
      names,
      clause: names.length > 1 ? undefined : clause
    }
  }
  const source = categoryId instanceof JsonNumber ? categoryId.source : ""
  return {
    name,
    categoryId: id,
    status,
    hasStatus: "status" in value,
    clause: whyAccepted({ name, source, others: Object.keys(others), request })
  }
}

const defectOfName = (name: string): ClauseSlug | undefined => {
  if (name === "" || [...name].length > MAX_NAME) return "create.name-length"
  if (!/\S/.test(name)) return "create.name-blank"
  return name.includes("\0") || /\p{Surrogate}/u.test(name) ? "create.name-characters" : undefined
}

interface Accepted {
  readonly name: string
  readonly source: string
  readonly others: ReadonlyArray<string>
  readonly request: WireRequest
}

const whyAccepted = ({ name, others, request, source }: Accepted): ClauseSlug | undefined => {
  if ((request.body?.length ?? 0) > 4_096) return "create.body-size-accepted"
  if (others.length > 0) return others.includes("id") ? "create.id-ignored" : "create.unknown-fields"
  if (!/^-?[0-9]+$/.test(source)) return "create.category-by-value"
  if (headerValues(request, "content-type")[0] !== "application/json") return "create.content-type-form"
  if (!/^[ -~]*$/.test(name)) return "create.name-characters"
  if (name.length > 64) return "create.name-length"
  return source === "1" ? undefined : "create.category-any"
}
