/** The statuses that the contract allows, by precedence: 401 before all, then 429, then what the operation says. */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../http/Removal.ts"
import type { Creation } from "./Creation.ts"
import { type Break, breaks, unless } from "./Exchange.ts"
import type { Operation } from "./Request.ts"
import { isByService, isDescribed, type Seen } from "./Seen.ts"

/** What is known of the caller and of the animal that the request names. */
export interface Circumstances {
  /** Whether an earlier 429 was ignored, so that the key may be banned (§8.4.3). */
  readonly mayBeBanned: boolean
  /** Whether the animal of a retrieval is known to exist for the caller. */
  readonly exists: boolean
}

/** Returns the first sentence, in the order of precedence, that the status breaks; an array with at most one. */
export const judge = (seen: Seen, circumstances: Circumstances): ReadonlyArray<Break> => {
  const found = byPrecedence(seen, circumstances)
  return found === undefined ? [] : [found]
}

const byPrecedence = (seen: Seen, circumstances: Circumstances): Break | undefined => {
  const { asked, status } = seen
  const { caller, operation } = asked
  if (status >= 500 && status !== 501) {
    return isDescribed(seen) ? breaks("errors.no-5xx", "no 5xx", String(status)) : undefined
  }
  if (operation.is === "none") return ofOther(seen)
  // Whatever else is wrong with a request, the key is checked first (§5.2, §5.3).
  if (caller.is === "missing" || caller.is === "invalid") return withoutKey(seen)
  if (caller.is === "open" && status === 401) return undefined
  if (circumstances.mayBeBanned && (status === 401 || status === 403)) return undefined
  if (status === 401) return breaks("auth.bearer", "the valid key to be accepted", "401")
  if (status === 429) return undefined
  return ofOperation(seen, circumstances)
}

/** A method or a path that the contract does not describe: only a HEAD is like the GET of its path (§1, §5.2). */
const ofOther = ({ asked: { caller, operation }, exchange, status }: Seen): Break | undefined => {
  const isHead = exchange.request.method === "HEAD" && operation.is === "none" && operation.path !== "unknown"
  const hasNoKey = caller.is === "missing" || caller.is === "invalid"
  const isAccepted = isHead && hasNoKey && status >= 200 && status < 300
  return unless(!isAccepted, "auth.every-operation", "401 to HEAD without a valid key", status)
}

/** §5.3: a missing or invalid key gets 401; §7: every operation may respond with 429. */
const withoutKey = (seen: Seen): Break | undefined => {
  const { asked, status } = seen
  if (status === 401 || status === 429 || !isByService(seen)) return undefined
  const clause: ClauseSlug =
    status >= 300 ? "auth.every-operation" : asked.caller.is === "missing" ? "auth.required" : "auth.invalid"
  return breaks(clause, `401 with ${asked.caller.is === "missing" ? "no" : "an invalid"} key`, String(status))
}

const ofOperation = (seen: Seen, circumstances: Circumstances): Break | undefined => {
  const { asked, status } = seen
  const { isPlain, operation } = asked
  const isRejected = isClientError(status)
  // What the contract does not describe may be rejected, but not with a status that means something else.
  const mayReject = !isPlain && (isRejected || status === 403 || status === 501)
  switch (operation.is) {
    case "list": {
      if (status === 200 || mayReject) return undefined
      const isOpen = operation.hasOthers || operation.limit.is === "open" || operation.status.is === "open"
      return isOpen
        ? unless(isRejected, "errors.listed-statuses", "200 or 4xx", status)
        : breaks("list.status-200", "200", String(status))
    }
    case "create":
      return mayReject && operation.creation.because !== "chunks"
        ? undefined
        : ofCreation(operation.creation, status, isRejected)
    case "get":
      return mayReject ? undefined : ofGet(seen, operation, circumstances)
    case "none":
      return undefined
  }
}

/** §4.2: 201 or 400; 411 is a status of HTTP for a body in chunks. */
const ofCreation = (
  { because, clause, is }: Creation,
  status: number,
  isRejected: boolean
): Break | undefined => {
  if (is === "valid") return unless(status === 201, "create.status-201", "201", status)
  if (clause !== undefined) {
    const isLawful = status === 400 || (because.includes("; ") && isRejected)
    return unless(isLawful, clause, `400 for ${because}`, status)
  }
  if (because === "chunks") {
    return unless(status === 201 || status === 411, "create.status-201", "201 or 411 for chunks", status)
  }
  return unless(
    status === 201 || isRejected || status === 501,
    "errors.listed-statuses",
    "201 or 4xx",
    status
  )
}

/** §4.3, §9.3: 200 or 404 until 5 December 2030 has begun somewhere, never 200 after it has ended everywhere. */
const ofGet = (
  { exchange: { from, to }, status }: Seen,
  { form, id }: Operation & { readonly is: "get" },
  { exists }: Circumstances
): Break | undefined => {
  if (from >= REMOVAL_OVER) return unless(isClientError(status), "get.removed", "404 or 410", status)
  const isNear = to >= REMOVAL_BEGINS
  if (isNear && status === 410) return undefined
  if (form !== "shortest") {
    const isLawful = isClientError(status) || (status === 200 && id !== undefined)
    return unless(isLawful, "get.not-found", "404 for an id that is no int64", status)
  }
  if (exists && !isNear) return unless(status === 200, "get.found", "200 for an animal that exists", status)
  const clause = isNear ? "errors.listed-statuses" : "get.not-found"
  return unless(status === 200 || status === 404, clause, "200 or 404", status)
}

/** Whether the status rejects the request, and not the caller. */
const isClientError = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 401 && status !== 403
