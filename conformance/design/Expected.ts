/** The outcomes of a request by precedence (design of §4): key, limits, path, method, content type, size, content. */

import * as PetStatus from "../../core/domain/PetStatus.ts"
import type { ErrorCode } from "../../core/errors/ErrorCatalogue.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { WireRequest } from "../http/Wire.ts"
import * as Creation from "./Creation.ts"
import type * as Lists from "./Lists.ts"
import type { Verdict } from "./Meter.ts"
import { hasUnknown, type Path, type Reading, valuesOf } from "./Reading.ts"

export interface Outcome {
  readonly statuses: ReadonlyArray<number>
  readonly because: string
  /** Our decision by which this is the outcome; absent if the contract itself requires it. */
  readonly clause?: ClauseSlug | undefined
  readonly code?: ErrorCode | undefined
  /** The clause about the code. */
  readonly ofCode?: ClauseSlug | undefined
  /** The clause that is broken if a later error is reported instead. */
  readonly ofOrder?: ClauseSlug | undefined
  /** What the message must name. */
  readonly names?: ReadonlyArray<string> | undefined
}

/** 5 December 2030, 00:00:00 UTC. */
export const REMOVAL = Date.UTC(2030, 11, 5)

export const methods = { pets: ["GET", "HEAD", "POST", "OPTIONS"], pet: ["GET", "HEAD", "OPTIONS"] } as const

const ofOrder = "http.order-of-checks"

/** What the outcome depends on besides the request. */
export interface Circumstances {
  readonly lists: Lists.Lists
  /** The interval of the time at which the service handles the request. */
  readonly from: number
  readonly to: number
  /** What the limits say, if that is known exactly. */
  readonly verdict: Verdict | undefined
}

/** Returns all errors of a request in order, then its success; the first one is the outcome. */
export const outcomes = (
  request: WireRequest,
  reading: Reading,
  circumstances: Circumstances
): ReadonlyArray<Outcome> => {
  const admitted = ofAdmitted(request, reading, circumstances)
  return [...ofCaller(reading, circumstances, admitted[0]), ...admitted]
}

/** Returns the outcomes that precede those of the operation: no key, and no requests left. */
const ofCaller = (
  { caller, path }: Reading,
  { verdict }: Circumstances,
  next: Outcome | undefined
): ReadonlyArray<Outcome> => {
  const isBanned = verdict?.outcome === "banned"
  const denied: Outcome = {
    statuses: [429],
    because: isBanned ? "a banned key" : "a request over the limit",
    clause: isBanned ? "ban.answer" : caller.is === "nobody" ? "limits.anonymous-exhausted" : undefined,
    code: isBanned ? "api_key_banned" : "rate_limit_exceeded",
    ofCode: isBanned ? "ban.answer" : "limits.exceeded-code",
    // Without a key, 401 comes before everything else as well.
    ofOrder: caller.is === "nobody" ? undefined : "limits.before-routing"
  }
  const isDenied = verdict !== undefined && verdict.outcome !== "admitted"
  if (caller.is !== "nobody") return isDenied ? [denied] : []
  const isUnknown = path.is === "unknown"
  const isOther = next?.statuses.some((status) => status >= 300) === true
  const unauthorized: Outcome = {
    statuses: [401],
    because: caller.hasCredential ? "an invalid key" : "no key",
    clause: caller.clause ?? (isUnknown ? "auth.unknown-path" : isOther ? "auth.first" : undefined),
    code: caller.hasCredential ? "invalid_api_key" : "missing_api_key",
    ofCode: "auth.codes",
    ofOrder: isUnknown ? "auth.unknown-path" : "auth.first"
  }
  return isDenied ? [denied, unauthorized] : [unauthorized]
}

/** Returns the errors of an admitted request in order, then its success. */
const ofAdmitted = (
  request: WireRequest,
  reading: Reading,
  circumstances: Circumstances
): ReadonlyArray<Outcome> => {
  const { path } = reading
  if (path.is === "unknown") {
    const { clause } = path
    const code = { code: "not_found", ofCode: "http.unknown-path", ofOrder } as const
    return [{ statuses: [404], because: "an unknown path", clause, ...code }, ...envelope(request)]
  }
  const allowed: ReadonlyArray<string> = methods[path.is]
  if (request.method === "OPTIONS") return [{ statuses: [204], because: "OPTIONS", clause: "http.options" }]
  if (!allowed.includes(request.method)) {
    const clause = "http.method-not-allowed"
    const code = { code: "method_not_allowed", ofCode: clause, ofOrder } as const
    return [
      { statuses: [405], because: `${request.method} of ${path.is}`, clause, ...code },
      ...envelope(request)
    ]
  }
  const head = request.method === "HEAD" ? "http.head" : undefined
  const all =
    request.method === "POST"
      ? ofCreation(request, reading, circumstances)
      : path.is === "pets"
        ? ofList(reading, circumstances)
        : ofGet(path, reading, circumstances)
  return all.map((outcome) => ({ ...outcome, clause: head ?? outcome.clause }))
}

