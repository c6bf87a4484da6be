/** Where a server can be wrong: a value that a mutant changes on its way. */
import type { Where } from "../gallery/Fault.ts"
import type { About } from "./Condition.ts"
import type { Kind } from "./Operator.ts"
import type { Situation } from "./Situation.ts"

/** Changes a value, if the mutant is wrong in this situation. */
export type Mutate = (value: unknown, situation: Situation) => unknown

export interface Place {
  /** Part of the id of a mutant, such as `X-RateLimit-Reset`. */
  readonly id: string
  readonly kind: Kind
  /** The group of the table in which it is counted. */
  readonly group: string
  /** The conditions that make sense here. */
  readonly under: ReadonlyArray<About>
  /** Where conditions on the operation or the status can hold; everywhere if absent. */
  readonly operations?: ReadonlyArray<Situation["operation"] | "head">
  readonly statuses?: ReadonlyArray<number>
  /** A new server that is wrong here. */
  readonly install: (mutate: Mutate) => Where
}
