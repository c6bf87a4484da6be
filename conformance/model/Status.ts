/** The statuses that the contract allows, by precedence: 401 before all, then 429, then what the operation says. */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Moment from "../http/Moment.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../http/Removal.ts"
import { CHUNKS, type Creation } from "./Creation.ts"
import { type Ruling, rule } from "./Exchange.ts"
import type { Caller, Operation } from "./Request.ts"
import { isByService, isDescribed, isError, type Seen } from "./Seen.ts"

const ranges = {
  "2xx": (status: number) => status < 300,
  "no 5xx": (status: number) => status < 500 || status === 501,
  "no 401": (status: number) => status !== 401,
  "no 404": (status: number) => status !== 404,
  "no 415": (status: number) => status !== 415,
  /** Any status that rejects the request, and not the caller. */
  "4xx": (status: number) => status >= 400 && status < 500 && status !== 401 && status !== 403
}

/** The statuses that a clause allows. */
interface Lawful {
  readonly clause: ClauseSlug
  readonly statuses: ReadonlyArray<number | keyof typeof ranges>
  /** What gets them, for messages. */
  readonly what?: string | undefined
}

const gets = (clause: ClauseSlug, statuses: Lawful["statuses"], what?: string): Lawful => ({
  clause,
  statuses,
  what
})

const includes = ({ statuses }: Lawful, status: number): boolean =>
  statuses.some((each) => (typeof each === "number" ? each === status : ranges[each](status)))

/**
 * Rules on each clause in the order of precedence, until the status breaks one. `mayBeBanned` is whether an earlier 429
 * was ignored (§8.4.3), `exists` whether the animal of a retrieval is known to exist for the caller.
 */
export const judge = (seen: Seen, mayBeBanned: boolean, exists: boolean): ReadonlyArray<Ruling> => {
  const rulings: Array<Ruling> = []
  for (const each of lawful(seen, mayBeBanned, exists)) {
    const expected = `${each.statuses.join(" or ")}${each.what === undefined ? "" : ` for ${each.what}`}`
    const isKept = includes(each, seen.status)
    rulings.push(rule(isKept, each.clause, expected, seen.status))
    if (!isKept) break
  }
  return rulings
}

/** Returns what each clause allows, in the order of precedence. */
function* lawful(seen: Seen, mayBeBanned: boolean, exists: boolean): Iterable<Lawful> {
  const { asked, exchange, status } = seen
  const { caller, operation } = asked
  if (isDescribed(seen)) yield gets("errors.no-5xx", ["no 5xx"])
  if (!ranges["no 5xx"](status)) return
  // Whatever else is wrong with a request, the key is checked first (§5.2, §5.3).
  if (caller.is === "missing" || caller.is === "invalid") return yield* withoutKey(seen, caller)
  const mayBeDenied = (mayBeBanned || caller.is === "open") && (status === 401 || status === 403)
  const isOther = operation.is === "none" && !isHead(seen)
  if (isOther || mayBeDenied) return
  yield gets("auth.bearer", ["no 401"], "a valid key")
  if (status === 429) return
  if (status === 403 && RateHeaders.of(exchange.response)?.remaining === 0)
    yield gets("limits.exceeded-429", [429], "a request over the limit")
  // What the contract does not describe may be rejected, but not with a status that means something else.
  const mayReject = !asked.isPlain && (ranges["4xx"](status) || status === 403 || status === 501)
  if (operation.is === "create" && (operation.creation.because === CHUNKS || !mayReject)) {
    yield* ofCreation(seen, operation.creation)
  } else if (!mayReject) {
    if (operation.is === "list") yield* ofList(seen, operation)
    if (operation.is === "get") yield* ofGet(seen, operation, exists)
  }
}

/** Whether a request is like a GET of the contract (§1): of what it does not describe, only a HEAD is. */
const isHead = ({ asked: { operation }, exchange }: Seen): boolean =>
  exchange.request.method === "HEAD" && operation.is === "none" && operation.path !== "unknown"

