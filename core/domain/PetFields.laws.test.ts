import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Json from "../codec/Json.ts"
import * as NewPetFields from "../codec/NewPetFields.ts"
import * as PetJson from "../codec/PetJson.ts"
import { completePet, newPet } from "./NewPet.arbitrary.ts"
import { identity, type NewPet } from "./NewPet.ts"
import { Pet } from "./Pet.ts"
import * as PetFields from "./PetFields.ts"

const jsonOf = (pet: Pet): { readonly [member: string]: unknown } => JSON.parse(PetJson.encode(pet))

describe.each(PetFields.names)("the field %s of an animal", (name) => {
  const value = completePet[name]

  it("has an example, which its decoder accepts", () => {
    expect(value).toBeDefined()
    const decoded = NewPetFields.decode(
      Result.getOrThrow(Json.parse(Json.stringify(completePet))) as Json.JsonObject,
      "all"
    )
    expect(Result.getOrThrow(decoded)[name]).toEqual(value)
  })

  it("is a field of Pet", () => {
    expect(new Pet(1n, completePet)[name]).toEqual(value)
  })

  it("is in the JSON of an animal if and only if the animal has it", () => {
    const json = jsonOf(new Pet(1n, completePet))
    expect(json[name]).toEqual(JSON.parse(Json.stringify(value as Json.Encodable)))
    expect(Object.keys(json)).toEqual(["id", ...PetFields.names])
    const minimal = Object.fromEntries(
      PetFields.everPresent.map((field) => [field, completePet[field]])
    ) as unknown as NewPet // the other fields are optional
    expect(Object.keys(jsonOf(new Pet(1n, minimal)))).toEqual(["id", ...PetFields.everPresent])
  })

  it("determines the identity of an animal, and thus the fingerprint of a creation", () => {
    const pet = completePet
    const values = [undefined, ...PetFields.fields[name].examples]
    const other = values.find(
      (each) => each !== undefined && identity({ ...pet, [name]: each }) !== identity(pet)
    )
    if (!PetFields.everPresent.includes(name)) {
      expect(identity({ ...pet, [name]: undefined })).not.toBe(identity(pet))
    } else expect(other).toBeDefined()
  })
})

describe("NewPet.identity", () => {
  it("is equal for two animals if and only if their JSON is equal", () => {
    fc.assert(
      fc.property(newPet, newPet, (a, b) => {
        const isEqual = PetJson.encode(new Pet(1n, a)) === PetJson.encode(new Pet(1n, b))
        expect(identity(a) === identity(b)).toBe(isEqual)
        expect(identity({ ...a })).toBe(identity(a))
      })
    )
  })

  it("has not changed, because stores contain fingerprints of earlier versions", () => {
    expect(identity({ name: "Rex", categoryId: -7n, status: "sold" })).toBe('["Rex","-7","sold"]')
  })
})
