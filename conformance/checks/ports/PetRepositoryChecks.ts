/** The promises of PetRepository. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as Int64 from "../../../core/domain/Int64.ts"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import type { PageQuery } from "../../../core/domain/Page.ts"
import type { Pet } from "../../../core/domain/Pet.ts"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import { expect, type Failure } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import type { Model } from "../../linearizability/Linearizability.ts"
import { type Check, define } from "../Check.ts"
import * as Animals from "./Animals.ts"
import * as Concurrency from "./Concurrency.ts"

/** A store of many animals would hide what few show: they are few, of mixed statuses. */
const statuses = fc.array(Animals.status, { maxLength: 12 })

/** Animals of these statuses, one after the other, and then a page. */
interface PageCase {
  readonly statuses: ReadonlyArray<PetStatus>
  readonly query: Animals.Query
}

const pageCase: fc.Arbitrary<PageCase> = fc.record({ statuses, query: Animals.query })

/** Every status several times. */
const nine: ReadonlyArray<PetStatus> = Array.from({ length: 9 }, (_, index) => Animals.statusAt(index))
const whole = { limit: 100, status: undefined, after: undefined } as const

/** Inserts an animal of each status in turn, then asks for a page. */
const paged = (pets: Animals.Pets, { query, statuses: wanted }: PageCase, trial: Trial) =>
  Effect.gen(function* () {
    const inserted = yield* Animals.insertAll(
      pets,
      wanted.map((status) => Animals.plain(trial, status)),
      trial
    )
    const { after } = query
    const asked: PageQuery = {
      ...query,
      after: after === undefined ? undefined : Animals.idOf(after, inserted)
    }
    return { inserted, asked, page: yield* Animals.page(pets, asked, trial) }
  })

/** So many animals, and ids to look for. */
interface FindCase {
  readonly inserts: number
  readonly ids: ReadonlyArray<Animals.Id>
}

/** Animals before a page is read, and after. */
interface KeptCase {
  readonly before: number
  readonly after: number
  readonly status: PetStatus | undefined
}

type Command = { readonly insert: NewPet } | { readonly find: Animals.Id } | { readonly page: Animals.Query }

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: Animals.newPet }) },
  { weight: 1, arbitrary: fc.record({ find: Animals.id }) },
  { weight: 2, arbitrary: fc.record({ page: Animals.query }) }
)

/** What a client of several does: `find` counts back from the newest id that anybody knows, -1 is the one to come. */
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
const other: ReadonlyArray<Call> = [{ insert: "available" }, { find: 0 }, { insert: "sold" }, { find: -1 }]
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

/** A call as it was made; what it answered is a list of animals in any case. */
type Made = { readonly insert: NewPet } | { readonly find: bigint } | { readonly page: PageQuery }

/** A set of animals, kept by ascending id. Ids must be new; that they grow holds for calls one after the other only. */
const catalogue: Model<ReadonlyArray<Pet>, Made, ReadonlyArray<Pet>> = {
  initial: [],
  step: (all, made, output) => {
    if (output === undefined) return all
    if ("insert" in made) {
      const [pet] = output
      if (pet === undefined || all.some(({ id }) => id === pet.id)) return undefined
      return [...all, Animals.stored(pet, made.insert)].sort((one, other) => (one.id < other.id ? -1 : 1))
    }
    const expected =
      "find" in made ? all.filter(({ id }) => id === made.find) : Animals.pageOf(all, made.page)
    return expected.length === output.length &&
      expected.every((pet, index) => {
        const other = output[index]
        return other !== undefined && Animals.isSame(pet, other)
      })
      ? all
      : undefined
  },
  key: (all) => all.map(({ id }) => id).join(),
  show: (made, output = []) =>
    `${
      "insert" in made ? "insert" : "find" in made ? `find ${made.find}` : Animals.described(made.page)
    } (answered ${Animals.lines(output)})`
}

