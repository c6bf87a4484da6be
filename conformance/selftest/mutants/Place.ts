/** Defines places: the values of a server that a mutant can change. */
import type { Where } from "../Fault.ts"
import type { Topic } from "./Condition.ts"
import type { Kind } from "./Operator.ts"
import type { Situation } from "./Situation.ts"

/** Changes a value if the condition of the mutant holds in this situation. */
export type Mutate = (value: unknown, situation: Situation) => unknown

export interface Place {
  /** Part of the id of a mutant, such as `X-RateLimit-Reset`. */
  readonly id: string
  readonly kind: Kind
  /** The group in the table of results. */
  readonly group: string
  /** The topics of the conditions that make sense here. */
  readonly topics: ReadonlyArray<Topic>
  /** The operations that conditions here may require; any if absent. */
  readonly operations?: ReadonlyArray<Situation["operation"] | "head">
  /** The statuses that conditions here may require; any if absent. */
  readonly statuses?: ReadonlyArray<number>
  /** Whether only level design has laws about it. */
  readonly isDesign?: true
  /** Whether it changes only responses, so that a recording shows what the mutant does. */
  readonly changesResponses?: true
  /** Applies `mutate` at this place of a new server. */
  readonly install: (mutate: Mutate) => Where
}
