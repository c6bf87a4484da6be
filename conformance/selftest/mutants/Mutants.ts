/** Builds all mutants: each combination of an operator, a place and a condition that fit together. */
import type { Level } from "../../clauses/Clause.ts"
import { type Condition, conditions } from "./Condition.ts"
import * as Draws from "./Draws.ts"
import * as Mutant from "./Mutant.ts"
import { operators as general, type Operator } from "./Operator.ts"
import type { Place } from "./Place.ts"
import * as Calls from "./places/Calls.ts"
import * as Decisions from "./places/Decisions.ts"
import * as Fields from "./places/Fields.ts"
import * as Inputs from "./places/Inputs.ts"
import * as Responses from "./places/Responses.ts"

export const operators = [...general, ...Decisions.callerOperators]

export const places: ReadonlyArray<Place> = [
  ...Responses.places,
  ...Fields.places,
  ...Inputs.places,
  ...Decisions.places,
  ...Calls.places
]

/** Whether a condition can hold at a place. */
const canHold = ({ operations, statuses, topics }: Place, { operation, status, topic }: Condition): boolean =>
  topics.includes(topic) &&
  (operation === undefined || operations === undefined || operations.includes(operation)) &&
  (status === undefined || statuses === undefined || statuses.includes(status))

const hasNoEffect = (operator: Operator, { id, kind }: Place): boolean =>
  (kind === "code" && operator.id === `send ${id.slice(-3)} for`) ||
  // A path has one id, and the first of two equal parameters counts.
  (operator.id === "duplicate" && (id === "id in the path" || id.startsWith("parameter ")))

export const mutants: ReadonlyArray<Mutant.Mutant> = places.flatMap((place) =>
  operators
    .filter((operator) => operator.kinds.includes(place.kind) && !hasNoEffect(operator, place))
    .flatMap((operator) =>
      conditions
        .filter((condition) => canHold(place, condition))
        .map((condition) => Mutant.make(operator, place, condition))
    )
)

export const byId: ReadonlyMap<string, Mutant.Mutant> = new Map(mutants.map((mutant) => [mutant.id, mutant]))

/** Returns a random sample of the mutants of a level without repetition; the same seed gives the same sample. */
export const sample = (
  count: number,
  seed: number,
  level: Level = "spec",
  isWanted: (place: Place) => boolean = () => true
): ReadonlyArray<Mutant.Mutant> => {
  const draw = Draws.make(seed)
  const isOfLevel = ({ isDesign }: Place) => level === "design" || isDesign !== true
  const rest = mutants.filter(({ place }) => isOfLevel(place) && isWanted(place))
  return Array.from({ length: Math.min(count, rest.length) }, () =>
    rest.splice(Math.floor(draw() * rest.length), 1)
  ).flat()
}