/** Lets clients loose on the store, all at once, and looks for an order that explains their answers. */
const atOnce = (
  pets: Animals.Pets,
  programs: ReadonlyArray<ReadonlyArray<Call>>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const known: Array<bigint> = []
    const history = new Concurrency.History<Made, ReadonlyArray<Pet>>()
    const back = (count: number): bigint => known.at(-1 - count) ?? BigInt(known.length + 1)
    const newest = (): bigint => known.reduce((one, other) => (one > other ? one : other), 0n)
    const make =
      (one: Call) =>
      (client: number): Effect.Effect<void, Failure> =>
        Effect.suspend(() => {
          if ("insert" in one) {
            const before = newest()
            const pet = Animals.plain(trial, one.insert)
            return history
              .record(
                client,
                { insert: pet },
                Effect.map(Animals.insert(pets, pet, trial), (answer) => [answer])
              )
              .pipe(
                Effect.flatMap(([answer]) => {
                  const given = answer?.id ?? 0n
                  known.push(given)
                  return expect(
                    given > before,
                    `an id above ${before}, which was given before`,
                    `the id ${given}`
                  )
                })
              )
          }
          if ("find" in one) {
            const wanted = one.find < 0 ? newest() + 1n : back(one.find)
            return Effect.asVoid(
              history.record(
                client,
                { find: wanted },
                Effect.map(Animals.find(pets, wanted, trial), Option.toArray)
              )
            )
          }
          const query = {
            limit: one.limit,
            status: one.page,
            after: one.after === undefined ? undefined : back(one.after)
          }
          return Effect.asVoid(history.record(client, { page: query }, Animals.page(pets, query, trial)))
        })
    yield* Concurrency.atOnce(programs.map((calls) => calls.map(make)))
    yield* Concurrency.explained(catalogue, history)
  })

/** Interrupts inserts and looks at what is left. */
const interrupted = (
  pets: Animals.Pets,
  rounds: ReadonlyArray<Concurrency.Interruption>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const acknowledged: Array<Pet> = []
    const doomed: Array<NewPet> = []
    for (const [round, { beside, turns }] of rounds.entries()) {
      const pet = { name: trial.name(" interrupted"), categoryId: BigInt(round), status: "sold" } as const
      const others = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: beside }, () => Animals.plain(trial)),
          (other) => Animals.insert(pets, other, trial),
          { concurrency: "unbounded" }
        )
      )
      const fiber = yield* Effect.forkChild(Effect.suspend(() => pets.insert(pet)))
      for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      trial.record({
        did: `insert ${JSON.stringify(pet.name)}, interrupted after ${turns} turns`,
        got: Exit.isSuccess(exit)
          ? Animals.lines([exit.value])
          : (Cause.pretty(exit.cause).split("\n")[0] ?? "")
      })
      if (Exit.isSuccess(exit)) acknowledged.push(exit.value)
      else doomed.push(pet)
      acknowledged.push(...(yield* Fiber.join(others)))
      const newest = acknowledged.reduce((most, { id }) => (id > most ? id : most), 0n)
      const next = yield* Animals.insert(pets, Animals.plain(trial), trial)
      yield* expect(next.id > newest, `an id above ${newest}`, `the id ${next.id}`)
      acknowledged.push(next)
    }
    const left = yield* Animals.page(pets, whole, trial)
    for (const [index, pet] of left.entries()) {
      const before = left[index - 1]
      yield* expect(
        before === undefined || before.id < pet.id,
        "ascending ids, each once",
        `${pet.id} after ${before?.id}`
      )
      if (acknowledged.some(({ id }) => id === pet.id)) continue
      const origin = doomed.findIndex(({ name }) => name === pet.name)
      const [given] = origin === -1 ? [] : doomed.splice(origin, 1)
      yield* expect(
        given !== undefined && Animals.isSame(pet, Animals.stored(pet, given)),
        "of an interrupted insert the whole animal, once, or nothing",
        Animals.lines([pet])
      )
    }
    const kept = left.filter(({ id }) => acknowledged.some((pet) => pet.id === id))
    const expected = acknowledged.toSorted((one, other) => (one.id < other.id ? -1 : 1))
    yield* Animals.expectAll(kept, expected, "every animal whose insert was acknowledged")
  })

