/** Defines mutants: generated faults that apply an operator at a place under a condition. */
import type { Where } from "../Fault.ts"
import type { Condition } from "./Condition.ts"
import type { Operator } from "./Operator.ts"
import type { Mutate, Place } from "./Place.ts"

export interface Mutant {
  /** The id, such as `drop X-RateLimit-Reset · on 404`. */
  readonly id: string
  readonly operator: Operator
  readonly place: Place
  readonly condition: Condition
}

/** How often a mutant could have changed a value, and how often it did. */
export interface Tally {
  /** Number of values at its place while its condition held. */
  reached: number
  /** Number of values that it changed. */
  changed: number
}

const isSame = (a: unknown, b: unknown): boolean =>
  Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((element, index) => element === b[index])
    : a === b

export const make = (operator: Operator, place: Place, condition: Condition): Mutant => ({
  id: `${operator.id} ${place.id} · ${condition.id}`,
  operator,
  place,
  condition
})

/** Installs the mutant in a new server, and counts its effects in `tally`. */
export const install = ({ condition, operator, place }: Mutant, tally: Tally): Where => {
  const change = operator.make()
  const mutate: Mutate = (value, situation) => {
    // An operator gets every value, because it may return one of them later.
    const changed = change(value)
    if (!condition.holds(situation)) return value
    tally.reached++
    if (isSame(changed, value)) return value
    tally.changed++
    return changed
  }
  return place.install(mutate)
}
