/** Makes calls of `PetRepository`: on animals with unusual fields, and at the boundaries of ids and pages. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as Int64 from "../../core/domain/Int64.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import type { Pet } from "../../core/domain/Pet.ts"
import * as PetFields from "../../core/domain/PetFields.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import * as Once from "../../core/idempotency/Once.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { type Input, model, type Output, type State } from "./PetModel.ts"
import type { Case, Client, ClientCall, Port } from "./Port.ts"
import * as Texts from "./Texts.ts"

/** An id, or an offset from the id of the animal that was inserted as the n-th. */
type Id = bigint | { readonly nth: number; readonly plus: bigint }

/** A condition of a page is null if it is absent. */
type Call =
  | { readonly do: "insert"; readonly pet: NewPet }
  | {
      readonly do: "once"
      readonly caller: number
      readonly key: number
      readonly animal: number
      readonly afterMs: number
    }
  | { readonly do: "find"; readonly id: Id }
  | {
      readonly do: "page"
      readonly limit: number
      readonly status: PetStatus.PetStatus | null
      readonly after: Id | null
    }
  | { readonly do: "recall"; readonly nth: number }

type Pets = PetRepository["Service"]

const around = (boundary: bigint): ReadonlyArray<bigint> => [boundary - 1n, boundary, boundary + 1n]

/** The ends of int64, and integers that drivers may round, wrap or reject. */
const integers: ReadonlyArray<bigint> = [
  ...[0n, 2n ** 31n, -(2n ** 31n), 2n ** 32n, 2n ** 53n, -(2n ** 53n)].flatMap(around),
  Int64.min,
  Int64.min + 1n,
  Int64.max - 1n,
  Int64.max
]

const record = <A>(fields: { readonly [K in keyof A]: fc.Arbitrary<A[K]> }): fc.Arbitrary<A> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<A> // all fields are required

const int64 = fc.oneof(fc.constantFrom(...integers), fc.bigInt({ min: Int64.min, max: Int64.max }))
const status = fc.constantFrom(...PetStatus.all)
const id = fc.oneof(
  { weight: 1, arbitrary: int64 },
  { weight: 3, arbitrary: record({ nth: fc.nat(200), plus: int64 }) },
  { weight: 6, arbitrary: record({ nth: fc.nat(20), plus: fc.bigInt({ min: -1n, max: 1n }) }) }
)

/** Generators of fields for which the examples of `PetFields` are not enough. */
const generators: { readonly [field in keyof NewPet]?: fc.Arbitrary<NewPet[field]> } = {
  name: Texts.text,
  categoryId: int64,
  status
}
const newPet = fc.record(
  Object.fromEntries(
    PetFields.names.map((name) => [
      name,
      generators[name] ?? fc.constantFrom(...PetFields.fields[name].examples)
    ])
  ),
  { noNullPrototype: true }
) as fc.Arbitrary<NewPet> // one generator for each field

const is = <Name extends string>(name: Name): fc.Arbitrary<Name> => fc.constant(name)
const insertCall = record({ do: is("insert"), pet: newPet })
const findCall = record({ do: is("find"), id })
const pageCall = record({
  do: is("page"),
  limit: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 400 })),
  status: fc.option(status),
  after: fc.option(id)
})
const onceCall = record({
  do: is("once"),
  caller: fc.nat(1),
  key: fc.nat(1),
  animal: fc.nat(1),
  afterMs: fc.oneof(
    fc.nat(10),
    fc.constantFrom(Once.RETENTION_MS - 6, Once.RETENTION_MS - 1, Once.RETENTION_MS)
  )
})

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 6, arbitrary: insertCall },
  { weight: 4, arbitrary: findCall },
  { weight: 4, arbitrary: pageCall },
  { weight: 2, arbitrary: onceCall },
  { weight: 1, arbitrary: record({ do: is("recall"), nth: fc.nat(20) }) }
)

const START = 1_800_000_000_000

const animals: readonly [NewPet, NewPet] = [
  { name: "Rex", categoryId: 7n, status: "available" },
  { name: "Rex", categoryId: 2n ** 53n + 1n, status: "sold" }
]

