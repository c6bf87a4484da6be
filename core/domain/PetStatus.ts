/**
 * Defines the three availability states of an animal (contract §2 and §3), which are case-sensitive. The contract
 * defines no transitions between them.
 */
import * as Schema from "effect/Schema"

/** The three states, in the order of contract §2. */
export const all = ["available", "pending", "sold"] as const

/** One of the three states. */
export type PetStatus = (typeof all)[number]

/** The status of an animal that is created without a status; the contract does not define it (§2, gaps). */
export const initial: PetStatus = "available"

/** The validation message for values that are not a state. */
export const message = `must be one of ${all.map((status) => `"${status}"`).join(", ")}`

/** Returns whether `text` is exactly one of the states. */
export const is = (text: string): text is PetStatus => (all as ReadonlyArray<string>).includes(text)

/** One of the states, as a schema. */
export const PetStatus = Schema.Literals(all).annotate({
  identifier: "PetStatus",
  description: "Availability of an animal.",
  message
})
