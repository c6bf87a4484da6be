import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { int64 } from "../domain/Int64.arbitrary.ts"
import { newPet } from "../domain/NewPet.arbitrary.ts"
import { Pet } from "../domain/Pet.ts"
import * as PetFields from "../domain/PetFields.ts"
import * as PetJson from "./PetJson.ts"

const animal = fc.tuple(int64, newPet).map(([id, pet]) => new Pet(id, pet))

describe("PetJson.encode", () => {
  it("encodes every field that an animal has", () => {
    fc.assert(
      fc.property(animal, (pet) => {
        const present = ["id", ...PetFields.names.filter((name) => pet[name] !== undefined)]
        expect(Object.keys(JSON.parse(PetJson.encode(pet)))).toEqual(present)
      })
    )
  })

  it("encodes the fields of the contract first, with unchanged text", () => {
    fc.assert(
      fc.property(animal, (pet) => {
        const parsed = JSON.parse(PetJson.encode(pet))
        expect(Object.keys(parsed).slice(0, 4)).toEqual(["id", "name", "categoryId", "status"])
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
        expect(json).toContain(`,"categoryId":${pet.categoryId},"status":"${pet.status}"`)
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
