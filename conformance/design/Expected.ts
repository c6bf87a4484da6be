/** The outcomes of a request by precedence (design of §4): key, limits, path, method, content type, size, content. */
import * as Result from "effect/Result"
import * as NewPetBody from "../../core/codec/NewPetBody.ts"
import { getPet } from "../../core/deprecation/Deprecation.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import { catalogue, type ErrorCode } from "../../core/errors/ErrorCatalogue.ts"
import type { Verdict } from "../../core/limits/RateLimit.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Moment from "../http/Moment.ts"
import { headerValues, text, type WireRequest } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { Operation } from "../model/Request.ts"
import type { Lists } from "./Lists.ts"
import { hasUnknown, type Reading, valuesOf } from "./Reading.ts"

/** What a request leads to by our decisions: an error of the catalogue, or a success. */
export interface Outcome {
  /** One status, unless the time or other requests decide which. */
  readonly statuses: ReadonlyArray<number>
  readonly because: string
  /** Our decision by which this is the outcome; absent if the contract itself requires it. */
  readonly clause?: ClauseSlug | undefined
  /** The code of the last status; absent for a success. */
  readonly code?: ErrorCode
  /** What the message must name. */
  readonly names?: ReadonlyArray<string>
}

const error = (
  code: ErrorCode,
  because: string,
  clause?: ClauseSlug,
  names: ReadonlyArray<string> = []
): Outcome => ({ statuses: [catalogue[code].status], code, because, clause, names })

const success = (status: number, because: string, clause?: ClauseSlug): Outcome => ({
  statuses: [status],
  because,
  clause
})

export const methods = { pets: ["GET", "HEAD", "POST", "OPTIONS"], pet: ["GET", "HEAD", "OPTIONS"] } as const

/** Returns all errors of a request in order, then its success; the first one is the outcome. */
export const outcomes = (
  exchange: Exchange,
  reading: Reading,
  lists: Lists,
  verdict: Verdict | undefined
): ReadonlyArray<Outcome> => {
  const { caller, path } = reading
  const all = ofAdmitted(exchange, reading, lists)
  const denied = ofLimits(verdict, caller.is === "nobody")
  if (caller.is !== "nobody") return [...denied, ...all]
  const isOther = all[0]?.statuses.some((status) => status >= 300) === true
  const clause = path === "unknown" ? "auth.unknown-path" : isOther ? "auth.first" : undefined
  const unauthorized = caller.hasCredential
    ? error("invalid_api_key", "an invalid key", caller.clause ?? clause)
    : error("missing_api_key", "no key", clause)
  return [...denied, unauthorized, ...all]
}

const ofLimits = (verdict: Verdict | undefined, isNobody: boolean): ReadonlyArray<Outcome> => {
  if (verdict === undefined || verdict.outcome === "admitted") return []
  if (verdict.outcome === "banned") return [error("api_key_banned", "a banned key", "ban.answer")]
  const clause = isNobody ? "limits.anonymous-exhausted" : undefined
  return [error("rate_limit_exceeded", "a request over the limit", clause)]
}

/** Returns the errors of an admitted request in order, then its success. */
const ofAdmitted = (exchange: Exchange, reading: Reading, lists: Lists): ReadonlyArray<Outcome> => {
  const { method } = exchange.request
  const { ofPath, operation, path, query } = reading
  const envelope = envelopeErrors(exchange.request)
  if (path === "unknown") return [error("not_found", "an unknown path", ofPath), ...envelope]
  if (method === "OPTIONS") return [success(204, "OPTIONS", "http.options")]
  if (!methods[path].some((allowed) => allowed === method))
    return [error("method_not_allowed", `${method} of ${path}`, "http.method-not-allowed"), ...envelope]
  const malformed = error("invalid_parameter", "a malformed escape in the query", "http.malformed-escape")
  const ofQuery = query === undefined ? [malformed] : []
  if (operation.is === "create")
    return [...envelope, ...ofQuery, ofCreation(exchange.request, operation, reading, lists)]
  const ofList = operation.is === "list" ? listOutcomes(operation, reading, lists) : []
  const ofGet = operation.is === "get" ? [getOutcome(exchange, operation, reading, lists)] : []
  const all = [...ofQuery, ...ofList, ...ofGet]
  return method === "HEAD" ? all.map((outcome) => ({ ...outcome, clause: "http.head" })) : all
}

/** Maximum size of a body in bytes, and the size from which another service might reject it. */
const [MAX_BYTES, LARGE] = [65_536, 4_096]