const client = (pets: Pets): Client<Call, Input, Output> => {
  const ids: Array<bigint> = []
  const pages: Array<{ readonly page: ReadonlyArray<Pet>; readonly before: ReadonlyArray<Pet> }> = []
  let now = START
  const newest = (): bigint => ids.reduce((max, each) => (each > max ? each : max), 0n)
  const idOf = (wanted: Id): bigint =>
    typeof wanted === "bigint"
      ? wanted
      : BigInt.asIntN(64, (ids[wanted.nth % Math.max(ids.length, 1)] ?? 0n) + wanted.plus)
  const noted = (pet: Pet): ReadonlyArray<Pet> => {
    ids.push(pet.id)
    return [pet]
  }
  const output = (all: ReadonlyArray<Pet>, tag = ""): Output => ({ tag, pets: all })
  return {
    begin: (given, isAlone) => {
      switch (given.do) {
        case "insert": {
          const { pet } = given
          const input = { do: "insert", pet, above: newest() } as const
          return { input, make: Effect.map(pets.insert(pet), (inserted) => output(noted(inserted))) }
        }
        case "once": {
          if (pets.insertOnce === undefined) return undefined
          now += given.afterMs
          const once: Once.Once = {
            caller: `key_${given.caller}`,
            key: `retry ${given.key}`,
            fingerprint: String(given.animal).repeat(64),
            now
          }
          const pet = animals[given.animal === 0 ? 0 : 1]
          const make = Effect.map(pets.insertOnce(pet, once), (outcome) =>
            output("pet" in outcome ? noted(outcome.pet) : [], outcome._tag)
          )
          return { input: { do: "once", pet, above: newest(), once, isAlone }, make }
        }
        case "find": {
          const wanted = idOf(given.id)
          const make = Effect.map(pets.find(wanted), (found) => output(Option.toArray(found)))
          return { input: { do: "find", id: wanted }, make }
        }
        case "page": {
          const { after, limit } = given
          const query = {
            limit,
            status: given.status ?? undefined,
            after: after === null ? undefined : idOf(after)
          }
          const make = Effect.map(pets.page(query), (page) => {
            const before = [...page]
            pages.push({ page, before })
            return output(before)
          })
          return { input: { do: "page", query }, make }
        }
        case "recall": {
          const earlier = pages[given.nth % Math.max(pages.length, 1)]
          if (earlier === undefined) return undefined
          const { before, page } = earlier
          return { input: { do: "recall", before }, make: Effect.sync(() => output([...page])) }
        }
      }
    },
    closing: () => [
      { do: "page", limit: ids.length + 20, status: null, after: null },
      { do: "recall", nth: 0 },
      ...[ids.length - 1, 0].map((nth): Call => ({ do: "find", id: { nth: Math.max(nth, 0), plus: 0n } }))
    ]
  }
}

const plain = (index: number, wanted = statusAt(index)): Call => ({
  do: "insert",
  pet: { name: `Rex ${index}`, categoryId: BigInt(index), status: wanted }
})
/** Returns a status for each index: all statuses in order, then again from the first. */
function statusAt(index: number): PetStatus.PetStatus {
  return PetStatus.all[index % PetStatus.all.length] ?? PetStatus.initial
}
const many = (count: number): ReadonlyArray<Call> => Array.from({ length: count }, (_, index) => plain(index))
const nth = (number: number, plus = 0n): Id => ({ nth: number, plus })
const page = (limit: number, wanted: PetStatus.PetStatus | null = null, after: Id | null = null): Call => ({
  do: "page",
  limit,
  status: wanted,
  after
})
const find = (wanted: Id): Call => ({ do: "find", id: wanted })
const whole = page(100)
const once = (caller: number, key: number, animal: number, afterMs: number): Call => ({
  do: "once",
  caller,
  key,
  animal,
  afterMs
})
const alone = (calls: ReadonlyArray<Call>): ReadonlyArray<ClientCall<Call>> =>
  calls.map((each) => ({ call: each, turns: null }))

/** Animals that together have every unusual name, every boundary of int64 and every status. */
const awkward: ReadonlyArray<NewPet> = Texts.awkward.map((name, index) => ({
  name,
  categoryId: integers[index % integers.length] ?? 0n,
  status: statusAt(index)
}))

const conditions: ReadonlyArray<Call> = [null, ...PetStatus.all].flatMap((wanted) =>
  [null, nth(0, -1n), nth(0), nth(3), nth(4, 1n), nth(8)].flatMap((after) =>
    [1, 2, 4, 9, 100].map((limit) => page(limit, wanted, after))
  )
)

const writer = [plain(2), find(nth(0)), plain(0), find(nth(99))]
const secondWriter = [plain(3), find(nth(0)), plain(5), find(nth(0, 1n))]
const reader = [find(1n), whole, find(2n), page(20, "sold")]
const pager = [page(1), whole, whole, whole]

