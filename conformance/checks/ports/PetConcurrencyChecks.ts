/** Laws of `PetRepository` about concurrent and interrupted calls. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import type { PageQuery } from "../../../core/domain/Page.ts"
import type { Pet } from "../../../core/domain/Pet.ts"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import { expect, type Failure } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Model } from "../../linearizability/Linearizability.ts"
import { type Check, family } from "../Check.ts"
import * as Animals from "./Animals.ts"
import * as Concurrency from "./Concurrency.ts"

/** A call of one of several clients. `find` and `after` count back from the latest known id; -1 is the next id. */
type Call =
  | { readonly insert: PetStatus }
  | { readonly find: number }
  | { readonly page: PetStatus | undefined; readonly limit: number; readonly after: number | undefined }

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: Animals.status }) },
  { weight: 2, arbitrary: fc.record({ find: fc.integer({ min: -1, max: 2 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      page: fc.option(Animals.status, { nil: undefined }),
      limit: fc.integer({ min: 1, max: 20 }),
      after: fc.option(fc.nat(3), { nil: undefined })
    })
  }
)

const clients = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 4 })

const writer: ReadonlyArray<Call> = [{ insert: "sold" }, { find: 0 }, { insert: "available" }, { find: 0 }]

const secondWriter: ReadonlyArray<Call> = [
  { insert: "available" },
  { find: 0 },
  { insert: "sold" },
  { find: -1 }
]

const reader: ReadonlyArray<Call> = [
  { find: -1 },
  { page: undefined, limit: 20, after: undefined },
  { find: -1 },
  { page: "sold", limit: 20, after: undefined }
]

const pager: ReadonlyArray<Call> = [1, 20, 20, 20].map((limit) => ({
  page: undefined,
  limit,
  after: undefined
}))

/** The input of the model: a call with its arguments. The result of each call is a list of animals. */
type Input = { readonly insert: NewPet } | { readonly find: bigint } | { readonly page: PageQuery }

/** The model: animals by ascending id. Each new id must be unused; concurrent inserts may get ids in any order. */
const catalogue: Model<ReadonlyArray<Pet>, Input, ReadonlyArray<Pet>> = {
  initial: [],
  step: (all, input, output) => {
    if (output === undefined) return all
    if ("insert" in input) {
      const [pet] = output
      if (pet === undefined || all.some(({ id }) => id === pet.id)) return undefined
      return [...all, Animals.stored(pet, input.insert)].sort((a, b) => (a.id < b.id ? -1 : 1))
    }
    const expected =
      "find" in input ? all.filter(({ id }) => id === input.find) : Animals.pageOf(all, input.page)
    return expected.length === output.length &&
      expected.every((pet, index) => {
        const returned = output[index]
        return returned !== undefined && Animals.isSame(pet, returned)
      })
      ? all
      : undefined
  },
  key: (all) => all.map(({ id }) => id).join(),
  show: (input, output = []) =>
    `${
      "insert" in input ? "insert" : "find" in input ? `find ${input.find}` : Animals.describe(input.page)
    } (returned ${Animals.lines(output)})`
}

/** Runs clients concurrently; fails unless some order of the calls explains their results. */
const runClients = (
  pets: Animals.Pets,
  programs: ReadonlyArray<ReadonlyArray<Call>>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const known: Array<bigint> = []
    const history = new Concurrency.History<Input, ReadonlyArray<Pet>>()
    const back = (count: number): bigint => known.at(-1 - count) ?? BigInt(known.length + 1)
    const newest = (): bigint => known.reduce((max, id) => (id > max ? id : max), 0n)
    const make =
      (step: Call) =>
      (client: number): Effect.Effect<void, Failure> =>
        Effect.suspend(() => {
          if ("insert" in step) {
            const before = newest()
            const pet = Animals.plain(trial, step.insert)
            return history
              .record(
                client,
                { insert: pet },
                Effect.map(Animals.insert(pets, pet, trial), (result) => [result])
              )
              .pipe(
                Effect.flatMap(([result]) => {
                  const given = result?.id ?? 0n
                  known.push(given)
                  return expect(
                    given > before,
                    `an id above ${before}, which was assigned before`,
                    `the id ${given}`
                  )
                })
              )
          }
          if ("find" in step) {
            const wanted = step.find < 0 ? newest() + 1n : back(step.find)
            return Effect.asVoid(
              history.record(
                client,
                { find: wanted },
                Effect.map(Animals.find(pets, wanted, trial), Option.toArray)
              )
            )
          }
          const query = {
            limit: step.limit,
            status: step.page,
            after: step.after === undefined ? undefined : back(step.after)
          }
          return Effect.asVoid(history.record(client, { page: query }, Animals.page(pets, query, trial)))
        })
    yield* Concurrency.runConcurrently(programs.map((calls) => calls.map(make)))
    yield* Concurrency.expectLinearizable(catalogue, history)
  })

