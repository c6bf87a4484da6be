/** The choices that the contract leaves to a service: learned once, then the service is held to them (§2, §4.1, §4.2). */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as PetJson from "../http/PetJson.ts"
import { type Exchange, type Ruling, rule } from "./Exchange.ts"
import type { Parameter } from "./Request.ts"
import { isDenial, isDescribed, isSuccess, type Seen } from "./Seen.ts"

interface Chosen {
  readonly value: string
  readonly evidence: Exchange
}

/** How many requests of a kind there were, and how many of them were rejected for what the contract leaves open. */
interface Tally {
  readonly sent: number
  readonly rejected: ReadonlyMap<string, number>
}

export interface Choices {
  readonly chosen: ReadonlyMap<string, Chosen>
  /** By kind of request, such as `creations`. */
  readonly tallies: ReadonlyMap<string, Tally>
}

export const none: Choices = { chosen: new Map(), tallies: new Map() }

interface Shown {
  readonly choice: string
  readonly value: string
  /** The clause by which all requests get the same; absent if the choice is only reported. */
  readonly clause?: ClauseSlug
}

/** Learns from a response, and compares it with the choices so far. */
export const judge = (choices: Choices, seen: Seen): readonly [ReadonlyArray<Ruling>, Choices] => {
  const counted = { ...choices, tallies: count(choices.tallies, seen) }
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

const count = (tallies: Choices["tallies"], seen: Seen): Choices["tallies"] => {
  const open = leftOpen(seen)
  if (open === undefined) return tallies
  const [kind, reasons] = open
  const { rejected, sent } = tallies.get(kind) ?? { sent: 0, rejected: new Map<string, number>() }
  const isRejected = seen.status >= 400 && seen.status < 500
  const next = new Map(rejected)
  if (isRejected) for (const reason of reasons) next.set(reason, (next.get(reason) ?? 0) + 1)
  return new Map(tallies).set(kind, { sent: sent + 1, rejected: next })
}

/** Returns the kind of a request that a service may accept, and what the contract leaves open about it. */
const leftOpen = (seen: Seen): readonly [kind: string, reasons: ReadonlyArray<string>] | undefined => {
  const { caller, operation } = seen.asked
  if (caller.is === "open") return ["credentials", ["a valid key in another form"]]
  if (caller.is !== "valid" || isDenial(seen)) return undefined
  if (operation.is === "create" && operation.creation.is !== "invalid") {
    const { because } = operation.creation
    return ["creations", because === "" ? [] : [because]]
  }
  if (operation.is !== "list") return undefined
  const { hasOthers, limit, status } = operation
  const reasons = [
    ...(limit.is === "open" ? [`a limit ${limit.because}`] : []),
    ...(status.is === "open" ? [`a status ${status.because}`] : []),
    ...(hasOthers ? ["another parameter"] : [])
  ]
  return ["lists", reasons.length > 1 ? [reasons.join(" and ")] : reasons]
}

/** Returns the choices, and the requests that they left undecided. */
export const tells = ({ chosen, tallies }: Choices): ReadonlyArray<string> => [
  ...[...chosen].map(([choice, { value }]) => `${choice}: ${value}`),
  ...[...tallies].flatMap(([kind, { rejected, sent }]) => {
    const reasons = [...rejected].toSorted(([, a], [, b]) => b - a)
    const total = reasons.reduce((sum, [, each]) => sum + each, 0)
    if (total === 0) return []
    const shown = reasons.map(([reason, each]) => `${reason} (${each})`).join(", ")
    return [`${total} of ${sent} ${kind} undecided: the server rejects ${shown}`]
  })
]
