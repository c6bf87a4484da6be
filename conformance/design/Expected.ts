/**
 * What our service responds to a request, by precedence (design of §4): key, limits, path, method, content type, size,
 * content; and the decision of ours by which it does so.
 */
import * as Result from "effect/Result"
import * as NewPetBody from "../../core/codec/NewPetBody.ts"
import * as QueryParameters from "../../core/codec/QueryParameters.ts"
import { getPet } from "../../core/deprecation/Deprecation.ts"
import * as Int64 from "../../core/domain/Int64.ts"
import { catalogue, type ErrorCode } from "../../core/errors/ErrorCatalogue.ts"
import type { Verdict } from "../../core/limits/RateLimit.ts"
import * as ContentType from "../../core/service/ContentType.ts"
import { defaults } from "../../core/service/ServiceOptions.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Moment from "../http/Moment.ts"
import { headerValues, type WireRequest } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { Lists } from "./Lists.ts"
import { isOdd, type Reading } from "./Reading.ts"

/** What a request leads to by our decisions: an error of the catalogue, or a success. */
export interface Outcome {
  /** One status, unless the time or other requests decide which. */
  readonly statuses: ReadonlyArray<number>
  /** The message of the error; empty for a success. */
  readonly because: string
  /** Our decision by which this is the outcome; absent if the contract itself requires it. */
  readonly clause?: ClauseSlug | undefined
  /** The code of the last status; absent for a success. */
  readonly code?: ErrorCode
}

const error = (code: ErrorCode, clause?: ClauseSlug, because: string = catalogue[code].meaning): Outcome => ({
  statuses: [catalogue[code].status],
  code,
  because,
  clause
})

const success = (status: number, clause?: ClauseSlug): Outcome => ({
  statuses: [status],
  because: "",
  clause
})

/** Returns all errors of a request in order, then its success; the first one is the outcome. */
export const outcomes = (
  exchange: Exchange,
  reading: Reading,
  lists: Lists,
  verdict: Verdict | undefined
): ReadonlyArray<Outcome> => {
  const { caller } = reading
  const all = ofAdmitted(exchange, reading, lists)
  const denied = ofLimits(verdict, caller.is === "nobody")
  if (caller.is !== "nobody") return [...denied, ...all]
  const isOther = all[0]?.statuses.some((status) => status >= 300) === true
  const clause = isOther ? "http.order-of-checks" : undefined
  const code = caller.hasCredential ? "invalid_api_key" : "missing_api_key"
  return [...denied, error(code, caller.clause ?? clause), ...all]
}

const ofLimits = (verdict: Verdict | undefined, isNobody: boolean): ReadonlyArray<Outcome> => {
  if (verdict === undefined || verdict.outcome === "admitted") return []
  if (verdict.outcome === "banned") return [error("api_key_banned", "ban.answer")]
  return [error("rate_limit_exceeded", isNobody ? "limits.anonymous-exhausted" : undefined)]
}

/** Returns the errors of an admitted request in order, then its success. */
const ofAdmitted = (exchange: Exchange, reading: Reading, lists: Lists): ReadonlyArray<Outcome> => {
  const { path, request, route } = reading
  if (route === undefined) {
    const isOther = /\/(?:categor|store|orders)/.test(path)
    const clause = isOther ? "http.other-operations" : "http.paths-exact"
    return [error("not_found", clause), ...ofEnvelope(request)]
  }
  if (request.method === "OPTIONS") return [success(204, "http.options")]
  const { operation } = route
  if (operation === undefined)
    return [error("method_not_allowed", "http.method-not-allowed"), ...ofEnvelope(request)]
  if (operation.body !== undefined) return [...ofEnvelope(request), ...ofCreation(reading, lists)]
  const all = operation.removal ? [ofGet(exchange, reading, lists)] : ofList(reading, lists)
  return request.method === "HEAD" ? all.map((outcome) => ({ ...outcome, clause: "http.head" })) : all
}

/** Returns the errors in the headers and the size of a request, which precede those in its content. */
const ofEnvelope = (request: WireRequest): ReadonlyArray<Outcome> => {
  if (request.body === undefined && request.method !== "POST") return []
  const header = (name: string) => {
    const values = headerValues(request, name)
    return values.length === 0 ? undefined : values.join(", ")
  }
  const isTooLarge = (request.body?.length ?? 0) > defaults.maxBodyBytes
  return [
    ...(ContentType.rejectionOf({ header }) ? [error("unsupported_media_type", "create.content-type")] : []),
    ...(isTooLarge ? [error("payload_too_large", "create.body-size")] : [])
  ]
}