export const checks: ReadonlyArray<Check> = [
  define({
    id: "pets.insert",
    law: "An insert answers with the animal as it was given, every field exact.",
    clauses: ["pets.insert.exact", "pets.insert.names", "pets.insert.int64"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [Animals.awkward],
    cases: fc.array(Animals.newPet, { maxLength: 5 }),
    runs: { port: 20, http: 0 },
    holds: (pets, given, trial) =>
      Effect.forEach(
        given,
        (pet) =>
          Effect.flatMap(Animals.insert(pets, pet, trial), (answer) =>
            Animals.expectAll([answer], [Animals.stored(answer, pet)], "the animal as given")
          ),
        { discard: true }
      )
  }),

  define({
    id: "pets.find",
    law: "An animal is found by its id as soon as its insert is acknowledged, every field exact, and so ever after.",
    clauses: ["pets.find.sees-insert", "pets.find.exact", "pets.insert.names", "pets.insert.int64"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [Animals.awkward],
    cases: fc.array(Animals.newPet, { maxLength: 5 }),
    runs: { port: 20, http: 0 },
    holds: (pets, given, trial) =>
      Effect.gen(function* () {
        const inserted: Array<Pet> = []
        for (const pet of given) {
          // Looked for too early: a store must not remember that there was nothing.
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
      })
  }),

  define<"pets", FindCase>({
    id: "pets.find-none",
    law: "No animal is found by an id that was not given.",
    clauses: ["pets.find.none"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    mustSee: ["an id that was not given"],
    examples: [
      { inserts: 0, ids: [...Animals.edges, 1n] },
      { inserts: 3, ids: Animals.edges },
      {
        inserts: 3,
        // what 32 bits, 53 bits and a lost sign would make of an id that was given
        ids: [2n ** 32n, 2n ** 53n, -(2n ** 32n), Int64.min, 1n, 3n, 10n].map((plus) => ({ nth: 1, plus }))
      }
    ],
    cases: fc.record({ inserts: fc.nat(5), ids: fc.array(Animals.id, { maxLength: 8 }) }),
    runs: { port: 20, http: 0 },
    holds: (pets, { ids, inserts }, trial) =>
      Effect.gen(function* () {
        const given = Array.from({ length: inserts }, () => Animals.plain(trial))
        const inserted = yield* Animals.insertAll(pets, given, trial)
        const mirrored = inserted.map(({ id }) => -id)
        for (const wanted of [...ids.map((id) => Animals.idOf(id, inserted)), ...mirrored]) {
          if (inserted.some(({ id }) => id === wanted)) continue
          trial.saw("an id that was not given")
          const found = yield* Animals.find(pets, wanted, trial)
          yield* Animals.expectAll(Option.toArray(found), [], `no animal with the id ${wanted}`)
        }
      })
  }),

  define({
    id: "pets.ids",
    law: "An insert gives a positive id, above all that were given before.",
    clauses: ["pets.insert.id-positive", "pets.insert.id-increasing", "pets.insert.id-never-reused"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [{ statuses: nine, between: 1 }],
    cases: fc.record({ statuses, between: fc.nat(2) }),
    runs: { port: 20, http: 0 },
    holds: (pets, { between, statuses: wanted }, trial) =>
      Effect.gen(function* () {
        let newest = 0n
        for (const status of wanted) {
          const { id } = yield* Animals.insert(pets, Animals.plain(trial, status), trial)
          yield* expect(
            id > newest && Int64.is(id),
            newest === 0n ? "a positive id" : `an id above ${newest}`,
            `the id ${id}`
          )
          newest = id
          for (let read = 0; read < between; read++) yield* Animals.find(pets, id, trial)
        }
      })
  }),

  define<"pets", PageCase>({
    id: "pets.page-order",
    law: "A page stands by ascending id, each animal once.",
    clauses: ["pets.page.order"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    mustSee: ["a page of several animals"],
    examples: [{ statuses: nine, query: whole }],
    cases: pageCase,
    runs: { port: 15, http: 0 },
    holds: (pets, given, trial) =>
      Effect.gen(function* () {
        const { page } = yield* paged(pets, given, trial)
        if (page.length > 1) trial.saw("a page of several animals")
        for (const [index, { id }] of page.entries()) {
          const before = page[index - 1]?.id
          yield* expect(
            before === undefined || before < id,
            `an id above ${before} next on the page`,
            `${id}`
          )
        }
      })
  }),

  define<"pets", PageCase>({
    id: "pets.page-after",
    law: "A page with `after` holds animals with a greater id only, over the whole of int64.",
    clauses: ["pets.page.after"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    mustSee: ["an animal that `after` leaves out"],
    examples: [
      ...[-1n, 0n, 1n].map((plus) => ({ statuses: nine, query: { ...whole, after: { nth: 4, plus } } })),
      ...Animals.edges.map((after) => ({ statuses: ["sold", "sold"] as const, query: { ...whole, after } }))
    ],
    cases: pageCase,
    runs: { port: 15, http: 0 },
    holds: (pets, given, trial) =>
      Effect.gen(function* () {
        const { asked, inserted, page } = yield* paged(pets, given, trial)
        const { after } = asked
        if (after === undefined) return
        if (inserted.some(({ id }) => id <= after)) trial.saw("an animal that `after` leaves out")
        for (const { id } of page) yield* expect(id > after, `only ids above ${after}`, `the id ${id}`)
      })
  }),

  define<"pets", PageCase>({
    id: "pets.page-status",
    law: "A page with a status holds animals of that status only.",
    clauses: ["pets.page.status"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    mustSee: ["an animal that the status leaves out"],
    examples: [undefined, { nth: 1, plus: 0n }].flatMap((after) =>
      nine.slice(0, 3).map((status) => ({ statuses: nine, query: { limit: 100, status, after } }))
    ),
    cases: pageCase,
    runs: { port: 15, http: 0 },
    holds: (pets, given, trial) =>
      Effect.gen(function* () {
        const { status } = given.query
        const { inserted, page } = yield* paged(pets, given, trial)
        if (status === undefined) return
        if (inserted.some((pet) => pet.status !== status)) trial.saw("an animal that the status leaves out")
        for (const pet of page) {
          yield* expect(pet.status === status, `only animals that are ${status}`, `one that is ${pet.status}`)
        }
      })
  }),

  define<"pets", PageCase>({
    id: "pets.page-limit",
    law: "A page holds at most as many animals as its limit says.",
    clauses: ["pets.page.limit"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    mustSee: ["more animals than the limit"],
    examples: [
      { statuses: nine, query: { ...whole, limit: 1 } },
      { statuses: nine, query: { ...whole, limit: 8 } },
      { statuses: nine, query: { limit: 2, status: "sold", after: undefined } },
      { statuses: Array.from({ length: 102 }, () => "sold" as const), query: { ...whole, limit: 101 } }
    ],
    cases: pageCase,
    runs: { port: 15, http: 0 },
    holds: (pets, given, trial) =>
      Effect.gen(function* () {
        const { limit } = given.query
        const { inserted, page } = yield* paged(pets, given, trial)
        if (inserted.length > limit) trial.saw("more animals than the limit")
        yield* expect(page.length <= limit, `at most ${limit} animals`, `${page.length} animals`)
      })
  }),

  define<"pets", PageCase>({
    id: "pets.page-first",
    law: "A page holds the first animals that meet its conditions, all of them if they are fewer than its limit.",
    clauses: [
      "pets.page.first",
      "pets.page.full",
      "pets.page.undefined",
      "pets.page.sees-insert",
      "pets.page.exact"
    ],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [
      { statuses: [], query: whole },
      { statuses: nine, query: whole },
      { statuses: nine, query: { limit: 3, status: undefined, after: undefined } },
      { statuses: nine, query: { limit: 9, status: "pending", after: undefined } },
      { statuses: nine, query: { limit: 2, status: "pending", after: undefined } },
      { statuses: nine, query: { limit: 4, status: "available", after: { nth: 0, plus: 0n } } },
      { statuses: nine, query: { ...whole, after: { nth: 2, plus: -1n } } },
      { statuses: nine, query: { ...whole, after: -1n } },
      { statuses: nine, query: { ...whole, after: Int64.min } },
      { statuses: Array.from({ length: 102 }, () => "sold" as const), query: { ...whole, limit: 101 } }
    ],
    cases: pageCase,
    runs: { port: 30, http: 0 },
    holds: (pets, given, trial) =>
      Effect.gen(function* () {
        const { asked, inserted, page } = yield* paged(pets, given, trial)
        yield* Animals.expectAll(page, Animals.pageOf(inserted, asked), "on the page")
      })
  }),

  define<"pets", KeptCase>({
    id: "pets.page-kept",
    law: "A page that was answered is not changed by later inserts.",
    clauses: ["pets.page.kept"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [
      { before: 0, after: 1, status: undefined },
      { before: 2, after: 2, status: undefined },
      { before: 2, after: 2, status: "sold" }
    ],
    cases: fc.record({
      before: fc.nat(3),
      after: fc.nat(3),
      status: fc.option(Animals.status, { nil: undefined })
    }),
    runs: { port: 10, http: 0 },
    holds: (pets, { after, before, status }, trial) =>
      Effect.gen(function* () {
        const many = (count: number) => Array.from({ length: count }, () => Animals.plain(trial, status))
        yield* Animals.insertAll(pets, many(before), trial)
        const page = yield* Animals.page(pets, { ...whole, status }, trial)
        const copy = [...page]
        yield* Animals.insertAll(pets, many(after), trial)
        yield* Animals.expectAll(page, copy, "the page as it was answered")
      })
  }),

  define({
    id: "pets.history",
    law: "Any calls one after the other are answered as by an array that is read from front to back.",
    clauses: [
      "pets.find.exact",
      "pets.find.none",
      "pets.insert.exact",
      "pets.insert.id-increasing",
      "pets.page.exact",
      "pets.page.first",
      "pets.page.sees-insert"
    ],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [[...Animals.awkward.map((insert) => ({ insert })), { page: { ...whole, limit: 101 } }]],
    cases: fc.array(command, { maxLength: 40, size: "max" }),
    runs: { port: 20, http: 0 },
    holds: (pets, commands, trial) =>
      Effect.gen(function* () {
        const inserted: Array<Pet> = []
        for (const one of commands) {
          if ("insert" in one) {
            const answer = yield* Animals.insert(pets, one.insert, trial)
            const expected = Animals.stored(answer, one.insert)
            yield* Animals.expectAll([answer], [expected], "the animal as given")
            const newest = inserted.at(-1)?.id ?? 0n
            yield* expect(answer.id > newest, `an id above ${newest}`, `the id ${answer.id}`)
            inserted.push(expected)
          } else if ("find" in one) {
            const wanted = Animals.idOf(one.find, inserted)
            const found = yield* Animals.find(pets, wanted, trial)
            const expected = inserted.filter(({ id }) => id === wanted)
            yield* Animals.expectAll(Option.toArray(found), expected, `with the id ${wanted}`)
          } else {
            const { after } = one.page
            const query = {
              ...one.page,
              after: after === undefined ? undefined : Animals.idOf(after, inserted)
            }
            const page = yield* Animals.page(pets, query, trial)
            yield* Animals.expectAll(page, Animals.pageOf(inserted, query), "on the page")
          }
        }
      })
  }),

  define({
    id: "pets.insert-at-once",
    law: "Inserts at the same time get different ids, and each animal keeps what is its own.",
    clauses: ["pets.insert.concurrent"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [{ inserts: 300 }],
    holds: (pets, { inserts }, trial) =>
      Effect.gen(function* () {
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
          yield* Animals.expectAll(
            found[index]?.pipe(Option.toArray) ?? [],
            expected,
            `with the id ${pet.id}`
          )
        }
        const page = yield* Animals.page(pets, { ...whole, limit: inserts + 1 }, trial)
        const ids = new Set(page.map(({ id }) => id))
        yield* expect(ids.size === inserts, `${inserts} animals on one page`, `${ids.size}`)
      })
  }),

  define({
    id: "pets.parallel",
    law: "Calls at the same time answer as if each took effect at one moment while it ran.",
    clauses: ["pets.linearizable", "pets.insert.concurrent"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [
      [writer, writer, reader],
      [writer, other, pager],
      [other, writer, other, pager],
      [pager, other, reader, writer]
    ],
    cases: clients,
    runs: { port: 25, http: 0 },
    holds: atOnce
  }),

  define({
    id: "pets.interleaved",
    law: "However their steps are interleaved, calls answer as if each took effect at one moment.",
    clauses: ["pets.linearizable", "pets.insert.concurrent"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    examples: [1, 2, 3].map((seed) => ({ seed, clients: [writer, reader, other] })),
    cases: fc.record({ seed: Concurrency.seed, clients }),
    runs: { port: 6, http: 0 },
    holds: (pets, { clients: programs, seed }, trial) =>
      Concurrency.interleaved(seed, atOnce(pets, programs, trial))
  }),

  define({
    id: "pets.interrupted",
    law: "An interrupted insert leaves nothing or the whole animal, and the store at work.",
    clauses: ["pets.interruption"],
    level: "design",
    profile: "port",
    on: "pets",
    requests: 0,
    timeoutMs: 10_000,
    examples: Concurrency.interruptionExamples,
    cases: Concurrency.interruptions,
    runs: { port: 5, http: 0 },
    holds: (pets, { rounds, seed }, trial) => Concurrency.interleaved(seed, interrupted(pets, rounds, trial))
  })
]
