/** Defines an animal in a create request, before the service assigns an id (contract §2 `NewPet`). */
import * as Schema from "effect/Schema"
import * as PetFields from "./PetFields.ts"

/** A new animal, as a schema; an absent `status` is decoded as `PetStatus.initial`. */
export const NewPet = Schema.Struct(PetFields.schemas)

export type NewPet = typeof NewPet.Type

type Encoded = typeof NewPet.Encoded

/** An animal as a program gives it: a field that has a default may be absent. */
export type Given = {
  readonly [field in keyof Encoded]: object extends Pick<Encoded, field>
    ? Encoded[field] | undefined
    : Encoded[field]
}

/** A new animal in which every field is present: code that omits a field does not compile, even an optional one. */
export type Complete = { readonly [field in keyof NewPet]-?: NewPet[field] }

/**
 * Returns a text that is equal for equal animals. Stores keep it as the fingerprint of a creation, so it must not
 * change: a field that an animal may lack is absent from the text or follows with its name.
 */
export const identity = (pet: NewPet): string =>
  JSON.stringify([...PetFields.everPresent.map((name) => textOf(pet[name])), ...optionalParts(pet)])

const optional = PetFields.names.filter((name) => !PetFields.everPresent.includes(name))

const optionalParts = (pet: NewPet): ReadonlyArray<unknown> =>
  optional.flatMap((name) => (pet[name] === undefined ? [] : [name, textOf(pet[name])]))

const textOf = (value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)