/** Our decisions on what the contract leaves open about a query or a body, by our message or by the model's reading. */
const decisions: ReadonlyArray<readonly [reason: RegExp, clause: ClauseSlug]> = [
  [/^limit: /, "list.limit.range"],
  [/^status: /, "list.status.exact"],
  [/malformed percent-encoding/, "http.malformed-escape"],
  [/UTF-8|byte order mark/, "create.json-utf8"],
  [/duplicate name/, "create.json-duplicates"],
  [/nested deeper/, "create.json-depth"],
  [/a status of null/, "create.status-null"],
  [/the field/, "create.unknown-fields"],
  [/content type/, "create.content-type"],
  [/a body of more/, "create.body-size"],
  [/a name (?:with control|with half|beyond|of more)|a blank name/, "create.name-characters"],
  [/a category|an integer in another spelling/, "create.category-any"]
]

const decisionOn = (reason: string): ClauseSlug | undefined =>
  decisions.find(([pattern]) => pattern.test(reason))?.[1]

/** Returns the error in a query, which an operation decodes before anything else. */
const ofQuery = ({ query, route }: Reading): ReadonlyArray<Outcome> => {
  const decoded = QueryParameters.decode(route?.operation?.query ?? {}, query, false)
  if (Result.isSuccess(decoded)) return []
  const { code, message } = decoded.failure
  return [error(code, decisionOn(message), message)]
}

const ofCreation = (reading: Reading, { animals }: Lists): ReadonlyArray<Outcome> => {
  const { operation, path, request } = reading
  const { because, is, sent } =
    operation.is === "create" ? operation.creation : { because: "", is: "open", sent: {} }
  const decoded = NewPetBody.decode(request.body ?? new Uint8Array(), false)
  if (Result.isFailure(decoded)) {
    const { code, message } = decoded.failure
    const clause = is === "open" ? decisionOn(`${message} ${because}`) : undefined
    return [...ofQuery(reading), error(code, clause, message)]
  }
  const isTaken = [...animals.values()].some(({ animal }) => animal.name === sent.name)
  const ofAnimal = decisionOn(because) ?? (isTaken ? "create.name-not-unique" : undefined)
  const ofPath = path.includes("%") ? "http.paths-exact" : ofAnimal
  return [...ofQuery(reading), success(201, isOdd(reading) ? "list.unknown-parameters" : ofPath)]
}

const ofList = (reading: Reading, { cursors }: Lists): ReadonlyArray<Outcome> => {
  const { path, sent } = reading
  const [cursor, status] = [sent.get("cursor"), sent.get("status") ?? undefined]
  const page = cursors.get(cursor ?? "")
  const isForged = cursor !== null && (page === undefined || page.status !== status)
  const forged = error(
    "invalid_parameter",
    "list.paging.forged",
    `cursor: ${cursor} is of no link to this list`
  )
  const ofPath = path.includes("%") ? "http.paths-exact" : undefined
  const shown = success(200, isOdd(reading) ? "list.unknown-parameters" : ofPath)
  return [...ofQuery(reading), ...(isForged ? [forged] : []), shown]
}

const ofGet = ({ from, to }: Exchange, { path, route }: Reading, { animals }: Lists): Outcome => {
  const [now, sunset] = [from, getPet.sunsetAt].map(Moment.iso)
  if (from >= getPet.sunsetAt)
    return error("operation_removed", "get.gone", `getPet at ${now}, removed at ${sunset}`)
  if (to >= getPet.sunsetAt) return { statuses: [200, 404, 410], because: "" }
  const id = Int64.fromCanonicalText(route?.parameters.petId ?? "")
  const unknown = error("not_found", id === undefined ? "get.canonical-id" : undefined)
  if (id === undefined) return unknown
  if (animals.has(id)) return success(200, path.includes("%") ? "http.paths-exact" : undefined)
  // An animal that is not known may exist.
  return { ...unknown, statuses: [200, 404] }
}

/** Returns the fields that a message of ours names. */
export const fieldsIn = (message: string): ReadonlyArray<string> =>
  [...message.matchAll(/\b(name|categoryId|status|limit|cursor): /g)].map(([, field = ""]) => field)
