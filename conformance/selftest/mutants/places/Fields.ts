/** Defines places in the bodies of responses: fields of animals and errors, and whole lists. */

import type { Animal } from "../../../http/Animal.ts"
import type { WireResponse } from "../../../http/Wire.ts"
import * as Edit from "../../spoilers/Edit.ts"
import { absent, type Kind, Twice } from "../Operator.ts"
import type { Mutate, Place } from "../Place.ts"
import type { Situation } from "../Situation.ts"
import { changeResponses } from "./Responses.ts"

/** The fields of the contract (§2 `Pet`). */
const kinds = {
  id: "integer",
  name: "text",
  categoryId: "integer",
  status: "status"
} as const satisfies { readonly [field in keyof Animal]?: Kind }

type Field = keyof typeof kinds
const fields = ["id", "name", "categoryId", "status"] as const satisfies ReadonlyArray<Field>

/**
 * Returns the value to write for a changed field. A duplicate becomes an array, because an object cannot have a member
 * twice.
 */
const valueToWrite = (changed: unknown): unknown => {
  if (changed === absent) return undefined
  return changed instanceof Twice ? [changed.value, changed.value] : unquoted(changed)
}

/** Converts the text of a changed integer: `"7"` in quotes to a string, and `7.5` to a number. */
const unquoted = (changed: unknown): unknown => {
  if (typeof changed !== "string") return changed
  if (/^-?[0-9]+\.5$/.test(changed)) return Number(changed)
  return /^"-?[0-9]+"$/.test(changed) ? changed.slice(1, -1) : changed
}

/** Returns the animal with one field changed, or the same object if nothing changed. */
const changeField = (animal: Animal, field: Field, mutate: Mutate, situation: Situation): object => {
  const value = animal[field]
  if (value === undefined) return animal
  const changed = mutate(value, { ...situation, animal })
  return changed === value ? animal : { ...animal, [field]: valueToWrite(changed) }
}

/** Selects responses, and animals in these responses. */
interface Position {
  readonly id: string
  readonly isHere: (response: WireResponse, situation: Situation) => boolean
  readonly isChanged: (index: number, count: number) => boolean
}

const isListed = ({ status }: WireResponse, { operation }: Situation): boolean =>
  operation === "list" && status === 200

const positions: ReadonlyArray<Position> = [
  { id: "in a creation", isHere: ({ status }) => status === 201, isChanged: () => true },
  {
    id: "in a retrieval",
    isHere: ({ status }, { operation }) => operation === "get" && status === 200,
    isChanged: () => true
  },
  { id: "in a list", isHere: isListed, isChanged: () => true },
  { id: "of the first in a list", isHere: isListed, isChanged: (index) => index === 0 },
  { id: "of the last in a list", isHere: isListed, isChanged: (index, count) => index === count - 1 }
]

const fieldPlace = (field: Field, { id, isChanged, isHere }: Position): Place => ({
  id: `${field} ${id}`,
  kind: kinds[field],
  group: "fields of animals",
  topics: ["any", "animal", "history", "key"],
  changesResponses: true,
  install: (mutate) =>
    changeResponses((response, situation) => {
      if (!isHere(response, situation)) return response
      const single = Edit.animalOf(response)
      const animals = single === undefined ? Edit.animalsOf(response) : [single]
      if (animals === undefined) return response
      const changed = animals.map((animal, index) =>
        isChanged(index, animals.length) ? changeField(animal, field, mutate, situation) : animal
      )
      if (changed.every((animal, index) => animal === animals[index])) return response
      return Edit.body(Edit.write(single === undefined ? changed : changed[0]))(response)
    })
})

const errorPlace = (field: "code" | "message" | "status"): Place => ({
  id: `${field} of an error`,
  kind: field === "status" ? "integer" : "words",
  group: "fields of errors",
  topics: ["any", "operation", "key", "no key", "history", "response"],
  operations: ["list", "create", "get", "other"],
  statuses: [400, 401, 404, 405, 410, 413, 415, 429],
  changesResponses: true,
  install: (mutate) =>
    changeResponses((response, situation) => {
      if (response.status < 400) return response
      return Edit.members((members) => {
        const value = members[field]
        const changed = mutate(value, situation)
        return changed === value ? members : { ...members, [field]: valueToWrite(changed) }
      })(response)
    })
})

const lists: Place = {
  id: "list",
  kind: "list",
  group: "lists",
  topics: ["any", "key", "history", "time", "query"],
  changesResponses: true,
  install: (mutate) =>
    changeResponses((response, situation) => {
      const animals = isListed(response, situation) ? Edit.animalsOf(response) : undefined
      if (animals === undefined) return response
      const changed = mutate(animals, situation)
      if (changed === animals) return response
      return Edit.body(changed === absent ? "" : Edit.write(changed))(response)
    })
}

export const places: ReadonlyArray<Place> = [
  ...fields.flatMap((field) => positions.map((position) => fieldPlace(field, position))),
  ...(["code", "message", "status"] as const).map(errorPlace),
  lists
]