/** Interrupts inserts and checks the stored animals. */
const interruptInserts = (
  pets: Animals.Pets,
  rounds: ReadonlyArray<Concurrency.Interruption>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const acknowledged: Array<Pet> = []
    const interruptedPets: Array<NewPet> = []
    for (const [round, { concurrentCalls, turns }] of rounds.entries()) {
      const pet = { name: trial.name(" interrupted"), categoryId: BigInt(round), status: "sold" } as const
      const others = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: concurrentCalls }, () => Animals.plain(trial)),
          (plain) => Animals.insert(pets, plain, trial),
          { concurrency: "unbounded" }
        )
      )
      const exit = yield* Concurrency.interrupt(
        Effect.suspend(() => pets.insert(pet)),
        turns,
        `insert ${JSON.stringify(pet.name)}`,
        (inserted) => Animals.lines([inserted]),
        trial
      )
      if (Exit.isSuccess(exit)) acknowledged.push(exit.value)
      else interruptedPets.push(pet)
      acknowledged.push(...(yield* Fiber.join(others)))
      const newest = acknowledged.reduce((max, { id }) => (id > max ? id : max), 0n)
      const next = yield* Animals.insert(pets, Animals.plain(trial), trial)
      yield* expect(next.id > newest, `an id above ${newest}`, `the id ${next.id}`)
      acknowledged.push(next)
    }
    const left = yield* Animals.page(pets, Animals.whole, trial)
    for (const [index, pet] of left.entries()) {
      const before = left[index - 1]
      yield* expect(
        before === undefined || before.id < pet.id,
        "ascending ids, each once",
        `${pet.id} after ${before?.id}`
      )
      if (acknowledged.some(({ id }) => id === pet.id)) continue
      const origin = interruptedPets.findIndex(({ name }) => name === pet.name)
      const [given] = origin === -1 ? [] : interruptedPets.splice(origin, 1)
      yield* expect(
        given !== undefined && Animals.isSame(pet, Animals.stored(pet, given)),
        "the whole animal of an interrupted insert, once, or nothing",
        Animals.lines([pet])
      )
    }
    const kept = left.filter(({ id }) => acknowledged.some((pet) => pet.id === id))
    const expected = acknowledged.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    yield* Animals.expectAll(kept, expected, "every animal whose insert was acknowledged")
  })

const law = family({ level: "design", profile: "port", on: "pets", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law({
    id: "pets.insert-at-once",
    law: "Concurrent inserts get different ids, and each animal keeps its own fields.",
    clauses: ["pets.insert.concurrent"],
    examples: [{ inserts: 300 }],
    *holds(pets, { inserts }, trial) {
      const given = Array.from({ length: inserts }, (_, index) => ({
        ...Animals.plain(trial, Animals.statusAt(index)),
        categoryId: BigInt(index)
      }))
      const inserted = yield* Effect.forEach(given, (pet) => Animals.insert(pets, pet, trial), {
        concurrency: "unbounded"
      })
      const distinct = new Set(inserted.map(({ id }) => id)).size
      yield* expect(distinct === inserts, `${inserts} different ids`, `${distinct}`)
      const found = yield* Effect.forEach(inserted, ({ id }) => Animals.find(pets, id, trial), {
        concurrency: "unbounded"
      })
      for (const [index, pet] of inserted.entries()) {
        const own = given[index]
        const expected = own === undefined ? [] : [Animals.stored(pet, own)]
        yield* Animals.expectAll(found[index]?.pipe(Option.toArray) ?? [], expected, `with the id ${pet.id}`)
      }
      const page = yield* Animals.page(pets, { ...Animals.whole, limit: inserts + 1 }, trial)
      const ids = new Set(page.map(({ id }) => id))
      yield* expect(ids.size === inserts, `${inserts} animals on one page`, `${ids.size}`)
    }
  }),
  law({
    id: "pets.parallel",
    law: "Concurrent calls are linearizable: each takes effect at one moment while it runs.",
    clauses: ["pets.linearizable", "pets.insert.concurrent"],
    examples: [
      [writer, writer, reader],
      [writer, secondWriter, pager],
      [secondWriter, writer, secondWriter, pager],
      [pager, secondWriter, reader, writer]
    ],
    cases: clients,
    runs: { port: 25, http: 0 },
    holds: runClients
  }),
  law({
    id: "pets.interleaved",
    law: "Calls are linearizable for any interleaving of their steps.",
    clauses: ["pets.linearizable", "pets.insert.concurrent"],
    examples: [1, 2, 3].map((seed) => ({ seed, clients: [writer, reader, secondWriter] })),
    cases: fc.record({ seed: Concurrency.seed, clients }),
    runs: { port: 6, http: 0 },
    holds: (pets, { clients: programs, seed }, trial) =>
      Concurrency.runInterleaved(seed, runClients(pets, programs, trial))
  }),
  law({
    id: "pets.interrupted",
    law: "An interrupted insert stores nothing or the whole animal, and the store keeps working.",
    clauses: ["pets.interruption"],
    timeoutMs: 10_000,
    examples: Concurrency.interruptionExamples,
    cases: Concurrency.interruptions,
    runs: { port: 5, http: 0 },
    holds: (pets, { rounds, seed }, trial) =>
      Concurrency.runInterleaved(seed, interruptInserts(pets, rounds, trial))
  })
]
