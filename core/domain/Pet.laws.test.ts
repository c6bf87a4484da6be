import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { int64 } from "./Int64.arbitrary.ts"
import { newPet } from "./NewPet.arbitrary.ts"
import { Pet } from "./Pet.ts"

describe("Pet.json", () => {
  it("is JSON with exactly the fields of the contract, the text ones unchanged", () => {
    fc.assert(
      fc.property(int64, newPet, (id, pet) => {
        const read = JSON.parse(new Pet(id, pet).json)
        expect(Object.keys(read)).toEqual(["id", "name", "categoryId", "status"])
        expect(read).toMatchObject({ name: pet.name, status: pet.status })
        expect([typeof read.id, typeof read.categoryId]).toEqual(["number", "number"])
      })
    )
  })

  it("shows every digit of both integers", () => {
    fc.assert(
      fc.property(int64, newPet, (id, pet) => {
        const { json } = new Pet(id, pet)
        expect(json.startsWith(`{"id":${id},"name":`)).toBe(true)
        expect(json.endsWith(`,"categoryId":${pet.categoryId},"status":"${pet.status}"}`)).toBe(true)
      })
    )
  })

  it("stays the same text, and nothing of it can be changed from outside", () => {
    fc.assert(
      fc.property(int64, newPet, (id, pet) => {
        const sent = { ...pet }
        const stored = new Pet(id, sent)
        const { json } = stored
        sent.name = "changed"
        expect(stored.json).toBe(json)
        expect(stored.name).toBe(pet.name)
      })
    )
  })
})