/** Inserts an animal of another status each time, so that a page that is read in parts shows a later one only. */
const alternating = Array.from({ length: 16 }, (_, index) =>
  plain(index, index % 2 === 0 ? "available" : "sold")
)
const pages = Array.from({ length: 6 }, () => whole)

const interrupted = (turns: ReadonlyArray<number>): ReadonlyArray<ClientCall<Call>> =>
  turns.flatMap((after, index) => [
    { call: plain(100 + 2 * index), turns: after },
    { call: plain(101 + 2 * index), turns: null }
  ])

const boundaries: ReadonlyArray<Partial<Case<Call>>> = [
  { calls: [whole, ...[...integers, 1n].map(find)] },
  {
    calls: awkward.flatMap(
      (pet): ReadonlyArray<Call> => [{ do: "insert", pet }, find(nth(0)), find(nth(0, 1n))]
    )
  },
  // The next id is also searched before the insert: a store must not cache that it was unknown.
  { calls: many(7).flatMap((each, index) => [each, find(nth(index)), find(nth(index, 1n))]) },
  {
    calls: [
      ...many(3),
      // Ids that may equal an assigned one after truncation to 32 or 53 bits, or after the loss of the sign.
      ...[2n ** 32n, 2n ** 53n, -(2n ** 32n), Int64.min, 1n, 3n, 10n].map((plus) => find(nth(1, plus))),
      ...[-1n, -2n, -3n].map(find)
    ]
  },
  { calls: [...many(9), ...conditions, ...integers.map((after) => page(100, null, after))] },
  { calls: [plain(2), plain(2), ...integers.map((after) => page(100, "sold", after))] },
  {
    calls: [
      ...many(2),
      whole,
      page(100, "sold"),
      ...many(3),
      ...[0, 1].map((each): Call => ({ do: "recall", nth: each })),
      whole
    ]
  },
  {
    calls: [
      ...many(310),
      page(101),
      page(101, "sold"),
      page(101, null, nth(150)),
      ...[0, 1, 60, 200, 309].map((each) => find(nth(each)))
    ]
  },
  {
    calls: [
      ...[once(0, 0, 0, 0), once(0, 0, 0, 5), once(0, 0, 1, 0), once(1, 0, 1, 0), once(0, 1, 1, 0)],
      ...[once(0, 0, 0, Once.RETENTION_MS - 6), once(0, 0, 1, 1), once(0, 0, 1, 1)]
    ]
  },
  { clients: many(100).map((each) => alone([each])), later: many(100).map((_, index) => find(nth(index))) },
  ...[null, 1, 2, 3].flatMap((order) => [
    { order, clients: [writer, writer, reader].map(alone) },
    { order, clients: [writer, secondWriter, pager].map(alone) },
    { order, clients: [secondWriter, writer, secondWriter, pager].map(alone) },
    { order, clients: [alternating, pages, [find(1n), ...pages]].map(alone) },
    { order, clients: Array.from({ length: 4 }, () => alone([once(0, 0, 0, 0)])) }
  ]),
  ...[1, 2].map((order) => ({ order, clients: [interrupted([0, 1, 2, 3, 4, 6])] })),
  ...[3, 4].map((order) => ({
    order,
    clients: [interrupted([0, 4, 8, 16, 32]), alone(many(4)), alone(many(4))]
  }))
]

export const pets: Port<PetRepository, Pets, State, Call, Input, Output> = {
  name: "pets",
  noun: "repository of animals",
  tag: PetRepository,
  storeOf: ({ petRepository }) => petRepository,
  clauses: { interruption: "pets.interruption", failsTyped: "pets.fails-typed" },
  owns: (clause) => clause.startsWith("pets."),
  model,
  client,
  examine: ({ insertOnce }) =>
    Effect.succeed({
      lacking: new Map(insertOnce === undefined ? [["pets.once", "the store has no `insertOnce`"]] : []),
      undecided: new Map()
    }),
  calls: {
    call,
    clientCall: fc.oneof(
      { weight: 3, arbitrary: insertCall },
      { weight: 2, arbitrary: findCall },
      { weight: 2, arbitrary: pageCall },
      { weight: 1, arbitrary: record({ ...onceFields(), afterMs: fc.constant(0) }) }
    ),
    interruptible: insertCall
  },
  boundaries,
  outage: [plain(0), find(1n), whole, page(1, "sold", 1n), once(0, 0, 0, 0)]
}

function onceFields() {
  return { do: is("once"), caller: fc.nat(1), key: fc.nat(1), animal: fc.nat(1) }
}
