/** The calls of `PetRepository`: on animals with unusual fields, and at the boundaries of ids and pages. */
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
import * as PetJson from "../http/PetJson.ts"
import { orNull, record, type ValueOf, weighted } from "./Arbitraries.ts"
import * as PetModel from "./PetModel.ts"
import { type Call, invocation, kinds, type Port } from "./Port.ts"
import * as Texts from "./Texts.ts"

/** What a case remembers: the ids that were returned, and the pages with copies of them. */
interface Session {
  readonly pets: PetRepository["Service"]
  readonly ids: Array<bigint>
  readonly pages: Array<{ readonly page: ReadonlyArray<Pet>; readonly before: ReadonlyArray<Pet> }>
  now: number
}

/** The ends of int64, and integers that drivers may round, wrap or reject. */
const integers: ReadonlyArray<bigint> = [
  ...[0n, 2n ** 31n, -(2n ** 31n), 2n ** 32n, 2n ** 53n, -(2n ** 53n)].flatMap((boundary) => [
    boundary - 1n,
    boundary,
    boundary + 1n
  ]),
  ...[Int64.min, Int64.min + 1n, Int64.max - 1n, Int64.max]
]
const int64 = fc.oneof(fc.constantFrom(...integers), fc.bigInt({ min: Int64.min, max: Int64.max }))
const status = fc.constantFrom(...PetStatus.all)

/** An id, or an offset from the id of the animal that was inserted as the n-th. */
const id = weighted<bigint | { readonly nth: number; readonly plus: bigint }>(
  [1, int64],
  [3, record({ nth: fc.nat(400), plus: int64 })],
  [6, record({ nth: fc.nat(20), plus: fc.bigInt({ min: -1n, max: 1n }) })]
)

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

const animals: readonly [NewPet, NewPet] = [
  { name: "Rex", categoryId: 7n, status: "available" },
  { name: "Rex", categoryId: 2n ** 53n + 1n, status: "sold" }
]

const { RETENTION_MS } = Once

const newest = ({ ids }: Session): bigint => ids.reduce((max, each) => (each > max ? each : max), 0n)

const idOf = ({ ids }: Session, wanted: ValueOf<typeof id>): bigint =>
  typeof wanted === "bigint"
    ? wanted
    : BigInt.asIntN(64, (ids[wanted.nth % Math.max(ids.length, 1)] ?? 0n) + wanted.plus)

const kind = kinds<Session, PetModel.State>()

export const pets: Port<PetRepository, PetRepository["Service"], Session, PetModel.State> = {
  name: "pets",
  tag: PetRepository,
  storeOf: ({ petRepository }) => petRepository,
  initial: PetModel.initial,
  key: PetModel.key,
  kinds: {
    insert: kind({
      args: { pet },
      weights: { alone: 6, together: 3, interrupted: 4 },
      clause: "pets.insert.exact",
      begin: (session, { pet }) =>
        invocation(
          `insert ${PetJson.draft(pet)}`,
          Effect.tap(session.pets.insert(pet), ({ id }) => Effect.sync(() => session.ids.push(id))),
          PetJson.line,
          PetModel.insert(pet, newest(session))
        )
    }),
    once: kind({
      args: {
        caller: fc.nat(1),
        key: fc.nat(1),
        animal: fc.constantFrom(0, 1),
        afterMs: weighted([4, fc.nat(10)], [1, fc.constantFrom(RETENTION_MS - 6, RETENTION_MS)])
      },
      weights: { alone: 2, together: 1 },
      clause: "pets.once",
      begin: (session, { afterMs, animal, ...given }, isAlone) => {
        // Requests at the same time have the same time.
        session.now += isAlone ? afterMs : 0
        const [caller, key] = [`key_${given.caller}`, `retry ${given.key}`]
        const once = { caller, key, fingerprint: String(animal).repeat(64), now: session.now }
        const pet = animals[animal]
        const inserting = session.pets.insertOnce?.(pet, once)
        return invocation(
          `insert ${PetJson.draft(pet)} once for ${caller} by "${key}" at ${session.now}`,
          inserting &&
            Effect.tap(inserting, (outcome) =>
              Effect.sync(() => (outcome._tag === "Inserted" ? session.ids.push(outcome.pet.id) : 0))
            ),
          (outcome) => `${outcome._tag}${"pet" in outcome ? ` ${PetJson.line(outcome.pet)}` : ""}`,
          PetModel.insertOnce(pet, newest(session), once, isAlone)
        )
      }
    }),
    find: kind({
      args: { id },
      weights: { alone: 4, together: 2, interrupted: 1 },
      clause: "pets.find.none",
      begin: (session, { id: wanted }) => {
        const id = idOf(session, wanted)
        const found = Effect.map(session.pets.find(id), Option.toArray)
        return invocation(`find ${id}`, found, PetModel.lines, PetModel.find(id))
      }
    }),
    page: kind({
      args: {
        limit: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 400 })),
        status: orNull(status),
        after: orNull(id)
      },
      weights: { alone: 4, together: 2, interrupted: 1 },
      clause: "pets.page.first",
      begin: (session, { after: wanted, limit, status }) => {
        const after = wanted === null ? undefined : idOf(session, wanted)
        const query = { limit, status: status ?? undefined, after }
        const making = Effect.map(session.pets.page(query), (page) => {
          const before = [...page]
          session.pages.push({ page, before })
          return before
        })
        const conditions = [status ?? undefined, after === undefined ? undefined : `after ${after}`]
        const did = [`page of ${limit}`, ...conditions.filter((text) => text !== undefined)].join(" ")
        return invocation(did, making, PetModel.lines, PetModel.page(query))
      }
    }),
    recall: kind({
      args: { nth: fc.nat(20) },
      weights: { alone: 1 },
      clause: "pets.page.kept",
      isLocal: true,
      begin: ({ pages }, { nth }) => {
        const earlier = pages[nth % Math.max(pages.length, 1)]
        if (earlier === undefined) return undefined
        const again = Effect.sync(() => [...earlier.page])
        const judge = PetModel.recall(earlier.before)
        return invocation("look again at an earlier page", again, PetModel.lines, judge)
      }
    })
  },
  concurrent: (made) => {
    if (made.size > 1) return "pets.linearizable"
    return made.has("once")
      ? "pets.once"
      : made.has("insert")
        ? "pets.insert.concurrent"
        : "pets.linearizable"
  },
  open: (service) => ({ pets: service, ids: [], pages: [], now: 1_800_000_000_000 }),
  closing: ({ ids }) => [
    { do: "page", limit: ids.length + 20, status: null, after: null },
    { do: "recall", nth: 0 },
    ...[ids.length - 1, 0].map((nth): Call => ({ do: "find", id: { nth: Math.max(nth, 0), plus: 0n } }))
  ],
  optional: { insertOnce: "pets.once" }
}
