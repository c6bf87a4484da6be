/** Laws about concurrent creations and reads: each operation appears to take effect at one moment while it runs. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Catalogue, Listing } from "../../evaluation/Catalogue.ts"
import { expect, type Failure, undecided } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import * as Linearizability from "../../linearizability/Linearizability.ts"
import * as PortSubject from "../../subjects/PortSubject.ts"
import { type Check, define, family } from "../Check.ts"
import * as Concurrency from "../ports/Concurrency.ts"
import * as OwnAnimals from "./OwnAnimals.ts"

type Status = PetStatus.PetStatus

/** One step of a client's program. */
type Step =
  | { readonly do: "create"; readonly status: Status }
  | ({ readonly do: "list" } & Listing)
  /** Fetches one of the animals whose creation was acknowledged; after the last one, `index` wraps around. */
  | { readonly do: "get"; readonly index: number }

/** The programs of concurrent clients; each runs its steps in sequence. */
type Programs = ReadonlyArray<ReadonlyArray<Step>>

/** An executed operation; `number` is the number of the creation of an animal. */
type Input =
  | { readonly do: "create"; readonly number: number }
  | ({ readonly do: "list" } & Listing)
  | { readonly do: "get"; readonly number: number }

/** The result of an operation: the numbers of the animals in it; a full list may omit others. */
interface Output {
  readonly numbers: ReadonlyArray<number>
  readonly isFull: boolean
}

const numbersIn = (numbers: ReadonlyArray<number>): string =>
  numbers.length === 0 ? "none of ours" : numbers.map((number) => `#${number}`).join(" ")

/** Returns the model: a set of animals to which creations add. The state has one bit for each animal in the set. */
const model = (statuses: ReadonlyArray<Status>): Linearizability.Model<bigint, Input, Output> => {
  const has = (state: bigint, number: number) => (state & (1n << BigInt(number))) !== 0n
  return {
    initial: 0n,
    step: (state, input, output) => {
      if (input.do === "create") return state | (1n << BigInt(input.number))
      if (output === undefined) return state
      if (output.numbers.some((number) => !has(state, number))) return undefined
      if (output.isFull) return state
      const mayOmit = (number: number) =>
        input.do === "get"
          ? number !== input.number
          : input.status !== undefined && input.status !== statuses[number]
      const isComplete = statuses.every(
        (_, number) => !has(state, number) || mayOmit(number) || output.numbers.includes(number)
      )
      return isComplete ? state : undefined
    },
    key: String,
    show: (input, output) => {
      switch (input.do) {
        case "create":
          return `create #${input.number}`
        case "list":
          return `${OwnAnimals.describe(input)}: ${numbersIn(output?.numbers ?? [])}`
        case "get":
          return `get #${input.number}: ${output?.numbers.length === 0 ? "none" : "found"}`
      }
    }
  }
}

/** Runs the programs concurrently, and records the order in which operations start and end. */
const runAndRecord = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  programs: Programs,
  trial: Trial
): Effect.fn.Return<
  {
    readonly history: ReadonlyArray<Linearizability.Operation<Input, Output>>
    readonly statuses: ReadonlyArray<Status>
    readonly owned: ReadonlyArray<OwnAnimals.Own>
    readonly listed: ReadonlyArray<ReadonlyArray<Animal>>
  },
  Failure
