/** The calls of `PetRepository`, on unusual animals and at the boundaries of ids and pages, and its contract as an array. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as Int64 from "../../core/domain/Int64.ts"
import { identity, type NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as PetFields from "../../core/domain/PetFields.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import * as Once from "../../core/idempotency/Once.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as PetJson from "../http/PetJson.ts"
import * as Draws from "./Draws.ts"
import { type Call, invocation, kinds, law, type Port, type Ruling } from "./Port.ts"

type Pets = PetRepository["Service"]

/** What a case remembers: the ids that were returned, and the latest page with a copy of it. */
interface Session {
  readonly pets: Pets
  readonly ids: Array<bigint>
  latest: { readonly page: ReadonlyArray<Pet>; readonly copy: ReadonlyArray<Pet> }
  now: number
}

interface State {
  /** All animals by ascending id. */
  readonly all: ReadonlyArray<Pet>
  /** The animals of interrupted inserts, whose ids are unknown. */
  readonly unknown: ReadonlyArray<NewPet>
  /** The inserts with a key. */
  readonly remembered: ReadonlyArray<{ readonly once: Once.Once; readonly pet: Pet }>
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
type Id = bigint | { readonly nth: number; readonly plus: bigint }
const id = Draws.weighted<Id>(
  [1, int64],
  [3, fc.record({ nth: fc.nat(400), plus: int64 })],
  [6, fc.record({ nth: fc.nat(20), plus: fc.bigInt({ min: -1n, max: 1n }) })]
)

const idOf = ({ ids }: Session, id: Id): bigint =>
  typeof id === "bigint" ? id : BigInt.asIntN(64, (ids[id.nth % Math.max(ids.length, 1)] ?? 0n) + id.plus)

/** Generators of fields for which the examples of `PetFields` are not enough. */
const generators: { readonly [field in keyof NewPet]?: fc.Arbitrary<NewPet[field]> } = {
  name: Draws.text,
  categoryId: int64,
  status
}
const pet = fc.record(
  Object.fromEntries(
    PetFields.names.map((name) => [
      name,
      generators[name] ?? fc.constantFrom(...PetFields.fields[name].examples)
    ])
  ),
  Draws.usual
) as fc.Arbitrary<NewPet> // one generator for each field

/** The animals of inserts with a key. */
const animals: readonly [NewPet, NewPet] = [
  { name: "Rex", categoryId: 7n, status: "available" },
  { name: "Rex", categoryId: 2n ** 53n + 1n, status: "sold" }
]

const isSame = (a: Pet, b: Pet): boolean => a.id === b.id && identity(a) === identity(b)

const lines = (pets: ReadonlyArray<Pet>): string =>
  pets.length === 0 ? "none" : pets.map(PetJson.line).join(", ")

/** Adds the animal that an insert returned. */
const added = (state: State, { id }: Pet, pet: NewPet): State => ({
  ...state,
  all: [...state.all, new Pet(id, pet)].sort((a, b) => (a.id < b.id ? -1 : 1))
})

/** Gives animals of interrupted inserts the ids with which they are shown. */
const withShown = (state: State, shown: ReadonlyArray<Pet>): State =>
  shown.reduce((before, pet) => {
    const index = before.unknown.findIndex((given) => identity(given) === identity(pet))
    if (index < 0 || before.all.some(({ id }) => id === pet.id)) return before
    return { ...added(before, pet, pet), unknown: before.unknown.toSpliced(index, 1) }
  }, state)

/** Rules on an animal that an insert returned; `above` is the greatest id that was returned before the insert began. */
function* inserted(state: State, pet: NewPet, above: bigint, got: Pet): Ruling<State> {
  const given = () => `the animal as given, ${PetJson.draft(pet)}`
  const { id } = got
  const isNew = state.all.every((other) => other.id !== id)
  yield law("pets.insert.names", got.name === pet.name, given)
  yield law("pets.insert.int64", got.categoryId === pet.categoryId, given)
  yield law("pets.insert.exact", identity(got) === identity(pet), given)
  yield law("pets.insert.id-positive", Int64.is(id) && id > 0n, () => "a positive id")
  yield law("pets.insert.id-never-reused", isNew, () => `an id other than ${id}`)
  yield law("pets.insert.id-increasing", id > above, () => `an id above ${above}`)
  return added(state, got, pet)
}

const newest = ({ ids }: Session): bigint => ids.reduce((max, each) => (each > max ? each : max), 0n)

const kind = kinds<Session, State>()

export const pets: Port<PetRepository, Pets, Session, State> = {
  name: "pets",
  tag: PetRepository,
  storeOf: ({ petRepository }) => petRepository,
  initial: { all: [], unknown: [], remembered: [] },
  key: ({ all, remembered, unknown }) =>
    `${all.map(({ id }) => id).join()} ${unknown.map(identity).toSorted().join()} ${remembered.length}`,
  kinds: {
    insert: kind({
      args: fc.record({ pet }),
      weights: { alone: 6, together: 3, interrupted: 4 },
      clause: "pets.insert.exact",
      begin: (session, { pet }) => {
        const above = newest(session)
        const inserting = Effect.tap(session.pets.insert(pet), ({ id }) =>
          Effect.sync(() => session.ids.push(id))
        )
        return invocation(inserting, {
          did: `insert ${PetJson.draft(pet)}`,
          show: PetJson.line,
          *judge(state: State, got) {
            if (got !== undefined) return yield* inserted(state, pet, above, got)
            return { ...state, unknown: [...state.unknown, pet] }
          }
        })
      }
    }),
    once: kind({
      args: fc.record({
        caller: fc.nat(1),
        key: fc.nat(1),
        animal: fc.constantFrom(0, 1),
        afterMs: Draws.weighted(
          [4, fc.nat(10)],
          [1, fc.constantFrom(Once.RETENTION_MS - 6, Once.RETENTION_MS)]
        )
      }),
      weights: { alone: 2, together: 1 },
      clause: "pets.once",
      begin: (session, { afterMs, animal, ...given }, isAlone) => {
        // Requests at the same time have the same time.
        session.now += isAlone ? afterMs : 0
        const [caller, key] = [`key_${given.caller}`, `retry ${given.key}`]
        const once = { caller, key, fingerprint: String(animal).repeat(64), now: session.now }
        const pet = animals[animal]
        const above = newest(session)
        const inserting = session.pets.insertOnce?.(pet, once)
        const remembered =
          inserting &&
          Effect.tap(inserting, (outcome) =>
            Effect.sync(() => (outcome._tag === "Inserted" ? session.ids.push(outcome.pet.id) : 0))
          )
        return invocation(remembered, {
          did: `insert ${PetJson.draft(pet)} once for ${caller} by "${key}" at ${session.now}`,
          show: (outcome) => `${outcome._tag}${"pet" in outcome ? ` ${PetJson.line(outcome.pet)}` : ""}`,
          *judge(state: State, got) {
            const known = state.remembered.findLast(
              (each) => each.once.caller === caller && each.once.key === key
            )
            if (got === undefined || (got._tag === "InProgress" && !isAlone)) return state
            if (known !== undefined && known.once.now + Once.RETENTION_MS > once.now) {
              const tag = known.once.fingerprint === once.fingerprint ? "Replayed" : "Mismatch"
              const isRight = got._tag === tag && (got._tag !== "Replayed" || isSame(got.pet, known.pet))
              yield law("pets.once", isRight, () => `${tag} of ${PetJson.line(known.pet)}`)
              return state
            }
            yield law("pets.once", got._tag === "Inserted", () => "Inserted")
            if (got._tag !== "Inserted") return state
            const remembered = [...state.remembered, { once, pet: new Pet(got.pet.id, pet) }]
            return { ...(yield* inserted(state, pet, above, got.pet)), remembered }
          }
        })
      }
    }),
    find: kind({
      args: fc.record({ id }),
      weights: { alone: 4, together: 2, interrupted: 1 },
      clause: "pets.find.none",
      begin: (session, given) => {
        const id = idOf(session, given.id)
        const finding = Effect.map(session.pets.find(id), Option.toArray)
        return invocation(finding, {
          did: `find ${id}`,
          show: lines,
          *judge(before: State, found = []) {
            const state = withShown(before, found)
            const pet = state.all.find((each) => each.id === id)
            const expected = () => (pet === undefined ? `no animal with the id ${id}` : PetJson.line(pet))
            if (pet === undefined) yield law("pets.find.none", found.length === 0, expected)
            else {
              yield law("pets.find.sees-insert", found.length > 0, expected)
              const isExact = found.every((each) => isSame(each, pet))
              yield law("pets.find.exact", isExact, expected)
            }
            return state
          }
        })
      }
    }),
    page: kind({
      args: fc.record({
        limit: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 400 })),
        status: fc.option(status),
        after: fc.option(id)
      }),
      weights: { alone: 4, together: 2, interrupted: 1 },
      clause: "pets.page.first",
      begin: (session, { limit, ...given }) => {
        const after = given.after === null ? undefined : idOf(session, given.after)
        const status = given.status ?? undefined
        const conditions = [status, after === undefined ? undefined : `after ${after}`]
        const isAfter = ({ id }: Pet): boolean => after === undefined || id > after
        const isOfStatus = (pet: Pet): boolean => status === undefined || pet.status === status
        const copied = Effect.map(session.pets.page({ limit, status, after }), (page) => {
          const earlier = session.latest
          const pets = [...page]
          session.latest = { page, copy: pets }
          return { pets, earlier: { page: lines(earlier.page), copy: lines(earlier.copy) } }
        })
        return invocation(copied, {
          did: [`page of ${limit}`, ...conditions.filter((text) => text !== undefined)].join(" "),
          show: ({ earlier: { copy, page }, pets }) =>
            `${lines(pets)}${copy === page ? "" : `; and the page before is now ${page}`}`,
          *judge(before: State, got) {
            const pets = got?.pets ?? []
            const state = withShown(before, pets)
            if (got !== undefined) {
              const { copy, page } = got.earlier
              yield law("pets.page.kept", page === copy, () => `that the page before is still ${copy}`)
            }
            const wanted = state.all.filter((pet) => isAfter(pet) && isOfStatus(pet)).slice(0, limit)
            const missing = wanted.filter(({ id }) => pets.every((pet) => pet.id !== id))
            const isWhole = missing.length === 0
            const isKnown = pets.every((pet) => state.all.some((each) => isSame(each, pet)))
            const isInOrder = pets.every(({ id }, index) => index === 0 || id > (pets[index - 1]?.id ?? 0n))
            const isFirst = pets.every(({ id }, index) => id === wanted[index]?.id)
            const isNewestMissing = missing.length === 1 && missing[0] === state.all.at(-1)
            const expected = () => `on the page: ${lines(wanted)}`
            yield law("pets.page.order", isInOrder, () => "each animal once, by ascending id")
            yield law("pets.page.after", pets.every(isAfter), () => `only ids above ${after}`)
            yield law("pets.page.status", pets.every(isOfStatus), () => `only animals that are ${status}`)
            yield law("pets.page.limit", pets.length <= limit, () => `at most ${limit} animals`)
            yield law("pets.page.exact", isKnown, expected)
            yield law("pets.page.sees-insert", !isNewestMissing, expected)
            yield law("pets.page.full", isWhole || !isFirst, expected)
            if (conditions.includes(undefined)) yield law("pets.page.undefined", isWhole, expected)
            yield law("pets.page.first", isWhole, expected)
            return state
          }
        })
      }
    })
  },
  concurrent: (made) => {
    if (made.size > 1) return "pets.linearizable"
    if (made.has("once")) return "pets.once"
    return made.has("insert") ? "pets.insert.concurrent" : "pets.linearizable"
  },
  open: (pets) => ({ pets, ids: [], latest: { page: [], copy: [] }, now: 1_800_000_000_000 }),
  closing: ({ ids }) => [
    ["page", { limit: ids.length + 20, status: null, after: null }],
    ...[ids.length - 1, 0].map((nth): Call => ["find", { id: { nth: Math.max(nth, 0), plus: 0n } }])
  ],
  optional: { insertOnce: "pets.once" }
}