/** §5.3: a missing or invalid key gets 401; §7: every operation may respond with 429. */
function* withoutKey(
  seen: Seen,
  { because, clause }: Extract<Caller, { readonly clause: ClauseSlug }>
): Iterable<Lawful> {
  const { asked, status } = seen
  const isSuccess = status < 300
  const isTold = isHead(seen) ? isSuccess || status === 401 : asked.operation.is !== "none"
  if (!isTold || !isByService(seen)) return
  const lawful: Lawful = { clause, statuses: [401, 429], what: because }
  if (!isHead(seen) && (isSuccess || includes(lawful, status))) yield lawful
  yield { ...lawful, clause: "auth.every-operation" }
}

/** §9.3: only the retrieval is removed. */
const afterRemoval = ({ exchange: { from }, status: got }: Seen, status: number): ReadonlyArray<Lawful> => {
  const what = `another operation than the removed getPet, at ${Moment.iso(from)}`
  // On the day of the removal, 410 tells that it has begun.
  const isRemoved = from >= REMOVAL_OVER || (from >= REMOVAL_BEGINS && got === 410)
  return isRemoved ? [gets("get.removed-alone", [status], what)] : []
}

/** §4.1: 200 for every limit from 1 to 100 and every status. */
function* ofList(
  seen: Seen,
  { hasOthers, limit, status }: Operation & { readonly is: "list" }
): Iterable<Lawful> {
  if (hasOthers || limit.is === "open" || status.is === "open") {
    return yield gets("errors.listed-statuses", [200, "4xx"])
  }
  yield* afterRemoval(seen, 200)
  // An Error with 404 is by a service that is there, but has no animal for the list.
  if (seen.status === 404 && isError(seen))
    return yield gets("list.status-200", [200], "a list, even of no animals")
  yield gets("http.base-path", ["no 404"], "a list")
  if (limit.is === "valid") yield gets("list.limit.accepted", ["2xx"], `the limit ${limit.value}`)
  if (status.is === "valid") yield gets("list.status.accepted", ["2xx"], `the status ${status.value}`)
  yield gets("list.status-200", [200])
}

/** §4.2: 201 or 400; 411 is a status of HTTP for a body in chunks. */
function* ofCreation(seen: Seen, { because, clause, is, sent }: Creation): Iterable<Lawful> {
  if (is === "invalid") {
    // Whatever its encoding, an invalid animal must not be created; but another status than 400 may say so.
    const isUnusual = because.includes("; ")
    return yield gets(clause ?? "create.json-syntax", isUnusual ? [400, "4xx"] : [400], because)
  }
  if (because === CHUNKS) return yield gets("create.status-201", [201, 411], "a body in chunks")
  if (is === "open") return yield gets("errors.listed-statuses", [201, "4xx", 501], because)
  yield* afterRemoval(seen, 201)
  yield gets("create.content-type-accepted", ["no 415"], "application/json")
  if (sent.status !== undefined) yield gets("create.status-accepted", ["2xx"], `the status ${sent.status}`)
  yield gets("create.status-201", [201])
}

const DAY_MS = 86_400_000

/** §4.3, §9.3: 200 or 404 until 5 December 2030 has begun somewhere, never 200 after it has ended everywhere. */
function* ofGet(
  { exchange: { from, to }, status }: Seen,
  { form, id }: Operation & { readonly is: "get" },
  exists: boolean
): Iterable<Lawful> {
  const at = `at ${Moment.iso(from)}`
  if (from >= REMOVAL_OVER)
    return yield gets("get.removed", ["4xx"], `getPet ${at}, after its removal on 2030-12-05`)
  const isNear = to >= REMOVAL_BEGINS
  if (form !== "shortest") {
    const statuses = id === undefined ? ["4xx" as const] : ["4xx" as const, 200]
    return yield gets("get.not-found", statuses, "an id that is no int64")
  }
  if (isNear) return yield gets("errors.listed-statuses", [200, 404, 410])
  const what = exists ? "an animal that exists" : "an id that is not known"
  const statuses = exists ? [200] : [404]
  // Shortly before the removal, 410 tells that it came too early, whether or not the animal exists.
  if (to >= REMOVAL_BEGINS - DAY_MS && (exists || status === 410))
    yield gets(
      "get.available-until-removal",
      statuses,
      `${what} ${at}, before 5 December 2030 has begun anywhere (${Moment.iso(REMOVAL_BEGINS)})`
    )
  if (exists) yield gets("get.found", statuses, what)
  else if (status !== 200) yield gets("get.not-found", statuses, what)
}
