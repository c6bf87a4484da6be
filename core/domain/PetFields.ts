/**
 * Lists the fields of an animal (contract §2 `NewPet`). The schema and type of `NewPet`, the decoding of bodies and
 * imports, the identity of an animal, the OpenAPI document and the generators of tests are derived from this list. What
 * is written for each field elsewhere (`Pet`, `PetJson.encode`, `SqlPetRow`) does not compile, or fails a test that
 * names the field, if it lacks a field.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type FieldValue, Invalid, int64, missing } from "../codec/JsonField.ts"
import { Int64 } from "./Int64.ts"
import * as PetName from "./PetName.ts"
import * as PetStatus from "./PetStatus.ts"

/** The schema of each field in a creation, in the order of JSON objects; `Schema.optional` if an animal may lack it. */
export const schemas = {
  name: PetName.PetName,
  categoryId: Int64,
  status: PetStatus.PetStatus.pipe(Schema.withDecodingDefaultKey(Effect.succeed(PetStatus.initial)))
}

/** The name of a field of an animal, except for `id`. */
export type FieldName = keyof typeof schemas

/** The names of the fields, in the order of JSON objects. New fields are added at the end. */
export const names = Object.keys(schemas) as ReadonlyArray<FieldName> // exactly its keys

/** The properties of a field other than its schema. */
export interface PetField<Value> {
  /** Decodes the field in a JSON object as its schema does, but in half the time; a law checks that both agree. */
  readonly decode: (value: FieldValue) => Value | Invalid
  /** The values of the two animals in the examples of the OpenAPI document, and more for generators. */
  readonly examples: readonly [Value, Value, ...ReadonlyArray<Value>]
}

/** The decoder and the examples of each field. */
export const fields: { readonly [field in FieldName]: PetField<(typeof schemas)[field]["Type"]> } = {
  name: {
    decode: (value) => {
      if (value === undefined) return missing
      const problem = typeof value === "string" ? PetName.problem(value) : PetName.notText
      // The condition on the type is only for the compiler.
      return problem === undefined && typeof value === "string" ? value : new Invalid(problem ?? "")
    },
    examples: ["Rex", "Mia"]
  },
  categoryId: { decode: int64, examples: [7n, 2n] },
  status: {
    decode: (value = PetStatus.initial) =>
      typeof value === "string" && PetStatus.is(value) ? value : new Invalid(PetStatus.message),
    examples: ["available", "pending"]
  }
}

/** The fields that a creation must contain. */
export const required: ReadonlyArray<FieldName> = names.filter(
  (name) => fields[name].decode(undefined) instanceof Invalid
)

/** The fields that every animal has, because they are required or have a default. */
export const everPresent: ReadonlyArray<FieldName> = names.filter(
  (name) => fields[name].decode(undefined) !== undefined
)
