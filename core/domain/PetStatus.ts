/** Availability of an animal (contract §2 and §3): three states, compared exactly; no transition is defined. */
import * as Schema from "effect/Schema"

/** The three states, in the order of contract §2. */
export const all = ["available", "pending", "sold"] as const

/** One of the three states. */
export type PetStatus = (typeof all)[number]

/** Status of an animal created without one; the contract leaves it open (§2, gaps). */
export const initial: PetStatus = "available"

/** What a value that is none of them must be told. */
export const message = `must be one of ${all.map((status) => `"${status}"`).join(", ")}`

/** Whether `text` is one of the states, in this very spelling. */
export const is = (text: string): text is PetStatus => (all as ReadonlyArray<string>).includes(text)

/** One of the states, as a schema. */
export const PetStatus = Schema.Literals(all).annotate({
  identifier: "PetStatus",
  description: "Availability of an animal.",
  message
})
