import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { int64 } from "../domain/Int64.arbitrary.ts"
import { newPet } from "../domain/NewPet.arbitrary.ts"
import { Pet } from "../domain/Pet.ts"
import * as PetJson from "./PetJson.ts"

const animal = fc.tuple(int64, newPet).map(([id, pet]) => new Pet(id, pet))

describe("PetJson.encode", () => {
  it("encodes every field of an animal", () => {
    fc.assert(
      fc.property(animal, (pet) => {
        expect(Object.keys(JSON.parse(PetJson.encode(pet)))).toEqual(Object.keys(pet))
      })
    )
  })

  it("encodes exactly the fields of the contract, with unchanged text", () => {
    fc.assert(
      fc.property(animal, (pet) => {
        const parsed = JSON.parse(PetJson.encode(pet))
        expect(Object.keys(parsed)).toEqual(["id", "name", "categoryId", "status"])
        expect(parsed).toMatchObject({ name: pet.name, status: pet.status })
        expect([typeof parsed.id, typeof parsed.categoryId]).toEqual(["number", "number"])
      })
    )
  })

  it("encodes every digit of both integers", () => {
    fc.assert(
      fc.property(animal, (pet) => {
        const json = PetJson.encode(pet)
        expect(json.startsWith(`{"id":${pet.id},"name":`)).toBe(true)
        expect(json.endsWith(`,"categoryId":${pet.categoryId},"status":"${pet.status}"}`)).toBe(true)
      })
    )
  })
})

describe("PetJson.encodeAll", () => {
  it("encodes animals in order, separated by commas", () => {
    fc.assert(
      fc.property(fc.array(animal, { maxLength: 30 }), (pets) => {
        expect(PetJson.encodeAll(pets)).toBe(`[${pets.map(PetJson.encode).join(",")}]`)
        expect(JSON.parse(PetJson.encodeAll(pets))).toHaveLength(pets.length)
      })
    )
  })
})
