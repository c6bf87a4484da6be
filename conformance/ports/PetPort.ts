/** The port `PetRepository`, with the boundary cases of its calls. */
import * as Effect from "effect/Effect"
import * as Int64 from "../../core/domain/Int64.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import * as Once from "../../core/idempotency/Once.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as PetCalls from "./PetCalls.ts"
import { type Call, type Id, integers } from "./PetCalls.ts"
import * as PetModel from "./PetModel.ts"
import { alone, type Case, type ClientCall, type Port } from "./Port.ts"
import * as Texts from "./Texts.ts"

/** Returns a status for each index: all statuses in order, then again from the first. */
const statusAt = (index: number): PetStatus.PetStatus =>
  PetStatus.all[index % PetStatus.all.length] ?? PetStatus.initial

const plain = (index: number, wanted = statusAt(index)): Call => ({
  do: "insert",
  pet: { name: `Rex ${index}`, categoryId: BigInt(index), status: wanted }
})
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
    { order, clients: [0, 2, 4, 6, 8].map((index) => alone([plain(index), plain(index + 1)])) },
    { order, clients: [alternating, pages, [find(1n), ...pages]].map(alone) },
    { order, clients: Array.from({ length: 4 }, () => alone([once(0, 0, 0, 0)])) }
  ]),
  ...[1, 2].map((order) => ({ order, clients: [interrupted([0, 1, 2, 3, 4, 6])] })),
  ...[3, 4].map((order) => ({
    order,
    clients: [interrupted([0, 4, 8, 16, 32]), alone(many(4)), alone(many(4))]
  }))
]

export const pets: Port<PetRepository, PetRepository["Service"], PetModel.State, Call, PetModel.Output> = {
  name: "pets",
  tag: PetRepository,
  storeOf: ({ petRepository }) => petRepository,
  clauses: { interruption: "pets.interruption", failsTyped: "pets.fails-typed" },
  owns: (clause) => clause.startsWith("pets."),
  initial: PetModel.initial,
  key: PetModel.stateKey,
  rank: PetModel.rank,
  failing: {
    insert: "pets.insert.exact",
    once: "pets.once",
    find: "pets.find.none",
    page: "pets.page.first",
    recall: "pets.page.kept"
  },
  concurrent: (made) => {
    if (made.some((call) => call.do === "once")) return "pets.once"
    return made.every((call) => call.do === "insert") ? "pets.insert.concurrent" : "pets.linearizable"
  },
  show: PetModel.show,
  client: PetCalls.client,
  examine: ({ insertOnce }) =>
    Effect.succeed({
      lacking: new Map(insertOnce === undefined ? [["pets.once", "the store has no `insertOnce`"]] : []),
      undecided: new Map()
    }),
  calls: PetCalls.calls,
  boundaries,
  outage: [plain(0), find(1n), whole, page(1, "sold", 1n), once(0, 0, 0, 0)]
}
