import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { int64 } from "./Int64.arbitrary.ts"
import { newPet } from "./NewPet.arbitrary.ts"
import { jsonOf, Pet } from "./Pet.ts"

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

describe("the bytes of an animal, and of a list", () => {
  const bytesOf = (text: string): number => new TextEncoder().encode(text).length
  const animal = fc.tuple(int64, newPet).map(([id, pet]) => new Pet(id, pet))

  it("are those of its text in UTF-8, from the second use on", () => {
    fc.assert(
      fc.property(animal, (pet) => {
        expect(pet.jsonBytes).toBeUndefined()
        expect(pet.json).toBe(pet.json)
        expect(pet.jsonBytes).toBe(bytesOf(pet.json))
      })
    )
  })

  it("are those of all animals, if known, parted by commas", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(animal, fc.nat({ max: 2 })), { maxLength: 30 }), (used) => {
        const pets = used.map(([pet]) => pet)
        for (const [pet, times] of used) for (let time = 0; time < times; time++) pet.json
        const areKnown = used.every(([, times]) => times > 0)
        const { bytes, text } = jsonOf(pets)
        expect(text).toBe(`[${pets.map(({ json }) => json).join(",")}]`)
        expect(bytes).toBe(areKnown ? bytesOf(text) : undefined)
        expect(jsonOf(pets)).toEqual({ text, bytes: bytesOf(text) })
      })
    )
  })

  it("are right for any order of lists, also where one was asked for before", () => {
    fc.assert(
      fc.property(
        fc.array(animal, { minLength: 1, maxLength: 4 }),
        fc.array(fc.array(fc.nat({ max: 3 }), { maxLength: 3 }), { maxLength: 20 }),
        (animals, lists) => {
          for (const list of lists) {
            const pets = list.flatMap((index) => animals[index] ?? [])
            const expected = `[${pets.map(({ json }) => json).join(",")}]`
            const { bytes, text } = jsonOf(pets)
            expect(text).toBe(expected)
            if (bytes !== undefined) expect(bytes).toBe(bytesOf(expected))
            // What is kept is a copy: the list is its owner's.
            pets.reverse()
          }
        }
      )
    )
  })

  it("are made once for a list that is asked for again", () => {
    const pets = [1n, 2n].map((id) => new Pet(id, { name: "Rex", categoryId: 1n, status: "sold" }))
    jsonOf(pets)
    expect(jsonOf(pets)).not.toBe(jsonOf([...pets].reverse()))
    const known = jsonOf([...pets])
    expect(known.bytes).toBe(known.text.length)
    expect(jsonOf([...pets])).toBe(known)
  })
})
