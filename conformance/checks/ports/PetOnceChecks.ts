/** Laws of a `PetRepository` that has `insertOnce`. */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import type { Pet } from "../../../core/domain/Pet.ts"
import * as Once from "../../../core/idempotency/Once.ts"
import { expect, inapplicable } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import * as PetJson from "../../http/PetJson.ts"
import { portCall } from "../../subjects/PortCall.ts"
import { type Check, family } from "../Check.ts"
import * as Animals from "./Animals.ts"
import * as Concurrency from "./Concurrency.ts"

/** A request of one of two callers, with one of two keys and animals, `afterMs` ms after the previous request. */
interface Request {
  readonly caller: number
  readonly key: number
  readonly animal: number
  readonly afterMs: number
}

const request: fc.Arbitrary<Request> = fc.record({
  caller: fc.nat(1),
  key: fc.nat(1),
  animal: fc.nat(1),
  afterMs: fc.oneof(fc.nat(10), fc.constantFrom(Once.RETENTION_MS - 1, Once.RETENTION_MS))
})

const START = 1_800_000_000_000

const animals: ReadonlyArray<NewPet> = [
  { name: "Rex", categoryId: 7n, status: "available" },
  { name: "Rex", categoryId: 2n ** 53n + 1n, status: "sold" }
]

const animalOf = (index: number): NewPet =>
  animals[index] ?? { name: "", categoryId: 0n, status: "available" }

const onceOf = ({ animal, caller, key }: Request, now: number): Once.Once => ({
  caller: `key_${caller}`,
  key: `retry ${key}`,
  fingerprint: String(animal).repeat(64),
  now
})

const textOf = (outcome: Once.Outcome): string =>
  "pet" in outcome ? `${outcome._tag} ${PetJson.line(outcome.pet)}` : outcome._tag

const insertOnce = (
  method: NonNullable<Animals.Pets["insertOnce"]>,
  request: Request,
  now: number,
  trial: Trial
) => {
  const once = onceOf(request, now)
  const pet = animalOf(request.animal)
  return portCall(
    trial,
    `${once.caller} inserts ${PetJson.draft(pet)} once by "${once.key}" at ${now}`,
    () => method(pet, once),
    textOf
  )
}

const noInsertOnce = inapplicable("the store has no `insertOnce`")

const law = family({ level: "design", profile: "port", on: "pets", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law<ReadonlyArray<Request>>({
    id: "pets.once",
    law: "An insert with a key takes effect once in 24 hours: a repetition returns its animal, and another insert is a mismatch.",
    clauses: ["pets.once"],
    examples: [
      [
        { caller: 0, key: 0, animal: 0, afterMs: 0 },
        { caller: 0, key: 0, animal: 0, afterMs: 5 },
        { caller: 0, key: 0, animal: 1, afterMs: 0 },
        { caller: 1, key: 0, animal: 1, afterMs: 0 },
        { caller: 0, key: 1, animal: 1, afterMs: 0 },
        { caller: 0, key: 0, animal: 0, afterMs: Once.RETENTION_MS - 6 },
        { caller: 0, key: 0, animal: 1, afterMs: 1 },
        { caller: 0, key: 0, animal: 1, afterMs: 1 }
      ]
    ],
    cases: fc.array(request, { maxLength: 10 }),
    runs: { port: 15, http: 0 },
    *holds(pets, requests, trial) {
      const method = pets.insertOnce
      if (method === undefined) return yield* noInsertOnce
      const known = new Map<string, { readonly animal: number; readonly pet: Pet; readonly until: number }>()
      const stored: Array<Pet> = []
      let now = START
      for (const request of requests) {
        now += request.afterMs
        const callerAndKey = `${request.caller} ${request.key}`
        const before = known.get(callerAndKey)
        const outcome = yield* insertOnce(method, request, now, trial)
        if (before === undefined || before.until <= now) {
          yield* expect(outcome._tag === "Inserted", "Inserted", textOf(outcome))
          if (outcome._tag !== "Inserted") return
          yield* Animals.expectAll(
            [outcome.pet],
            [Animals.stored(outcome.pet, animalOf(request.animal))],
            "the animal as given"
          )
          known.set(callerAndKey, {
            animal: request.animal,
            pet: outcome.pet,
            until: now + Once.RETENTION_MS
          })
          stored.push(outcome.pet)
        } else {
          const expected =
            before.animal === request.animal ? textOf({ _tag: "Replayed", pet: before.pet }) : "Mismatch"
          yield* expect(textOf(outcome) === expected, expected, textOf(outcome))
        }
      }
      const all = yield* Animals.page(pets, Animals.whole, trial)
      yield* Animals.expectAll(all, stored, "each animal once")
    }
  }),
  law<{ readonly requests: ReadonlyArray<Request>; readonly seed: number }>({
    id: "pets.once-parallel",
    law: "Concurrent inserts with one key store one animal, whatever the order of their own steps.",
    clauses: ["pets.once"],
    examples: [
      { seed: 1, requests: Array.from({ length: 4 }, () => ({ caller: 0, key: 0, animal: 0, afterMs: 0 })) }
    ],
    cases: fc.record({
      seed: fc.nat(),
      requests: fc.array(
        request.map((fields) => ({ ...fields, afterMs: 0 })),
        { minLength: 2, maxLength: 6 }
      )
    }),
    runs: { port: 10, http: 0 },
    *holds(pets, { requests, seed }, trial) {
      const method = pets.insertOnce
      if (method === undefined) return yield* noInsertOnce
      const ids = new Map<string, Set<bigint>>()
      const programs = requests.map((request) => [
        () =>
          Effect.map(insertOnce(method, request, START, trial), (outcome) => {
            if (!("pet" in outcome)) return
            const callerAndKey = `${request.caller} ${request.key}`
            ids.set(callerAndKey, (ids.get(callerAndKey) ?? new Set()).add(outcome.pet.id))
          })
      ])
      yield* Concurrency.runInterleaved(seed, Concurrency.runConcurrently(programs))
      for (const [callerAndKey, found] of ids) {
        yield* expect(found.size === 1, `one animal of ${callerAndKey}`, `the ids ${[...found].join(", ")}`)
      }
      const all = yield* Animals.page(pets, Animals.whole, trial)
      yield* expect(all.length === ids.size, `${ids.size} animals`, `${all.length}`)
    }
  })
]
