/** Generates valid animals, with names that stores and encoders often corrupt. */
import * as fc from "fast-check"
import { int64 } from "./Int64.arbitrary.ts"
import type { Complete, NewPet } from "./NewPet.ts"
import * as PetFields from "./PetFields.ts"
import * as PetName from "./PetName.ts"
import * as PetStatus from "./PetStatus.ts"

const awkwardCharacter = fc.constantFrom(
  ..."\"\\/'`;%&<>$",
  ..."\b\f\n\r\t\u0001\u001b\u007f\u0085",
  ..."\u00a0\u2028\u2029\u202e\u200b\ufeff\ufffd\ufffe\uffff",
  "e\u0301",
  "é",
  "😀",
  "\u{10ffff}"
)

const isValid = (name: string): boolean => PetName.problem(name) === undefined

/** Valid names of any length, including awkward characters. */
export const petName: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: PetName.maxLength, unit: "binary" }),
    fc.string({ minLength: 1, maxLength: 30, unit: fc.oneof(awkwardCharacter, fc.constant("a")) }),
    fc.string({ minLength: PetName.maxLength, maxLength: PetName.maxLength, unit: "binary" }),
    fc.constantFrom(
      "__proto__",
      "'; DROP TABLE pets; --",
      "<script>alert(1)</script>",
      "null",
      "😀".repeat(255)
    )
  )
  .filter(isValid)

export const petStatus: fc.Arbitrary<PetStatus.PetStatus> = fc.constantFrom(...PetStatus.all)

/** Generators of fields for which the examples of `PetFields` are not enough. */
const generators: { readonly [field in keyof NewPet]?: fc.Arbitrary<NewPet[field]> } = {
  name: petName,
  categoryId: int64,
  status: petStatus
}

/** Generates animals; a field that an animal may lack is absent in some of them. */
export const newPet = fc.record(
  Object.fromEntries(
    PetFields.names.map((name) => [
      name,
      generators[name] ?? fc.constantFrom(...PetFields.fields[name].examples)
    ])
  ),
  { noNullPrototype: true }
) as fc.Arbitrary<NewPet> // one generator for each field

/** An animal whose fields all have a value. */
export const completePet = Object.fromEntries(
  PetFields.names.map((name) => [
    name,
    (PetFields.fields[name].examples as ReadonlyArray<unknown>).find((value) => value !== undefined)
  ])
) as Complete // one value for each field
