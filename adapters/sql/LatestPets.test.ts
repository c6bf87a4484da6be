import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as Int64Arbitrary from "../../core/domain/Int64.arbitrary.ts"
import { newPet } from "../../core/domain/NewPet.arbitrary.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as LatestPets from "./LatestPets.ts"

/** A few ids that share places, and any others. */
const id = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, 4096n, 4097n, 8193n, -1n, -4096n, 2n ** 63n - 1n, -(2n ** 63n)),
  Int64Arbitrary.int64
)

it("answers with what was read, whatever was read before", () => {
  let same = 0
  fc.assert(
    fc.property(
      fc.array(newPet, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(id, fc.nat()), { maxLength: 60, size: "max" }),
      (pets, reads) => {
        const latest = LatestPets.make()
        const before = new Set<Pet>()
        for (const [id, index] of reads) {
          const read: NewPet = { ...(pets[index % pets.length] as NewPet) }
          const answer = latest(id, read)
          expect({ ...answer }).toEqual({ ...new Pet(id, read) })
          if (before.has(answer)) same++
          before.add(answer)
        }
      }
    )
  )
  expect(same).toBeGreaterThan(100)
})

it("answers with the same animal while nothing of it changes", () => {
  const latest = LatestPets.make()
  const read: NewPet = { name: "Rex", categoryId: 7n, status: "sold" }
  const first = latest(1n, read)
  expect(latest(1n, { ...read })).toBe(first)
  for (const changed of [{ name: "Tom" }, { categoryId: 8n }, { status: "pending" as const }]) {
    const other = latest(1n, { ...read, ...changed })
    expect(other).toEqual(new Pet(1n, { ...read, ...changed }))
    expect(latest(1n, read)).not.toBe(other)
  }
})