const envelope = (request: WireRequest): ReadonlyArray<Outcome> =>
  request.body === undefined && request.method !== "POST"
    ? []
    : Creation.envelopeDefects(request).map(ofDefect)

const ofDefect = ({ because, clause, code, names, status }: Creation.Defect): Outcome => {
  const ofCode = status === 400 ? "create.codes" : "errors.codes"
  return { statuses: [status], because, clause, code, ofCode, names, ofOrder }
}

const ofCreation = (
  request: WireRequest,
  { path, query }: Reading,
  { lists }: Circumstances
): ReadonlyArray<Outcome> => {
  const read = Creation.read(request)
  const defects = [...envelope(request), ...(query === undefined ? [malformedQuery] : [])]
  if (Creation.isDefect(read)) return [...defects, ofDefect(read)]
  const clause = query?.length
    ? "list.unknown-parameters"
    : (ofEncoding(path) ?? read.clause ?? (isTaken(lists, read.name) ? "create.name-not-unique" : undefined))
  return [...defects, { statuses: [201], because: "a valid animal", clause }]
}

const isTaken = ({ animals }: Lists.Lists, name: string): boolean =>
  [...animals.values()].some(({ animal }) => animal.name === name)

const ofEncoding = (path: Path): ClauseSlug | undefined =>
  path.is !== "unknown" && path.isEncoded ? "http.decoded-once" : undefined

const parameter = (because: string, clause: ClauseSlug, name?: string): Outcome => ({
  statuses: [400],
  because,
  clause,
  code: "invalid_parameter",
  ofCode: "list.parameter-code",
  names: name === undefined ? [] : [name]
})

const malformedQuery = parameter("a malformed escape in the query", "http.malformed-escape")

const ofList = (reading: Reading, { lists: { cursors } }: Circumstances): ReadonlyArray<Outcome> => {
  const { path, query } = reading
  if (query === undefined) return [malformedQuery]
  const [limits, statuses, given] = [
    valuesOf(reading, "limit"),
    valuesOf(reading, "status"),
    valuesOf(reading, "cursor")
  ]
  const [limit, status, cursor] = [limits[0], statuses[0], given[0]]
  const defects: Array<Outcome> = []
  if (limits.length > 1) defects.push(parameter("a repeated limit", "list.limit.repeated", "limit"))
  if (statuses.length > 1) defects.push(parameter("a repeated status", "list.status.repeated", "status"))
  if (given.length > 1) defects.push(parameter("a repeated cursor", "list.paging.forged", "cursor"))
  if (limit !== undefined && !/^(?:[1-9][0-9]?|100)$/.test(limit)) {
    const isInteger = /^(?:0|-?[1-9][0-9]*)$/.test(limit)
    const clause = isInteger ? "list.limit.range" : "list.limit.syntax"
    defects.push(parameter(`the limit ${JSON.stringify(limit)}`, clause, "limit"))
  }
  if (status !== undefined && !isStatus(status)) {
    const clause = isStatus(status.trim().toLowerCase()) ? "list.status.exact" : "list.status.unknown"
    defects.push(parameter(`the status ${JSON.stringify(status)}`, clause, "status"))
  }
  if (cursor !== undefined) {
    const issued = cursors.get(cursor)
    const clause = issued === undefined ? "list.paging.forged" : "list.paging.bound"
    if (issued?.status !== status || issued === undefined)
      defects.push(parameter("a cursor of no such list", clause, "cursor"))
  }
  const clause = hasUnknown(reading, "limit", "status", "cursor")
    ? "list.unknown-parameters"
    : ofEncoding(path)
  return [...defects, { statuses: [200], because: "a valid list", clause }]
}

const isStatus = (text: string): boolean => PetStatus.all.some((status) => status === text)

const ofGet = (
  path: Path,
  { query }: Reading,
  { from, lists, to }: Circumstances
): ReadonlyArray<Outcome> => {
  const id = path.is === "pet" ? path.id : ""
  if (query === undefined) return [malformedQuery]
  const gone = { code: "operation_removed", ofCode: "get.gone", clause: "get.gone" } as const
  if (from >= REMOVAL) return [{ statuses: [410], because: "an operation that is removed", ...gone }]
  const because = `the id ${JSON.stringify(id)}`
  if (to >= REMOVAL) return [{ statuses: [200, 404, 410], because }]
  const missing: Outcome = { statuses: [404], because, code: "not_found", ofCode: "errors.codes" }
  if (/^(?:0|-?[1-9][0-9]{0,18})$/.test(id) && BigInt.asIntN(64, BigInt(id)) === BigInt(id)) {
    const isKnown = lists.animals.has(BigInt(id))
    return [
      isKnown ? { statuses: [200], because, clause: ofEncoding(path) } : { ...missing, statuses: [200, 404] }
    ]
  }
  const isNumber = /^\s*[+-]?[0-9]{1,19}(?:\.0*)?\s*$/.test(id)
  return [{ ...missing, clause: isNumber ? "get.canonical-id" : "get.malformed-id" }]
}
