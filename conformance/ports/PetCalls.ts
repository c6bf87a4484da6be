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
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import * as PetJson from "../http/PetJson.ts"
import { call, orNull, record, type ValueOf, weighted } from "./Arbitraries.ts"
import * as PetModel from "./PetModel.ts"
import type { Client } from "./Port.ts"
import * as Texts from "./Texts.ts"

type Pets = PetRepository["Service"]

const around = (boundary: bigint): ReadonlyArray<bigint> => [boundary - 1n, boundary, boundary + 1n]

/** The ends of int64, and integers that drivers may round, wrap or reject. */
export const integers: ReadonlyArray<bigint> = [
  ...[0n, 2n ** 31n, -(2n ** 31n), 2n ** 32n, 2n ** 53n, -(2n ** 53n)].flatMap(around),
  ...[Int64.min, Int64.min + 1n, Int64.max - 1n, Int64.max]
]

const int64 = fc.oneof(fc.constantFrom(...integers), fc.bigInt({ min: Int64.min, max: Int64.max }))
const status = fc.constantFrom(...PetStatus.all)

/** An id, or an offset from the id of the animal that was inserted as the n-th. */
const id = weighted<Id>(
  [1, int64],
  [3, record({ nth: fc.nat(400), plus: int64 })],
  [6, record({ nth: fc.nat(20), plus: fc.bigInt({ min: -1n, max: 1n }) })]
)
export type Id = bigint | { readonly nth: number; readonly plus: bigint }

/** Generators of fields for which the examples of `PetFields` are not enough. */
const generators: { readonly [field in keyof NewPet]?: fc.Arbitrary<NewPet[field]> } = {
  name: Texts.text,
  categoryId: int64,
  status
}
const pet = record(
  Object.fromEntries(
    PetFields.names.map((name) => [
      name,
      generators[name] ?? fc.constantFrom(...PetFields.fields[name].examples)
    ])
  )
) as fc.Arbitrary<NewPet> // one generator for each field

const once = { caller: fc.nat(1), key: fc.nat(1), animal: fc.nat(1) }
const { RETENTION_MS } = Once
const afterMs = fc.oneof(fc.nat(10), fc.constantFrom(RETENTION_MS - 6, RETENTION_MS - 1, RETENTION_MS))
const limit = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 400 }))

const kinds = {
  insert: call("insert", { pet }),
  find: call("find", { id }),
  page: call("page", { limit, status: orNull(status), after: orNull(id) }),
  once: call("once", { ...once, afterMs }),
  recall: call("recall", { nth: fc.nat(20) })
}

export type Call = ValueOf<(typeof kinds)[keyof typeof kinds]>

export const calls = {
  any: fc.oneof<Array<fc.Arbitrary<Call>>>(...Object.values(kinds)),
  call: weighted<Call>(
    [6, kinds.insert],
    [4, kinds.find],
    [4, kinds.page],
    [2, kinds.once],
    [1, kinds.recall]
  ),
  clientCall: weighted<Call>(
    ...([
      [3, kinds.insert],
      [2, kinds.find],
      [2, kinds.page],
      [1, call("once", { ...once, afterMs: fc.constant(0) })]
    ] as const)
  ),
  interruptible: weighted<Call>([1, kinds.insert])
}

const START = 1_800_000_000_000

const animals: readonly [NewPet, NewPet] = [
  { name: "Rex", categoryId: 7n, status: "available" },
  { name: "Rex", categoryId: 2n ** 53n + 1n, status: "sold" }
]

export const client = (pets: Pets): Client<PetModel.State, Call, PetModel.Output> => {
  const ids: Array<bigint> = []
  const pages: Array<{ readonly page: ReadonlyArray<Pet>; readonly before: ReadonlyArray<Pet> }> = []
  let now = START
  const newest = (): bigint => ids.reduce((max, each) => (each > max ? each : max), 0n)
  const idOf = (wanted: Id): bigint =>
    typeof wanted === "bigint"
      ? wanted
      : BigInt.asIntN(64, (ids[wanted.nth % Math.max(ids.length, 1)] ?? 0n) + wanted.plus)
  const noted = (inserted: Pet): ReadonlyArray<Pet> => {
    ids.push(inserted.id)
    return [inserted]
  }
  const output = (all: ReadonlyArray<Pet>, tag = ""): PetModel.Output => ({ tag, pets: all })
  return {
    begin: (given, isAlone) => {
      switch (given.do) {
        case "insert": {
          const { pet } = given
          return {
            did: `insert ${PetJson.draft(pet)}`,
            make: Effect.map(pets.insert(pet), (inserted) => output(noted(inserted))),
            judge: PetModel.insert(pet, newest())
          }
        }
        case "once": {
          now += given.afterMs
          const [caller, key] = [`key_${given.caller}`, `retry ${given.key}`]
          const once: Once.Once = { caller, key, fingerprint: String(given.animal).repeat(64), now }
          const pet = animals[given.animal === 0 ? 0 : 1]
          const inserting = pets.insertOnce?.(pet, once)
          const make =
            inserting &&
            Effect.map(inserting, (outcome) =>
              output("pet" in outcome ? noted(outcome.pet) : [], outcome._tag)
            )
          const did = `insert ${PetJson.draft(pet)} once for ${caller} by "${key}" at ${now}`
          return make && { did, make, judge: PetModel.insertOnce(pet, newest(), once, isAlone) }
        }
        case "find": {
          const id = idOf(given.id)
          const make = Effect.map(pets.find(id), (found) => output(Option.toArray(found)))
          return { did: `find ${id}`, make, judge: PetModel.find(id) }
        }
        case "page": {
          const after = given.after === null ? undefined : idOf(given.after)
          const query = { limit: given.limit, status: given.status ?? undefined, after }
          const make = Effect.map(pets.page(query), (page) => {
            const before = [...page]
            pages.push({ page, before })
            return output(before)
          })
          const conditions = [query.status, after === undefined ? undefined : `after ${after}`]
          const did = [`page of ${query.limit}`, ...conditions.filter((text) => text !== undefined)].join(" ")
          return { did, make, judge: PetModel.page(query) }
        }
        case "recall": {
          const earlier = pages[given.nth % Math.max(pages.length, 1)]
          if (earlier === undefined) return undefined
          const { before, page } = earlier
          const make = Effect.sync(() => output([...page]))
          return { did: "look again at an earlier page", make, judge: PetModel.recall(before) }
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
