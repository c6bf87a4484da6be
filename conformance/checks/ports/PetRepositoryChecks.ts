/** Laws of `PetRepository` about calls in sequence: inserts, finds and histories. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as Int64 from "../../../core/domain/Int64.ts"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import type { Pet } from "../../../core/domain/Pet.ts"
import { expect } from "../../evaluation/Outcome.ts"
import { type Check, family } from "../Check.ts"
import * as Animals from "./Animals.ts"

/** The number of animals to insert, and the ids to search for afterwards. */
interface FindCase {
  readonly inserts: number
  readonly ids: ReadonlyArray<Animals.Id>
}

type Command = { readonly insert: NewPet } | { readonly find: Animals.Id } | { readonly page: Animals.Query }

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: Animals.newPet }) },
  { weight: 1, arbitrary: fc.record({ find: Animals.id }) },
  { weight: 2, arbitrary: fc.record({ page: Animals.query }) }
)

const law = family({ level: "design", profile: "port", on: "pets", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law({
    id: "pets.insert",
    law: "An insert returns the animal as given, with every field exact.",
    clauses: ["pets.insert.exact", "pets.insert.names", "pets.insert.int64"],
    examples: [Animals.awkward],
    cases: fc.array(Animals.newPet, { maxLength: 5 }),
    runs: { port: 20, http: 0 },
    holds: (pets, given, trial) =>
      Effect.forEach(
        given,
        (pet) =>
          Effect.flatMap(Animals.insert(pets, pet, trial), (result) =>
            Animals.expectAll([result], [Animals.stored(result, pet)], "the animal as given")
          ),
        { discard: true }
      )
  }),
  law({
    id: "pets.find",
    law: "An animal is found by its id, with every field exact, from the moment its insert is acknowledged.",
    clauses: ["pets.find.sees-insert", "pets.find.exact", "pets.insert.names", "pets.insert.int64"],
    examples: [Animals.awkward],
    cases: fc.array(Animals.newPet, { maxLength: 5 }),
    runs: { port: 20, http: 0 },
    *holds(pets, given, trial) {
      const inserted: Array<Pet> = []
      for (const pet of given) {
        // The next id is also searched before the insert: a store must not cache that it was unknown.
        const last = inserted.at(-1)
        if (last !== undefined) yield* Animals.find(pets, last.id + 1n, trial)
        const { id } = yield* Animals.insert(pets, pet, trial)
        const found = yield* Animals.find(pets, id, trial)
        const expected = Animals.stored({ id }, pet)
        yield* Animals.expectAll(Option.toArray(found), [expected], "the animal just inserted")
        inserted.push(expected)
      }
      for (const pet of inserted) {
        const found = yield* Animals.find(pets, pet.id, trial)
        yield* Animals.expectAll(Option.toArray(found), [pet], "the animal as before")
      }
    }
  }),
  law<FindCase>({
    id: "pets.find-none",
    law: "No animal is found by an id that was never assigned.",
    clauses: ["pets.find.none"],
    mustSee: ["an id that was not assigned"],
    examples: [
      { inserts: 0, ids: [...Animals.boundaries, 1n] },
      { inserts: 3, ids: Animals.boundaries },
      {
        inserts: 3,
        // Ids that may equal an assigned one after truncation to 32 or 53 bits, or after the loss of the sign.
        ids: [2n ** 32n, 2n ** 53n, -(2n ** 32n), Int64.min, 1n, 3n, 10n].map((plus) => ({ nth: 1, plus }))
      }
    ],
    cases: fc.record({ inserts: fc.nat(5), ids: fc.array(Animals.id, { maxLength: 8 }) }),
    runs: { port: 20, http: 0 },
    *holds(pets, { ids, inserts }, trial) {
      const given = Array.from({ length: inserts }, () => Animals.plain(trial))
      const inserted = yield* Animals.insertAll(pets, given, trial)
      const mirrored = inserted.map(({ id }) => -id)
      for (const wanted of [...ids.map((id) => Animals.idOf(id, inserted)), ...mirrored]) {
        if (inserted.some(({ id }) => id === wanted)) continue
        trial.saw("an id that was not assigned")
        const found = yield* Animals.find(pets, wanted, trial)
        yield* Animals.expectAll(Option.toArray(found), [], `no animal with the id ${wanted}`)
      }
    }
  }),
  law({
    id: "pets.ids",
    law: "An insert assigns a positive id that is greater than all previous ones.",
    clauses: ["pets.insert.id-positive", "pets.insert.id-increasing", "pets.insert.id-never-reused"],
    examples: [{ statuses: Animals.nine, readsBetween: 1 }],
    cases: fc.record({ statuses: Animals.statuses, readsBetween: fc.nat(2) }),
    runs: { port: 20, http: 0 },
    *holds(pets, { readsBetween, statuses: wanted }, trial) {
      let newest = 0n
      for (const status of wanted) {
        const { id } = yield* Animals.insert(pets, Animals.plain(trial, status), trial)
        yield* expect(
          id > newest && Int64.is(id),
          newest === 0n ? "a positive id" : `an id above ${newest}`,
          `the id ${id}`
        )
        newest = id
        for (let read = 0; read < readsBetween; read++) yield* Animals.find(pets, id, trial)
      }
    }
  }),
  law({
    id: "pets.history",
    law: "Sequential calls return what an array of all animals would return.",
    clauses: [
      "pets.find.exact",
      "pets.find.none",
      "pets.insert.exact",
      "pets.insert.id-increasing",
      "pets.page.exact",
      "pets.page.first",
      "pets.page.sees-insert"
    ],
    examples: [
      [...Animals.awkward.map((insert) => ({ insert })), { page: { ...Animals.whole, limit: 101 } }]
    ],
    cases: fc.array(command, { maxLength: 40, size: "max" }),
    runs: { port: 20, http: 0 },
    *holds(pets, commands, trial) {
      const inserted: Array<Pet> = []
      for (const step of commands) {
        if ("insert" in step) {
          const result = yield* Animals.insert(pets, step.insert, trial)
          const expected = Animals.stored(result, step.insert)
          yield* Animals.expectAll([result], [expected], "the animal as given")
          const newest = inserted.at(-1)?.id ?? 0n
          yield* expect(result.id > newest, `an id above ${newest}`, `the id ${result.id}`)
          inserted.push(expected)
        } else if ("find" in step) {
          const wanted = Animals.idOf(step.find, inserted)
          const found = yield* Animals.find(pets, wanted, trial)
          const expected = inserted.filter(({ id }) => id === wanted)
          yield* Animals.expectAll(Option.toArray(found), expected, `with the id ${wanted}`)
        } else {
          const { after } = step.page
          const query = {
            ...step.page,
            after: after === undefined ? undefined : Animals.idOf(after, inserted)
          }
          const page = yield* Animals.page(pets, query, trial)
          yield* Animals.expectAll(page, Animals.pageOf(inserted, query), "on the page")
        }
      }
    }
  })
]
