/** The choices that the contract leaves to a service: learned once, then the service is held to them (§4.1, §4.2, §4.3). */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import { type Exchange, type Violation, violation } from "./Exchange.ts"
import { isDenial, isDescribed, isSuccess, type Seen } from "./Seen.ts"

interface Chosen {
  readonly value: string
  readonly evidence: Exchange
}

export interface Choices {
  readonly chosen: ReadonlyMap<string, Chosen>
  /** For each reason why creations were left open: how many there were, and how many were rejected. */
  readonly creations: ReadonlyMap<string, { readonly sent: number; readonly rejected: number }>
}

export const none: Choices = { chosen: new Map(), creations: new Map() }

interface Shown {
  readonly choice: string
  readonly value: string
  readonly clause: ClauseSlug
}

/** Learns from a response, and compares it with the choices so far. */
export const judge = (choices: Choices, seen: Seen): readonly [ReadonlyArray<Violation>, Choices] => {
  const counted = { ...choices, creations: count(choices.creations, seen) }
  const shown = shownBy(seen)
  if (shown === undefined) return [[], counted]
  const earlier = choices.chosen.get(shown.choice)
  if (earlier === undefined) {
    const chosen = { value: shown.value, evidence: seen.exchange }
    return [[], { ...counted, chosen: new Map(choices.chosen).set(shown.choice, chosen) }]
  }
  if (earlier.value === shown.value) return [[], counted]
  const expected = `${shown.choice}: ${earlier.value}, as before`
  return [[violation(shown.clause, expected, shown.value, earlier.evidence, seen.exchange)], counted]
}

const shownBy = (seen: Seen): Shown | undefined => {
  const { asked, exchange, status } = seen
  const { caller, operation } = asked
  if (!isDescribed(seen) || caller.is !== "valid" || isDenial(seen) || status === 401 || status >= 500)
    return undefined
  if (operation.is === "list" && operation.limit.is === "open") {
    if (operation.hasOthers || operation.status.is === "open") return undefined
    const { because } = operation.limit
    // A service that clamps may still reject a number beyond its integers; one that rejects 101 must reject that as well.
    const isLarge =
      because === "beyond an integer type" && isSuccess(seen) && !operation.limit.text.startsWith("-")
    if (because !== "below 1" && because !== "above 100" && !isLarge) return undefined
    return {
      choice: `a limit ${isLarge ? "above 100" : because}`,
      value: isSuccess(seen) ? "accepted" : String(status),
      clause: "list.limit.range"
    }
  }
  if (
    operation.is === "create" &&
    operation.creation.is === "valid" &&
    operation.creation.sent.status === undefined
  ) {
    const animal = CreatedAnimal.of(exchange)
    return (
      animal && {
        choice: "the status of an animal created without one",
        value: animal.status ?? "absent",
        clause: "create.status-default"
      }
    )
  }
  return undefined
}

const count = (
  creations: Choices["creations"],
  { asked: { caller, operation }, status }: Seen
): Choices["creations"] => {
  if (operation.is !== "create" || operation.creation.is !== "open" || caller.is !== "valid") return creations
  const { because } = operation.creation
  const { rejected, sent } = creations.get(because) ?? { sent: 0, rejected: 0 }
  return new Map(creations).set(because, { sent: sent + 1, rejected: rejected + (status >= 400 ? 1 : 0) })
}

/** Returns the choices, and the creations that they left undecided. */
export const tells = ({ chosen, creations }: Choices): ReadonlyArray<string> => [
  ...[...chosen].map(([choice, { value }]) => `${choice}: ${value}`),
  ...[...creations]
    .filter(([, { rejected }]) => rejected > 0)
    .map(
      ([because, { rejected, sent }]) =>
        `${rejected} of ${sent} creations with ${because} undecided: the server rejects them`
    )
]