/** Returns the errors in the headers and the size of a request, which precede those in its content. */
const envelopeErrors = (request: WireRequest): ReadonlyArray<Outcome> => {
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

type Reasons = ReadonlyArray<readonly [reason: RegExp, clause: ClauseSlug]>

const clauseOf = (reasons: Reasons, reason: string): ClauseSlug | undefined =>
  reasons.find(([pattern]) => pattern.test(reason))?.[1]

/** Our decisions by which a body is invalid that another service might accept, by the message of our decoder. */
const rejected: Reasons = [
  [/UTF-8|byte order mark/, "create.json-utf8"],
  [/duplicate name/, "create.json-duplicates"],
  [/nested deeper/, "create.json-depth"],
  [/after the value/, "create.json-strict"],
  [/name: must (?:not be empty|have at most)/, "create.name-length"],
  [/name: must not consist/, "create.name-blank"],
  [/name: must not contain/, "create.name-characters"]
]

/** Our decisions by which an animal is accepted that another service might reject, by what the model leaves open. */
const accepted: Reasons = [
  [/^the field "id"/, "create.id-ignored"],
  [/^the field/, "create.unknown-fields"],
  [/^an integer in another spelling/, "create.category-by-value"],
  [/content type/, "create.content-type-form"],
  [/^a name (?:with control|beyond)/, "create.name-characters"],
  [/^a name of more/, "create.name-length"],
  [/^a category/, "create.category-any"]
]

const ofCreation = (
  { body = new Uint8Array() }: WireRequest,
  { creation }: Operation & { readonly is: "create" },
  { ofPath, query }: Reading,
  { animals }: Lists
): Outcome => {
  const decoded = NewPetBody.decode(body, false)
  if (Result.isSuccess(decoded)) {
    const { name } = decoded.success
    const isTaken = [...animals.values()].some(({ animal }) => animal.name === name)
    const ofBody = body.length > LARGE ? "create.body-size-accepted" : clauseOf(accepted, creation.because)
    const ofAnimal = ofPath ?? ofBody ?? (isTaken ? "create.name-not-unique" : undefined)
    return success(201, "a valid animal", query?.length ? "list.unknown-parameters" : ofAnimal)
  }
  const { code, message } = decoded.failure
  const names = [...message.matchAll(/\b(name|categoryId|status): /g)].map(([, field = ""]) => field)
  const ofValue = creation.because === "a status of null" ? "create.status-null" : clauseOf(rejected, message)
  const isCostly =
    names.includes("categoryId") && /"categoryId"\s*:\s*[^,}]*e[+-]?[0-9]{3,}/i.test(text(body))
  // With a second error, a 201 breaks the contract itself.
  const clause = names.length > 1 ? undefined : isCostly ? "create.number-cost" : ofValue
  return error(code, message, clause, names)
}

const listOutcomes = (
  { limit, status }: Operation & { readonly is: "list" },
  reading: Reading,
  { cursors }: Lists
): ReadonlyArray<Outcome> => {
  const errors: Array<Outcome> = []
  const reject = (name: string, why: string, clause: ClauseSlug) =>
    errors.push(error("invalid_parameter", `the ${name} ${why}`, clause, [name]))
  const [cursor, ...others] = valuesOf(reading, "cursor")
  // Whatever their values, repeated parameters come first.
  if (limit.is === "open" && limit.because === "repeated") reject("limit", "twice", "list.limit.repeated")
  if (status.is === "open" && status.because === "repeated") reject("status", "twice", "list.status.repeated")
  if (others.length > 0) reject("cursor", "twice", "list.paging.forged")
  if (limit.is === "open") {
    const isForm = limit.because === "empty" || limit.because === "of another form"
    reject("limit", JSON.stringify(limit.text), isForm ? "list.limit.syntax" : "list.limit.range")
  }
  if (status.is === "open") {
    const isNear = PetStatus.is(status.text.trim().toLowerCase())
    reject("status", JSON.stringify(status.text), isNear ? "list.status.exact" : "list.status.unknown")
  }
  const issued = cursors.get(cursor ?? "")
  const filter = status.is === "valid" ? status.value : undefined
  if (cursor !== undefined && (issued === undefined || issued.status !== filter))
    reject(
      "cursor",
      JSON.stringify(cursor),
      issued === undefined ? "list.paging.forged" : "list.paging.bound"
    )
  const clause = hasUnknown(reading) ? "list.unknown-parameters" : reading.ofPath
  return [...errors, success(200, "a valid list", clause)]
}

const getOutcome = (
  { from, to }: Exchange,
  { form, id }: Operation & { readonly is: "get" },
  { ofPath }: Reading,
  { animals }: Lists
): Outcome => {
  const [now, sunset] = [from, getPet.sunsetAt].map(Moment.iso)
  if (from >= getPet.sunsetAt)
    return error("operation_removed", `getPet at ${now}, removed at ${sunset}`, "get.gone")
  const what = `the id ${id ?? "that is no number"}`
  if (to >= getPet.sunsetAt) return { statuses: [200, 404, 410], because: what }
  if (form === "other") {
    const isInt64 = id !== undefined && BigInt.asIntN(64, id) === id
    return error("not_found", what, isInt64 ? "get.canonical-id" : "get.malformed-id")
  }
  if (id !== undefined && animals.has(id)) return success(200, what, ofPath)
  // An animal that is not known may exist.
  return { ...error("not_found", what), statuses: [200, 404] }
}
