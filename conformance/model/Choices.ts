/** The choices that the contract leaves to a service: learned once, then the service is held to them (§2, §4.1, §4.2). */
import * as Arr from "effect/Array"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as PetJson from "../http/PetJson.ts"
import { type Exchange, type Ruling, rule } from "./Exchange.ts"
import type { Parameter } from "./Request.ts"
import { isDenial, isDescribed, isSuccess, type Seen } from "./Seen.ts"

interface Chosen {
  readonly value: string
  readonly evidence: Exchange
}

export interface Choices {
  readonly chosen: ReadonlyMap<string, Chosen>
  /** By kind of request, such as `creations`, what the contract leaves open about each that was rejected, otherwise "". */
  readonly rejected: ReadonlyMap<string, ReadonlyArray<string>>
}

export const none: Choices = { chosen: new Map(), rejected: new Map() }

interface Shown {
  readonly choice: string
  readonly value: string
  /** The clause by which all requests get the same; absent if the choice is only reported. */
  readonly clause?: ClauseSlug
}

/** Learns from a response, and compares it with the choices so far. */
export const judge = (choices: Choices, seen: Seen): readonly [ReadonlyArray<Ruling>, Choices] => {
  const counted = { ...choices, rejected: count(choices.rejected, seen) }
  const shown = shownBy(seen)
  if (shown === undefined) return [[], counted]
  const { choice, clause, value } = shown
  const earlier = choices.chosen.get(choice)
  if (earlier === undefined) {
    const chosen = new Map(choices.chosen).set(choice, { value, evidence: seen.exchange })
    return [[], { ...counted, chosen }]
  }
  const expected = `${choice}: ${earlier.value}, as before`
  const ruling = clause && rule(earlier.value === value, clause, expected, value, earlier.evidence)
  return [ruling === undefined ? [] : [ruling], counted]
}

const shownBy = (seen: Seen): Shown | undefined => {
  const { asked, exchange, status } = seen
  const { caller, operation } = asked
  if (status >= 500 || isDenial(seen)) return undefined
  if (operation.is === "none" && operation.path === "unknown" && caller.is === "missing")
    return { choice: "an unknown path without a key", value: String(status) }
  if (!isDescribed(seen) || caller.is !== "valid" || status === 401) return undefined
  if (operation.is === "list" && !operation.hasOthers && operation.status.is !== "open")
    return ofLimit(operation.limit, isSuccess(seen))
  if (operation.is !== "create" || operation.creation.sent.status !== undefined) return undefined
  const { because, is } = operation.creation
  const isOtherCase = /^the field "status"$/i.test(because)
  const animal = is === "valid" || isOtherCase ? PetJson.createdBy(exchange) : undefined
  const choice = "the status of an animal created without one"
  const clause = isOtherCase ? "create.member-names" : "create.status-chosen"
  return animal && { choice, clause, value: animal.status ?? "absent" }
}

/** A limit out of range is rejected, or accepted and adjusted; but not one of them so and another otherwise. */
const ofLimit = (limit: Parameter<number>, isAccepted: boolean): Shown | undefined => {
  if (limit.is !== "open") return undefined
  // A service that adjusts limits may still reject a number beyond its integers.
  const isBeyond = limit.because === "beyond an integer type" && isAccepted
  const range = isBeyond ? (limit.text.startsWith("-") ? "below 0" : "above 100") : limit.because
  return ["below 0", "of 0", "above 100"].includes(range)
    ? { choice: `a limit ${range}`, value: isAccepted ? "accepted" : "rejected", clause: "list.limit.chosen" }
    : undefined
}

const count = (rejected: Choices["rejected"], seen: Seen): Choices["rejected"] => {
  const open = leftOpen(seen)
  if (open === undefined) return rejected
  const [kind, reason] = open
  const isRejected = seen.status >= 400 && seen.status < 500
  return new Map(rejected).set(kind, [...(rejected.get(kind) ?? []), isRejected ? reason : ""])
}

/** Returns the kind of a request that a service may accept, and what the contract leaves open about it. */
const leftOpen = (seen: Seen): readonly [kind: string, reason: string] | undefined => {
  const { caller, operation } = seen.asked
  if (caller.is === "open") return ["credentials", "a valid key in another form"]
  if (caller.is !== "valid" || isDenial(seen)) return undefined
  if (operation.is === "create" && operation.creation.is !== "invalid")
    return ["creations", operation.creation.because]
  if (operation.is !== "list") return undefined
  const { hasOthers, limit, status } = operation
  const reasons = [
    ...(limit.is === "open" ? [`a limit ${limit.because}: ${PetJson.show(limit.text)}`] : []),
    ...(status.is === "open" ? [`a status ${status.because}: ${PetJson.show(status.text)}`] : []),
    ...(hasOthers ? ["another parameter"] : [])
  ]
  return ["lists", reasons.join(" and ")]
}

/** Returns the choices, and the requests that they left undecided. */
export const tells = ({ chosen, rejected }: Choices): ReadonlyArray<string> => [
  ...[...chosen].map(([choice, { value }]) => `${choice}: ${value}`),
  ...[...rejected].flatMap(([kind, all]) => {
    const some = all.filter((reason) => reason !== "")
    if (some.length === 0) return []
    // Of those that differ only in a value, the first one is shown.
    const alike = Object.values(Arr.groupBy(some, (reason) => reason.replaceAll(/: .*?(?= and |$)/g, "")))
    const shown = alike
      .toSorted((a, b) => b.length - a.length)
      .map((same) => `${same[0]}${new Set(same).size > 1 ? ", …" : ""} (${same.length})`)
    return [`${some.length} of ${all.length} ${kind} undecided: the server rejects ${shown.join(", ")}`]
  })
]
