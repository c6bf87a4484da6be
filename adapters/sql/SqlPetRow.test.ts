import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { completePet } from "../../core/domain/NewPet.arbitrary.ts"
import * as PetFields from "../../core/domain/PetFields.ts"
import { PetArchive } from "../../core/ports/PetArchive.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { type Database, describeOn, kinds } from "./Databases.fixture.ts"
import { openClient, openNode } from "./Nodes.fixture.ts"
import * as SqlPetArchive from "./SqlPetArchive.ts"
import * as SqlPetRow from "./SqlPetRow.ts"
import * as SqlTable from "./SqlTable.ts"

/** Opens the archive of a database that a node has migrated. */
const openArchive = (database: Database) =>
  Effect.map(Layer.build(Layer.provide(SqlPetArchive.layer, database.client)), (context) =>
    Context.get(context, PetArchive)
  )

const storageTypes: { readonly [type: string]: string } = { integer: "bigint" }

for (const kind of kinds) {
  describeOn(kind, "the table of animals", () => {
    it.live("has the column of every field, with its type", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        yield* openNode(database)
        const table = yield* SqlTable.find(yield* openClient(database), "pets")
        for (const [index, field] of PetFields.names.entries()) {
          const column = SqlPetRow.all[index]
          const type = table?.columns.get(column?.name ?? "") ?? "absent: add a migration"
          expect([field, storageTypes[type] ?? type]).toEqual([field, column?.type])
        }
      })
    )

    it.live("stores every field, by single inserts, by batches, once, and by imports", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const pets = Context.get(yield* openNode(database), PetRepository)
        const archive = yield* openArchive(database)
        yield* pets.insert(completePet)
        yield* Effect.replicateEffect(pets.insert(completePet), 20, { concurrency: "unbounded" })
        yield* pets.insertOnce?.(completePet, { caller: "a", key: "b", fingerprint: "c", now: 1 }) ??
          Effect.void
        const assigned = { ...completePet, id: undefined }
        yield* archive.store({ pets: [assigned, assigned], keepIds: false, step: undefined })
        const kept = { ...completePet, id: 1_000n }
        yield* archive.store({ pets: [kept], keepIds: true, step: undefined })
        const stored = yield* pets.page({ limit: 100, status: undefined, after: undefined })
        expect(stored).toHaveLength(25)
        for (const pet of [...stored, ...(yield* archive.page(0n, 1_000n, 100))]) {
          expect({ ...pet }).toEqual({ ...completePet, id: pet.id })
        }
        expect(Option.getOrThrow(yield* pets.find(1_000n))).toMatchObject(completePet)
      })
    )

    it.live.each(PetFields.names)("an import finds that an animal differs in the field %s", (field) =>
      Effect.gen(function* () {
        const database = yield* kind.create
        yield* openNode(database)
        const archive = yield* openArchive(database)
        const pet = { ...completePet, id: 1n }
        yield* archive.store({ pets: [pet], keepIds: true, step: undefined })
        expect(yield* archive.findTaken([{ ...pet }])).toEqual([])
        const values: ReadonlyArray<unknown> = PetFields.fields[field].examples
        const other = { ...pet, [field]: values.findLast((value) => value !== completePet[field]) }
        expect([field, yield* archive.findTaken([other])]).toEqual([field, [1n]])
      })
    )
  })
}
