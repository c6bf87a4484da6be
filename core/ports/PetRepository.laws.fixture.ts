/** The laws of `PetRepository` as tests, the same ones for every store. */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { int64 } from "../domain/Int64.arbitrary.ts"
import { newPet, petStatus } from "../domain/NewPet.arbitrary.ts"
import type { NewPet } from "../domain/NewPet.ts"
import type { PageQuery } from "../domain/Page.ts"
import { Pet } from "../domain/Pet.ts"
import { PetRepository } from "./PetRepository.ts"

/** An id: any, or one at or beside that of an animal inserted before. */
type Id = bigint | { readonly nth: number; readonly plus: bigint }

type Command =
  | { readonly insert: NewPet }
  | { readonly find: Id }
  | { readonly page: Omit<PageQuery, "after"> & { readonly after: Id | undefined } }

const id: fc.Arbitrary<Id> = fc.oneof(
  { weight: 1, arbitrary: int64 },
  { weight: 3, arbitrary: fc.record({ nth: fc.nat(60), plus: fc.bigInt({ min: -1n, max: 1n }) }) }
)

/** What `LIKE` and patterns of other kinds would take for something else. */
const patternName = fc.string({ unit: fc.constantFrom(..."%_*?\\[]^$a"), minLength: 1, maxLength: 12 })

const hostilePet: fc.Arbitrary<NewPet> = fc.oneof(
  { weight: 4, arbitrary: newPet },
  { weight: 1, arbitrary: fc.tuple(newPet, patternName).map(([pet, name]) => ({ ...pet, name })) }
)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: hostilePet }) },
  { weight: 1, arbitrary: fc.record({ find: id }) },
  {
    weight: 2,
    arbitrary: fc.record({
      page: fc.record({
        limit: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 101 })),
        status: fc.option(petStatus, { nil: undefined }),
        after: fc.option(id, { nil: undefined })
      })
    })
  }
)

/** The laws of the port, read literally, over an array. */
class Model {
  readonly pets: Array<Pet> = []

  idOf(id: Id): bigint {
    return typeof id === "bigint" ? id : (this.pets[id.nth]?.id ?? 0n) + id.plus
  }

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

/** A history that breaks a law is made smaller for so long, then told as it is; databases are slow at that. */
const SHRINKING_MS = 60_000

/** Adds the tests to the current `describe`; each time `empty` is built there is a repository without animals. */
export const petRepositoryLaws = <E>(
  empty: Layer.Layer<PetRepository, E>,
  { numRuns }: { readonly numRuns: number }
): void => {
  const onEmpty = <A, F>(test: Effect.Effect<A, F, PetRepository>): Promise<A> =>
    Effect.runPromise(Effect.provide(test, empty))

  it(
    "answers any history of commands as an array read from front to back would",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 60, size: "max" }), (commands) =>
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
                const wanted = model.idOf(step.find)
                const json = Option.map(yield* repository.find(wanted), (pet) => pet.json)
                expect(json).toEqual(Option.map(model.find(wanted), (pet) => pet.json))
              } else {
                const { after } = step.page
                const query = { ...step.page, after: after === undefined ? undefined : model.idOf(after) }
                const page = yield* repository.page(query)
                expect(page.map((pet) => pet.json)).toEqual(model.page(query).map((pet) => pet.json))
              }
            }
          }).pipe(onEmpty)
        ),
        { numRuns, interruptAfterTimeLimit: SHRINKING_MS }
      )
    },
    SHRINKING_MS + 30_000
  )

  it("concurrent inserts get different ids, and each keeps what is its own", () =>
    Effect.gen(function* () {
      const { find, insert, page } = yield* PetRepository
      const pets = yield* Effect.forEach(
        Array.from({ length: 500 }, (_, index) => `pet ${index}`),
        (name, index) => insert({ name, categoryId: BigInt(index), status: "sold" }),
        { concurrency: "unbounded" }
      )
      expect(new Set(pets.map((pet) => pet.id)).size).toBe(500)
      const found = yield* Effect.forEach(pets, (pet) => find(pet.id), { concurrency: "unbounded" })
      expect(found.map((pet) => Option.getOrUndefined(pet)?.json)).toEqual(
        Array.from(
          pets,
          ({ id }, index) =>
            new Pet(id, { name: `pet ${index}`, categoryId: BigInt(index), status: "sold" }).json
        )
      )
      const all = yield* page({ limit: 501, status: "sold", after: undefined })
      expect(all.map((pet) => pet.id)).toEqual(pets.map((pet) => pet.id).sort((a, b) => (a < b ? -1 : 1)))
    }).pipe(onEmpty))

  it("what it answered is not changed by later inserts", () =>
    Effect.gen(function* () {
      const { insert, page } = yield* PetRepository
      const query = { limit: 100, status: undefined, after: undefined }
      yield* insert({ name: "x", categoryId: 1n, status: "sold" })
      const before = yield* page(query)
      yield* insert({ name: "y", categoryId: 1n, status: "sold" })
      expect(before).toHaveLength(1)
    }).pipe(onEmpty))
}
