/** The outcomes of a request by precedence (design of §4): key, limits, path, method, content type, size, content. */
import { getPet } from "../../core/deprecation/Deprecation.ts"
import * as Int64 from "../../core/domain/Int64.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import type { Verdict } from "../../core/limits/RateLimit.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Moment from "../http/Moment.ts"
import type { WireRequest } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as Creation from "./Creation.ts"
import type { Lists } from "./Lists.ts"
import { error, type Outcome, success } from "./Outcome.ts"
import { hasUnknown, type Path, type Reading, valuesOf } from "./Reading.ts"

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
  const clause = path.is === "unknown" ? "auth.unknown-path" : isOther ? "auth.first" : undefined
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
  const { request } = exchange
  const { method } = request
  const { path } = reading
  const envelope = Creation.envelopeErrors(request)
  if (path.is === "unknown") return [error("not_found", "an unknown path", path.clause), ...envelope]
  if (method === "OPTIONS") return [success(204, "OPTIONS", "http.options")]
  if (!methods[path.is].some((allowed) => allowed === method)) {
    return [error("method_not_allowed", `${method} of ${path.is}`, "http.method-not-allowed"), ...envelope]
  }
  if (method === "POST") return [...envelope, ...ofCreation(request, reading, lists)]
  const all = path.is === "pets" ? ofList(reading, lists) : ofGet(exchange, reading, path.id, lists)
  return method === "HEAD" ? all.map((outcome) => ({ ...outcome, clause: "http.head" })) : all
}

const ofCreation = (
  request: WireRequest,
  { path, query }: Reading,
  { animals }: Lists
): ReadonlyArray<Outcome> => {
  const read = Creation.read(request)
  const ofQuery = query === undefined ? [malformedQuery] : []
  if (!Creation.isDraft(read)) return [...ofQuery, read]
  const isTaken = [...animals.values()].some(({ animal }) => animal.name === read.name)
  const ofAnimal = ofEncoding(path) ?? read.clause ?? (isTaken ? "create.name-not-unique" : undefined)
  return [...ofQuery, success(201, "a valid animal", query?.length ? "list.unknown-parameters" : ofAnimal)]
}

const ofEncoding = (path: Path): ClauseSlug | undefined =>
  path.is !== "unknown" && path.isEncoded ? "http.decoded-once" : undefined

const malformedQuery = error("invalid_parameter", "a malformed escape in the query", "http.malformed-escape")

const ofList = (reading: Reading, { cursors }: Lists): ReadonlyArray<Outcome> => {
  const { path, query } = reading
  if (query === undefined) return [malformedQuery]
  const errors: Array<Outcome> = []
  /** Returns the first value of a parameter, which must not be repeated. */
  const only = (name: string, clause: ClauseSlug): string | undefined => {
    const values = valuesOf(reading, name)
    if (values.length > 1) errors.push(error("invalid_parameter", `a repeated ${name}`, clause, [name]))
    return values[0]
  }
  const reject = (name: string, value: string, clause: ClauseSlug) =>
    errors.push(error("invalid_parameter", `the ${name} ${JSON.stringify(value)}`, clause, [name]))
  const limit = only("limit", "list.limit.repeated")
  const status = only("status", "list.status.repeated")
  const cursor = only("cursor", "list.paging.forged")
  if (limit !== undefined && !/^(?:[1-9][0-9]?|100)$/.test(limit)) {
    const isInteger = /^(?:0|-?[1-9][0-9]*)$/.test(limit)
    reject("limit", limit, isInteger ? "list.limit.range" : "list.limit.syntax")
  }
  if (status !== undefined && !PetStatus.is(status)) {
    const isNear = PetStatus.is(status.trim().toLowerCase())
    reject("status", status, isNear ? "list.status.exact" : "list.status.unknown")
  }
  const issued = cursors.get(cursor ?? "")
  if (cursor !== undefined && (issued === undefined || issued.status !== status)) {
    reject("cursor", cursor, issued === undefined ? "list.paging.forged" : "list.paging.bound")
  }
  const clause = hasUnknown(reading) ? "list.unknown-parameters" : ofEncoding(path)
  return [...errors, success(200, "a valid list", clause)]
}

const ofGet = (
  { from, to }: Exchange,
  { path, query }: Reading,
  id: string,
  { animals }: Lists
): ReadonlyArray<Outcome> => {
  if (query === undefined) return [malformedQuery]
  const [now, sunset] = [from, getPet.sunsetAt].map(Moment.iso)
  if (from >= getPet.sunsetAt)
    return [error("operation_removed", `getPet at ${now}, removed at ${sunset}`, "get.gone")]
  const because = `the id ${JSON.stringify(id)}`
  if (to >= getPet.sunsetAt) return [{ statuses: [200, 404, 410], because }]
  const known = Int64.fromCanonicalText(id)
  if (known === undefined) {
    const isNumber = /^\s*[+-]?[0-9]{1,19}(?:\.0*)?\s*$/.test(id)
    return [error("not_found", because, isNumber ? "get.canonical-id" : "get.malformed-id")]
  }
  if (animals.has(known)) return [success(200, because, ofEncoding(path))]
  // An animal that is not known may exist.
  return [{ ...error("not_found", because), statuses: [200, 404] }]
}