> {
  const history: Array<Linearizability.Operation<Input, Output>> = []
  const drafts = programs
    .flat()
    .flatMap((step) =>
      step.do === "create"
        ? [{ name: trial.name(), categoryId: catalogue.categoryOf(1n), status: step.status }]
        : []
    )
  const numberOf = new Map(drafts.map(({ name }, number) => [name, number]))
  const owned: Array<OwnAnimals.Own> = []
  const listed: Array<ReadonlyArray<Animal>> = []
  let next = 0
  let time = 0

  const outputOf = (listing: Listing, animals: ReadonlyArray<Animal>): Output => ({
    numbers: animals.flatMap(({ name }) => numberOf.get(name) ?? []),
    isFull: !OwnAnimals.isShort(listing, animals)
  })

  const perform = Effect.fnUntraced(function* (client: number, step: Step): Effect.fn.Return<void, Failure> {
    yield* Effect.yieldNow
    switch (step.do) {
      case "create": {
        const number = next++
        const draft = drafts[number]
        if (draft === undefined) return
        const invokedAt = time++
        const animal = yield* catalogue.create(draft)
        const completed = { at: time++, output: { numbers: [number], isFull: false } }
        history.push({ client, input: { do: "create", number }, invokedAt, completed })
        yield* OwnAnimals.expectAsSent(draft, animal, "the result of its creation")
        owned.push({ draft, animal })
        return
      }
      case "list": {
        const invokedAt = time++
        const animals = yield* catalogue.list(step)
        history.push({
          client,
          input: step,
          invokedAt,
          completed: { at: time++, output: outputOf(step, animals) }
        })
        listed.push(animals)
        yield* OwnAnimals.expectStatus(step, animals)
        return
      }
      case "get": {
        const own = owned[step.index % owned.length]
        const number = own === undefined ? undefined : numberOf.get(own.draft.name)
        if (own === undefined || number === undefined) return
        const invokedAt = time++
        const found = yield* OwnAnimals.find(catalogue, own.animal.id)
        if (found === undefined) return
        const animals = Option.toArray(found)
        const output = { numbers: animals.length === 0 ? [] : [number], isFull: false }
        history.push({ client, input: { do: "get", number }, invokedAt, completed: { at: time++, output } })
        for (const animal of animals)
          yield* OwnAnimals.expectAsSent(own.draft, animal, "a retrieval by its id")
      }
    }
  })

  yield* Effect.forEach(
    programs,
    (program, client) => Effect.forEach(program, (step) => perform(client, step), { discard: true }),
    { concurrency: "unbounded", discard: true }
  )
  return { history, statuses: drafts.map(({ status }) => status), owned, listed }
})

/** Runs the programs; fails unless ids and lists are correct and the recorded history is linearizable. */
const expectLinearizable = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  programs: Programs,
  trial: Trial
) {
  const { history, listed, owned, statuses } = yield* runAndRecord(catalogue, programs, trial)
  const ids = new Set(owned.map(({ animal }) => animal.id))
  yield* expect(
    ids.size === owned.length,
    "a different id for each animal",
    `${ids.size} ids for ${owned.length}`
  )
  for (const animals of listed) {
    yield* OwnAnimals.expectDistinct(animals)
    yield* OwnAnimals.expectFaithful(animals, owned)
    yield* OwnAnimals.expectNoOthers(catalogue, animals, owned)
  }
  const { show = () => "", ...rest } = model(statuses)
  const verdict = Linearizability.check({ ...rest, show }, history)
  if (verdict._tag === "Unknown") {
    return yield* undecided(`no verdict after ${verdict.explored} states; a shorter history would need fewer`)
  }
  if (verdict._tag === "Violation") {
    trial.record({ did: "the operations in time", got: Linearizability.render(history, verdict, show) })
    yield* expect(
      false,
      "results that some order explains, each operation at one moment between its start and its end",
      `no order explains ${verdict.stuck
        .map(({ client, completed, input }) => `client ${client}: ${show(input, completed?.output)}`)
        .join("; or ")}`
    )
  }
})

const anyStatus = fc.constantFrom(...PetStatus.all)

const creation = fc.record({ do: fc.constant("create" as const), status: anyStatus })

const reading: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("list" as const),
    limit: fc.constantFrom(100, 100, 2),
    status: fc.option(anyStatus, { nil: undefined })
  }),
  fc.record({ do: fc.constant("get" as const), index: fc.nat(5) })
)

const anyPrograms = (maxCreations: number): fc.Arbitrary<Programs> =>
  fc
    .array(fc.array(fc.oneof(creation, reading), { minLength: 1, maxLength: 4 }), {
      minLength: 2,
      maxLength: 4
    })
    .filter((programs) => programs.flat().filter((step) => step.do === "create").length <= maxCreations)

const create = (status: Status): Step => ({ do: "create", status })
const listAll: Step = { do: "list", limit: 100, status: undefined }
const listSold: Step = { do: "list", limit: 100, status: "sold" }
const get = (index: number): Step => ({ do: "get", index })

const MIXED: Programs = [
  [create("sold"), listAll, get(0), listSold],
  [listAll, create("sold"), listSold, listAll],
  [listSold, listAll, create("pending"), get(1)],
  [listAll, listAll, get(2), listAll]
]

/** Writers that are likely to overlap. */
const WRITERS: Programs = Array.from({ length: 4 }, () => [create("sold"), create("pending"), listAll])

/** One writer, and readers that read without a pause. */
const READERS: Programs = [
  [create("available"), create("sold"), create("available"), create("sold")],
  ...Array.from({ length: 3 }, () => [listAll, listAll, listAll, get(0)])
]

const concurrent = family({ level: "spec", profile: "concurrency", on: "catalogue", needs: ["parallel"] })

