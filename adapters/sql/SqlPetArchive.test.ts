import { it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { expect } from "vitest"
import * as Int64 from "../../core/domain/Int64.ts"
import * as NewPetArbitrary from "../../core/domain/NewPet.arbitrary.ts"
import { PetArchive } from "../../core/ports/PetArchive.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as ImportRecord from "../../core/transfer/ImportRecord.ts"
import * as Archive from "../embed/Archive.ts"
import { type Database, describeOn, kinds } from "./Databases.fixture.ts"
import { openNode } from "./Nodes.fixture.ts"

const rex = { name: "Rex", categoryId: 1n, status: "sold" } as const

const position = (animals: number) => ({
  bytes: animals * 100,
  lines: animals,
  animals,
  prefix: `after ${animals}`
})

/** Returns a step of an import, from one number of animals to another. */
const step = (from: number, to: number) => ({
  source: "name:test",
  from: from === 0 ? ImportRecord.beginning : position(from),
  to: position(to),
  completedAt: undefined
})

/** Opens a node that serves requests, and the archive as the commands open it. */
const open = (database: Database) =>
  Effect.gen(function* () {
    const node = yield* openNode(database)
    return { archive: yield* openArchive(database), repository: Context.get(node, PetRepository) }
  })

const openArchive = (database: Database) =>
  Effect.map(Layer.build(Result.getOrThrow(Archive.layer(database.address))), (context) =>
    Context.get(context, PetArchive)
  )

for (const kind of kinds) {
  describeOn(kind, "SqlPetArchive", () => {
    it.live("stores any animals unchanged, with ascending ids in the order of the batch", () =>
      Effect.gen(function* () {
        const { archive } = yield* open(yield* kind.create)
        const pets = fc.sample(NewPetArbitrary.newPet, { seed: 1, numRuns: 3_000 })
        const batch = pets.map((pet) => ({ id: undefined, ...pet }))
        expect(yield* archive.store({ pets: batch, keepIds: false, step: undefined })).toBe(3_000)
        const stored = yield* archive.page(0n, Int64.max, 5_000)
        expect(stored.map(({ id: _, ...pet }) => ({ ...pet }))).toEqual(pets.map((pet) => ({ ...pet })))
        expect(yield* archive.lastId).toBe(stored.at(-1)?.id)
      })
    )

    it.live("stores any int64 id exactly, and later animals get larger ids on every node", () =>
      Effect.gen(function* () {
        const { archive, repository } = yield* open(yield* kind.create)
        const before = yield* repository.insert(rex)
        const ids = [before.id + 5n, 9_007_199_254_740_993n, Int64.max - 10n]
        yield* archive.store({ pets: ids.map((id) => ({ id, ...rex })), keepIds: true, step: undefined })
        expect((yield* archive.page(0n, Int64.max, 10)).map(({ id }) => id)).toEqual([before.id, ...ids])
        expect((yield* repository.insert(rex)).id).toBeGreaterThan(Int64.max - 10n)
        // Smaller ids do not move the sequence back.
        yield* archive.store({ pets: [{ id: before.id + 1n, ...rex }], keepIds: true, step: undefined })
        expect((yield* repository.insert(rex)).id).toBeGreaterThan(Int64.max - 10n)
      })
    )

    it.live("updates the import record with each batch, and rejects a batch from another position", () =>
      Effect.gen(function* () {
        const { archive } = yield* open(yield* kind.create)
        const batch = { pets: [{ id: undefined, ...rex }], keepIds: false }
        expect(yield* archive.findImport("name:test")).toBeUndefined()
        expect((yield* Effect.flip(archive.store({ ...batch, step: step(0, 1) })))._tag).toBe("ImportMoved")
        yield* archive.startImport("name:test", false, true)
        yield* archive.store({ ...batch, step: step(0, 1) })
        expect((yield* Effect.flip(archive.store({ ...batch, step: step(0, 1) })))._tag).toBe("ImportMoved")
        // An unfinished import is not restarted.
        yield* archive.startImport("name:test", false, true)
        expect(yield* archive.findImport("name:test")).toEqual({
          keepIds: false,
          position: position(1),
          completedAt: undefined
        })
        yield* archive.store({ pets: [], keepIds: false, step: { ...step(1, 1), completedAt: 7 } })
        expect((yield* archive.findImport("name:test"))?.completedAt).toBe(7)
        yield* archive.startImport("name:test", true, true)
        expect(yield* archive.findImport("name:test")).toEqual({
          keepIds: true,
          position: ImportRecord.beginning,
          completedAt: undefined
        })
        expect(yield* archive.page(0n, Int64.max, 10)).toHaveLength(1)
      })
    )

    it.live("allows only one of four concurrent archives to store the same batch of an import", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const { archive } = yield* open(database)
        yield* archive.startImport("name:test", false, true)
        const archives = yield* Effect.forEach([1, 2, 3, 4], () => openArchive(database))
        const exits = yield* Effect.forEach(
          archives,
          (each) =>
            Effect.exit(each.store({ pets: [{ id: undefined, ...rex }], keepIds: false, step: step(0, 1) })),
          { concurrency: "unbounded" }
        )
        expect(exits.filter(Exit.isSuccess)).toHaveLength(1)
        expect(yield* archive.page(0n, Int64.max, 10)).toHaveLength(1)
      })
    )

    it.live(
      "skips animals that are already stored, and rejects a batch with the id of a different animal",
      () =>
        Effect.gen(function* () {
          const { archive } = yield* open(yield* kind.create)
          const pets = [2n, 4n, 6n].map((id) => ({ id, ...rex }))
          expect(yield* archive.store({ pets, keepIds: true, step: undefined })).toBe(3)
          const partlyStored = [1n, 2n, 3n, 6n, 9n].map((id) => ({ id, ...rex }))
          expect(yield* archive.store({ pets: partlyStored, keepIds: true, step: undefined })).toBe(3)
          const conflicting = [
            { id: 8n, ...rex },
            { id: 9n, ...rex, name: "Max" }
          ]
          expect(yield* archive.findTaken(conflicting)).toEqual([9n])
          yield* archive.startImport("name:test", true, true)
          const failure = yield* Effect.flip(
            archive.store({ pets: conflicting, keepIds: true, step: step(0, 2) })
          )
          expect(failure.message).toBe("id: 9 belongs to another animal in the database")
          expect((yield* archive.page(0n, Int64.max, 10)).map(({ id }) => id)).toEqual([
            1n,
            2n,
            3n,
            4n,
            6n,
            9n
          ])
          expect((yield* archive.findImport("name:test"))?.position).toEqual(ImportRecord.beginning)
        })
    )

    it.live("stores each batch completely or not at all while a server uses ids concurrently", () =>
      Effect.gen(function* () {
        const { archive, repository } = yield* open(yield* kind.create)
        let created = 0
        const create = Effect.forEach(
          Array.from({ length: 150 }),
          () => Effect.map(repository.insert(rex), () => created++),
          { concurrency: 3, discard: true }
        )
        const store = Effect.gen(function* () {
          for (let count = 0; count < 30; count++) {
            const last = yield* archive.lastId
            const pets = Array.from({ length: 20 }, (_, index) => ({
              id: last + 1n + BigInt(index),
              ...rex,
              name: "Max"
            }))
            // A server may use the ids first; then the whole batch fails.
            yield* Effect.catchTag(archive.store({ pets, keepIds: true, step: undefined }), "IdTaken", () =>
              Effect.succeed(0)
            )
          }
        })
        yield* Effect.all([create, store], { concurrency: "unbounded" })
        expect(created).toBe(150)
        const all = yield* archive.page(0n, Int64.max, 10_000)
        expect(all.filter(({ name }) => name === "Rex")).toHaveLength(150)
        expect(all.filter(({ name }) => name === "Max").length % 20).toBe(0)
      })
    )

    it.live("stores reserved ids in several batches, while a server creates animals with larger ids", () =>
      Effect.gen(function* () {
        const { archive, repository } = yield* open(yield* kind.create)
        yield* archive.reserveIds(6n)
        for (const ids of [[1n, 2n], [4n, 5n], [6n]]) {
          const pets = ids.map((id) => ({ id, ...rex }))
          expect(yield* archive.store({ pets, keepIds: true, step: undefined })).toBe(ids.length)
          expect((yield* repository.insert(rex)).id).toBeGreaterThan(6n)
        }
        // A smaller reservation changes nothing.
        yield* archive.reserveIds(3n)
        expect((yield* repository.insert(rex)).id).toBe(10n)
      })
    )

    it.live("restarts a completed import only if `again` is true", () =>
      Effect.gen(function* () {
        const { archive } = yield* open(yield* kind.create)
        yield* archive.startImport("name:test", false, false)
        yield* archive.store({
          pets: [{ id: undefined, ...rex }],
          keepIds: false,
          step: { ...step(0, 2), completedAt: 1 }
        })
        const failure = yield* Effect.flip(archive.startImport("name:test", false, false))
        expect(failure._tag).toBe("ImportMoved")
        yield* archive.startImport("name:test", false, true)
        expect((yield* archive.findImport("name:test"))?.completedAt).toBeUndefined()
      })
    )

    it.live("returns pages that end at a given id", () =>
      Effect.gen(function* () {
        const { archive } = yield* open(yield* kind.create)
        expect(yield* archive.lastId).toBe(0n)
        yield* archive.store({
          pets: [1n, 2n, 3n, 5n, 8n].map((id) => ({ id, ...rex })),
          keepIds: true,
          step: undefined
        })
        expect((yield* archive.page(1n, 5n, 2)).map(({ id }) => id)).toEqual([2n, 3n])
        expect((yield* archive.page(3n, 5n, 2)).map(({ id }) => id)).toEqual([5n])
      })
    )
  })
}
