/** A fault that is not written but generated: an operator at a place under a condition. */
import type { Where } from "../gallery/Fault.ts"
import type { Condition } from "./Condition.ts"
import type { Operator } from "./Operator.ts"
import type { Mutate, Place } from "./Place.ts"

export interface Mutant {
  /** Such as `drop X-RateLimit-Reset · on 404`. */
  readonly id: string
  readonly operator: Operator
  readonly place: Place
  readonly condition: Condition
}

/** How often a mutant could have been wrong, and how often it was. */
export interface Tally {
  /** Values at its place while its condition held. */
  reached: number
  /** Those that it changed. */
  changed: number
}

const isSame = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((element, at) => element === other[at])
    : one === other

export const make = (operator: Operator, place: Place, condition: Condition): Mutant => ({
  id: `${operator.id} ${place.id} · ${condition.id}`,
  operator,
  place,
  condition
})

/** A new server with this mutant, which counts in `tally`. */
export const install = ({ condition, operator, place }: Mutant, tally: Tally): Where => {
  const change = operator.make()
  const mutate: Mutate = (value, situation) => {
    // An operator sees every value, because it may return it later.
    const changed = change(value)
    if (!condition.holds(situation)) return value
    tally.reached++
    if (isSame(changed, value)) return value
    tally.changed++
    return changed
  }
  return place.install(mutate)
}
