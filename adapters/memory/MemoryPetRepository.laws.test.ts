import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as Int64 from "../../core/domain/Int64.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as MemoryPetRepository from "./MemoryPetRepository.ts"

const int64 = fc.oneof(fc.bigInt({ min: Int64.min, max: Int64.max }), fc.bigInt({ min: -2n, max: 40n }))
const status = fc.constantFrom(...PetStatus.all)

type Command =
  | { readonly insert: { name: string; categoryId: bigint; status: PetStatus.PetStatus } }
  | { readonly find: bigint }
  | { readonly page: PageQuery }

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      insert: fc.record({ name: fc.string({ unit: "binary", minLength: 1 }), categoryId: int64, status })
    })
  },
  { weight: 1, arbitrary: fc.record({ find: int64 }) },
  {
    weight: 2,
    arbitrary: fc.record({
      page: fc.record({
        limit: fc.integer({ min: 1, max: 101 }),
        status: fc.option(status, { nil: undefined }),
        after: fc.option(int64, { nil: undefined })
      })
    })
  }
)

/** The laws of the port, read literally, over an array. */
class Model {
  readonly pets: Array<Pet> = []

  find(id: bigint): Option.Option<Pet> {
    return Option.fromUndefinedOr(this.pets.find((pet) => pet.id === id))
  }

  page({ after, limit, status }: PageQuery): ReadonlyArray<Pet> {
    return this.pets
      .filter((pet) => status === undefined || pet.status === status)
      .filter((pet) => after === undefined || pet.id > after)
      .slice(0, limit)
  }
}

describe("MemoryPetRepository", () => {
  it("answers any history of commands as an array read from front to back would", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 80, size: "max" }), (commands) =>
        Effect.gen(function* () {
          const repository = yield* PetRepository
          const model = new Model()
          for (const step of commands) {
            if ("insert" in step) {
              const pet = yield* repository.insert(step.insert)
              expect(pet).toMatchObject(step.insert)
              expect(pet.id).toBeGreaterThan(model.pets.at(-1)?.id ?? 0n)
              model.pets.push(new Pet(pet.id, step.insert))
              expect(pet.json).toBe(model.pets.at(-1)?.json)
            } else if ("find" in step) {
              const json = Option.map(yield* repository.find(step.find), (pet) => pet.json)
              expect(json).toEqual(Option.map(model.find(step.find), (pet) => pet.json))
            } else {
              const page = yield* repository.page(step.page)
              expect(page.map((pet) => pet.json)).toEqual(model.page(step.page).map((pet) => pet.json))
            }
          }
        }).pipe(Effect.provide(MemoryPetRepository.layer), Effect.runPromise)
      ),
      { numRuns: 300 }
    )
  })

  it.effect("concurrent inserts get different ids", () =>
    Effect.gen(function* () {
      const { insert } = yield* PetRepository
      const pets = yield* Effect.all(
        Array.from({ length: 500 }, (_, index) =>
          insert({ name: "x", categoryId: BigInt(index), status: "sold" })
        ),
        { concurrency: "unbounded" }
      )
      expect(new Set(pets.map(({ id }) => id)).size).toBe(500)
    }).pipe(Effect.provide(MemoryPetRepository.layer))
  )

  it.effect("what it answered is not changed by later inserts", () =>
    Effect.gen(function* () {
      const { insert, page } = yield* PetRepository
      const query = { limit: 100, status: undefined, after: undefined }
      yield* insert({ name: "x", categoryId: 1n, status: "sold" })
      const before = yield* page(query)
      yield* insert({ name: "y", categoryId: 1n, status: "sold" })
      expect(before).toHaveLength(1)
    }).pipe(Effect.provide(MemoryPetRepository.layer))
  )
})
