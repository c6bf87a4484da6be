/**
 * Our decisions on what the contract leaves open, as far as one response or the learned choices show them. Their clauses
 * have level design: another service may decide otherwise.
 */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { headerValues } from "../http/Wire.ts"
import type { Catalogue } from "./Catalogue.ts"
import * as Creation from "./Creation.ts"
import { type Break, breaks, type Violation, violation } from "./Exchange.ts"
import type { Meters } from "./Meters.ts"
import * as Names from "./Names.ts"
import type { Parameter } from "./Request.ts"
import { isSuccess, type Seen } from "./Seen.ts"
import * as World from "./World.ts"

/** The creations that we reject, by the beginning of the reason why the contract leaves them open. */
const rejected: ReadonlyArray<readonly [reason: RegExp, clause: ClauseSlug]> = [
  [/^text after/, "create.json-strict"],
  [/^a repeated member/, "create.json-duplicates"],
  [/^a byte order mark|not UTF-8/, "create.json-utf8"],
  [/^a deeply nested/, "create.json-depth"],
  [/^a status of null/, "create.status-null"],
  [/^a blank name/, "create.name-blank"],
  [/^a Content-Encoding/, "create.content-encoding"],
  [/^the content type (?!application\/json\s*(?:;|$))/i, "create.content-type"]
]

/** The parameters that we reject, by the reason why the contract leaves them open. */
const parameters: Readonly<Record<"limit" | "status", (because: string) => ClauseSlug>> = {
  limit: (because) =>
    because === "repeated"
      ? "list.limit.repeated"
      : because === "empty" || because === "of another form"
        ? "list.limit.syntax"
        : "list.limit.range",
  status: (because) => (because === "repeated" ? "list.status.repeated" : "list.status.unknown")
}

/** Returns the decision that a successful response breaks: each of them is to reject something. */
export const judge = (seen: Seen): ReadonlyArray<Break> => {
  const { asked, exchange, status } = seen
  if (!isSuccess(seen)) return ofCategory(seen)
  const clause = ofCaller(seen) ?? ofOperation(asked.operation)
  return clause === undefined
    ? []
    : [breaks(clause, "a rejection", `${status} to ${exchange.request.method}`)]
}

/** Every int64 is a category. */
const ofCategory = ({ asked: { caller, isPlain, operation }, status }: Seen): ReadonlyArray<Break> => {
  const isRejected =
    operation.is === "create" && operation.creation.because === Creation.CATEGORY && status === 400
  return isRejected && isPlain && caller.is === "valid" ? [breaks("create.category-any", "201", "400")] : []
}

const ofCaller = ({ asked: { caller }, exchange: { request } }: Seen): ClauseSlug | undefined => {
  if (caller.is !== "open") return undefined
  const values = headerValues(request, "authorization")
  if (values.length > 1 || values[0]?.includes(",") === true) return "auth.two-headers"
  const token = /^bearer +(.*)$/i.exec(values[0] ?? "")?.[1]
  if (token === caller.key.secret) return undefined
  return token?.toLowerCase() === caller.key.secret.toLowerCase() ? "auth.key-case" : "auth.token-verbatim"
}

const ofOperation = (operation: Seen["asked"]["operation"]): ClauseSlug | undefined => {
  switch (operation.is) {
    case "list":
      return ofParameter("limit", operation.limit) ?? ofParameter("status", operation.status)
    case "create":
      return operation.creation.is === "open"
        ? rejected.find(([reason]) => reason.test(operation.creation.because))?.[1]
        : undefined
    case "get":
      return operation.form === "other" ? "get.canonical-id" : undefined
    case "none":
      return undefined
  }
}

const ofParameter = (name: "limit" | "status", given: Parameter<unknown>): ClauseSlug | undefined =>
  given.is === "open" && given.because !== "percent-encoded" ? parameters[name](given.because) : undefined

/** The choices of our service, by the clause that states each. */
const worlds: ReadonlyArray<readonly [clause: ClauseSlug, isOurs: (world: World.World) => boolean]> = [
  ["limits.every-request-costs", ({ countsRejected }) => countsRejected],
  ["limits.denied-costs-nothing", ({ countsDenied }) => !countsDenied],
  ["limits.counted-per-key", ({ shared }) => shared === "each key"],
  ["limits.bucket", ({ minute }) => minute === "token bucket"],
  ["limits.day-utc", ({ day }) => day === "window by the clock"]
]

/** Compares the choices that a service showed with ours. */
export const close = (catalogue: Catalogue, meters: Meters): ReadonlyArray<Violation> => {
  const [world] = meters.worlds
  const ofWorlds = worlds.flatMap(([clause, isOurs]) =>
    world === undefined || meters.worlds.some(isOurs)
      ? []
      : [violation(clause, "our choice", World.says(world), ...meters.exclusions)]
  )
  const [kept] = Names.forms
  const isKept = kept === undefined || catalogue.forms.includes(kept)
  if (isKept) return ofWorlds
  const says = catalogue.forms[0]?.says ?? ""
  return [...ofWorlds, violation("create.name-exact", "names as sent", says, ...catalogue.formEvidence)]
}