export const checks: ReadonlyArray<Check> = [
  concurrent<{ readonly creations: number }>({
    id: "concurrent.creations",
    law: "Concurrent creations all take effect, each with its own id and fields.",
    clauses: ["create.concurrent", "create.returns-created", "resources.id-unique"],
    requests: 20,
    examples: [{ creations: 8 }],
    cases: fc.record({ creations: fc.integer({ min: 2, max: 20 }) }),
    runs: { port: 4, http: 0 },
    *holds(catalogue, { creations }, trial) {
      const owned = yield* Effect.forEach(
        Array.from({ length: creations }, (_, index) => index),
        (index) => OwnAnimals.create(catalogue, trial, PetStatus.all[index % 3], BigInt(index % 5)),
        { concurrency: "unbounded" }
      )
      const ids = new Set(owned.map(({ animal }) => animal.id))
      yield* expect(
        ids.size === creations,
        `${creations} different ids`,
        `${ids.size}: ${[...ids].join(", ")}`
      )
      for (const { animal, draft } of owned) {
        const found = yield* OwnAnimals.find(catalogue, animal.id)
        if (found === undefined) break
        yield* expect(Option.isSome(found), `the animal with id ${animal.id}, since it was created`, "none")
        for (const shown of Option.toArray(found))
          yield* OwnAnimals.expectAsSent(draft, shown, "a retrieval by its id")
      }
      for (const status of [...PetStatus.all, undefined]) {
        const listing = { limit: 100, status }
        const animals = yield* catalogue.list(listing)
        yield* OwnAnimals.expectComplete(listing, animals, owned)
        yield* OwnAnimals.expectFaithful(animals, owned)
        yield* OwnAnimals.expectNoOthers(catalogue, animals, owned)
      }
    }
  }),
  concurrent<{ readonly writers: number }>({
    id: "concurrent.read-after-write",
    law: "Once a creation has returned, every client finds the animal by its id and in complete lists.",
    clauses: ["list.sees-created", "get.found"],
    requests: 25,
    examples: [{ writers: 1 }, { writers: 4 }],
    cases: fc.record({ writers: fc.integer({ min: 1, max: 6 }) }),
    runs: { port: 4, http: 0 },
    holds: (catalogue, { writers }, trial) => {
      const read = (own: OwnAnimals.Own, reader: number): Effect.Effect<void, Failure> =>
        Effect.gen(function* () {
          if (reader % 2 === 0) {
            const found = yield* OwnAnimals.find(catalogue, own.animal.id)
            if (found === undefined) return
            yield* expect(
              Option.isSome(found),
              `the animal with id ${own.animal.id}, since it was created`,
              "none"
            )
            return
          }
          const listing = { limit: 100, status: reader % 4 === 1 ? own.draft.status : undefined }
          yield* OwnAnimals.expectComplete(listing, yield* catalogue.list(listing), [own])
        })
      return Effect.forEach(
        Array.from({ length: writers }, (_, writer) => writer),
        (writer) =>
          Effect.flatMap(OwnAnimals.create(catalogue, trial, PetStatus.all[writer % 3]), (own) =>
            // If the transport opens several connections, the readers and the writers use different ones.
            Effect.forEach([0, 1, 2, 3], (reader) => read(own, reader), {
              concurrency: "unbounded",
              discard: true
            })
          ),
        { concurrency: "unbounded", discard: true }
      )
    }
  }),
  concurrent<Programs>({
    id: "concurrent.history",
    law: "Concurrent operations are linearizable: some order of them, each at one moment, explains all responses.",
    clauses: ["create.concurrent", "list.sees-created", "list.complete", "list.faithful", "get.found"],
    requests: 30,
    examples: [MIXED],
    cases: anyPrograms(6),
    runs: { port: 20, http: 2 },
    holds: expectLinearizable
  }),
  define<"pets", { readonly programs: Programs; readonly seed: number }>({
    id: "concurrent.interleaving",
    law: "Operations are linearizable, whichever fiber runs next at each step.",
    clauses: ["pets.linearizable", "pets.insert.concurrent"],
    level: "design",
    profile: "concurrency",
    on: "pets",
    needs: ["parallel"],
    requests: 0,
    examples: [MIXED, WRITERS, READERS].flatMap((programs) => [1, 2].map((seed) => ({ programs, seed }))),
    cases: fc.record({ programs: anyPrograms(8), seed: fc.noShrink(fc.integer()) }),
    runs: { port: 4, http: 0 },
    holds: (pets, { programs, seed }, trial) =>
      Concurrency.runInterleaved(
        seed,
        expectLinearizable(PortSubject.catalogue(pets, trial), programs, trial)
      )
  })
]
