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
import * as Port from "./Port.ts"

type Pets = PetRepository["Service"]

/** What a case remembers: the ids that were returned. */
interface Session {
  readonly pets: Pets
  readonly ids: Array<bigint>
  now: number
}

interface State {
  /** All animals by ascending id. */
  readonly all: ReadonlyArray<Pet>
  /** The animals of interrupted inserts, whose ids are unknown. */
  readonly unknown: ReadonlyArray<NewPet>
  /** The inserts with a key; the id is unknown after an interruption. */
  readonly remembered: ReadonlyArray<{ readonly once: Once.Once; readonly id: bigint | undefined }>
}

type Begin = Port.Begin<Session, State>

/** Integers up to a power of two, at which drivers may round, wrap or reject; those at the ends are likely. */
const upTo = (bits: bigint) => fc.bigInt({ min: -(2n ** bits) - 1n, max: 2n ** bits + 1n })
const int64 = fc.oneof(upTo(31n), upTo(32n), upTo(53n), fc.bigInt({ min: Int64.min, max: Int64.max }))
const status = fc.constantFrom(...PetStatus.all)

/** An offset from the id of the animal that was inserted as the n-th, or from 0 if there is none. */
interface Id {
  readonly nth: number
  readonly plus: bigint
}
const id: fc.Arbitrary<Id> = fc.record({
  nth: fc.oneof(fc.nat(3), fc.nat(20), fc.nat(400)),
  plus: Draws.weighted([2, fc.bigInt({ min: -1n, max: 1n })], [1, int64])
})

const idOf = ({ ids }: Session, { nth, plus }: Id): bigint => BigInt.asIntN(64, (ids[nth] ?? 0n) + plus)

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

const lines = (pets: ReadonlyArray<Pet>): string => pets.map(PetJson.line).join(", ") || "none"

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

const remember =
  ({ ids }: Session) =>
  ({ id }: Pet) =>
    Effect.sync(() => ids.push(id))

const newest = ({ ids }: Session): bigint => ids.reduce((max, each) => (each > max ? each : max), 0n)

/** Judges an animal that an insert returned; `above` is the greatest id that was returned before the insert began. */
const inserted = (state: State, expect: Port.Expect, pet: NewPet, above: bigint, got?: Pet): State => {
  if (got === undefined) return { ...state, unknown: [...state.unknown, pet] }
  const given = () => `the animal as given, ${PetJson.draft(pet)}`
  const { id } = got
  const isNew = state.all.every((other) => other.id !== id)
  expect("pets.insert.names", got.name === pet.name, given)
  expect("pets.insert.int64", got.categoryId === pet.categoryId, given)
  expect("pets.insert.exact", identity(got) === identity(pet), given)
  expect("pets.insert.id-positive", Int64.is(id) && id > 0n, () => "a positive id")
  expect("pets.insert.id-never-reused", isNew, () => `an id other than ${id}`)
  expect("pets.insert.id-increasing", id > above, () => `an id above ${above}`)
  return added(state, got, pet)
}

const insert =
  (pet: NewPet): Begin =>
  (session) => {
    const above = newest(session)
    return Port.call(() => Effect.tap(session.pets.insert(pet), remember(session)), {
      did: `insert ${PetJson.draft(pet)}`,
      show: PetJson.line,
      judge: (state: State, expect, got) => inserted(state, expect, pet, above, got)
    })
  }

const find =
  (given: Id): Begin =>
  (session) => {
    const id = idOf(session, given)
    return Port.call(() => Effect.map(session.pets.find(id), Option.toArray), {
      did: `find ${id}`,
      show: lines,
      judge: (before: State, expect, found = []) => {
        const state = withShown(before, found)
        const pet = state.all.find((each) => each.id === id)
        const expected = () => (pet === undefined ? `no animal with the id ${id}` : PetJson.line(pet))
        if (pet === undefined) expect("pets.find.none", found.length === 0, expected)
        else {
          const isExact = found.every((each) => isSame(each, pet))
          expect("pets.find.exact", found.length > 0 && isExact, expected)
        }
        return state
      }
    })
  }

interface Page {
  readonly limit: number
  readonly status?: PetStatus.PetStatus | undefined
  readonly after?: Id | undefined
}

const page =
  ({ limit, status, ...given }: Page): Begin =>
  (session) => {
    const after = given.after === undefined ? undefined : idOf(session, given.after)
    const conditions = [status, after === undefined ? undefined : `after ${after}`]
    const isAfter = ({ id }: Pet): boolean => after === undefined || id > after
    const isOfStatus = (pet: Pet): boolean => status === undefined || pet.status === status
    return Port.call(() => session.pets.page({ limit, status, after }), {
      did: [`page of ${limit}`, ...conditions.filter((text) => text !== undefined)].join(" "),
      show: lines,
      judge: (before: State, expect, pets) => {
        if (pets === undefined) return before
        const state = withShown(before, pets)
        const wanted = state.all.filter((pet) => isAfter(pet) && isOfStatus(pet)).slice(0, limit)
        const missing = wanted.filter(({ id }) => pets.every((pet) => pet.id !== id))
        const isWhole = missing.length === 0
        const isKnown = pets.every((pet) => state.all.some((each) => isSame(each, pet)))
        const isInOrder = pets.every(({ id }, index) => index === 0 || id > (pets[index - 1]?.id ?? 0n))
        const isFirst = pets.every(({ id }, index) => id === wanted[index]?.id)
        const isNewestMissing = missing.length === 1 && missing[0] === state.all.at(-1)
        const expected = () => `on the page: ${lines(wanted)}`
        expect("pets.page.order", isInOrder, () => "each animal once, by ascending id")
        expect("pets.page.after", pets.every(isAfter), () => `only ids above ${after}`)
        expect("pets.page.status", pets.every(isOfStatus), () => `only animals that are ${status}`)
        expect("pets.page.limit", pets.length <= limit, () => `at most ${limit} animals`)
        expect("pets.page.exact", isKnown, expected)
        expect("pets.page.sees-insert", !isNewestMissing, expected)
        expect("pets.page.full", isWhole || !isFirst, expected)
        if (conditions.includes(undefined)) expect("pets.page.undefined", isWhole, expected)
        expect("pets.page.first", isWhole, expected)
        return state
      }
    })
  }

export const pets: Port.Port<PetRepository, Pets, Session, State> = {
  name: "pets",
  tag: PetRepository,
  storeOf: ({ petRepository }) => petRepository,
  initial: { all: [], unknown: [], remembered: [] },
  key: ({ all, remembered, unknown }) =>
    `${all.map(({ id }) => id).join()} ${unknown.map(identity).toSorted().join()} ${remembered.length}`,
  kinds: {
    insert: {
      weight: 6,
      clause: "pets.insert.exact",
      together: "pets.insert.concurrent",
      draw: pet.map(insert)
    },
    once: {
      weight: 2,
      clause: "pets.once",
      method: "insertOnce",
      together: "pets.once",
      draw: fc
        .record({
          caller: fc.nat(1),
          key: fc.nat(1),
          animal: fc.constantFrom(0, 1),
          afterMs: Draws.weighted(
            [4, fc.nat(10)],
            [1, fc.constantFrom(Once.RETENTION_MS - 6, Once.RETENTION_MS)]
          )
        })
        .map(({ afterMs, animal, ...given }) => (session, isAlone) => {
          // Requests at the same time have the same time.
          session.now += isAlone ? afterMs : 0
          const [caller, key] = [`key_${given.caller}`, `retry ${given.key}`]
          const once = { caller, key, fingerprint: String(animal).repeat(64), now: session.now }
          const pet = animals[animal]
          const above = newest(session)
          const add = (outcome: Once.Outcome) =>
            outcome._tag === "Inserted" ? remember(session)(outcome.pet) : Effect.void
          return Port.call(() => session.pets.insertOnce?.(pet, once).pipe(Effect.tap(add)), {
            did: `insert ${PetJson.draft(pet)} once for ${caller} by "${key}" at ${session.now}`,
            show: (outcome) => `${outcome._tag}${"pet" in outcome ? ` ${PetJson.line(outcome.pet)}` : ""}`,
            judge: (state: State, expect, got) => {
              if (got?._tag === "InProgress" && !isAlone) return state
              const known = state.remembered.findLast(
                (each) => each.once.caller === caller && each.once.key === key
              )
              if (known !== undefined && known.once.now + Once.RETENTION_MS > once.now) {
                const tag = known.once.fingerprint === once.fingerprint ? "Replayed" : "Mismatch"
                const shown = got !== undefined && "pet" in got ? [got.pet] : []
                const isKnown = ({ id }: Pet) => known.id === undefined || known.id === id
                const isRight = shown.every((each) => identity(each) === identity(pet) && isKnown(each))
                const expected = () => `${tag} of animal ${known.id ?? "of an interrupted call"}`
                expect("pets.once", got?._tag === tag && isRight, expected)
                return withShown(state, shown)
              }
              expect("pets.once", got === undefined || got._tag === "Inserted", () => "Inserted")
              const added = got?._tag === "Inserted" ? got.pet : undefined
              const remembered = [...state.remembered, { once, id: added?.id }]
              return { ...inserted(state, expect, pet, above, added), remembered }
            }
          })
        })
    },
    find: {
      weight: 4,
      clause: "pets.find.none",
      together: "pets.linearizable",
      draw: id.map(find)
    },
    page: {
      weight: 4,
      clause: "pets.page.first",
      together: "pets.linearizable",
      draw: fc
        .record({
          limit: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 400 })),
          status: fc.option(status, { nil: undefined }),
          after: fc.option(id, { nil: undefined })
        })
        .map(page)
    }
  },
  together: "pets.linearizable",
  open: (pets) => ({ pets, ids: [], now: 1_800_000_000_000 }),
  closing: ({ ids }) => [
    { kind: "page", begin: page({ limit: ids.length + 20 }) },
    ...[ids.length - 1, 0].map((nth) => ({
      kind: "find",
      begin: find({ nth: Math.max(nth, 0), plus: 0n })
    }))
  ],
  // More animals than the longest list of the service; longer pages show whether more follow.
  scenarios: [
    fc
      .array(pet, { minLength: 110, maxLength: 110 })
      .map((pets) => pets.map((pet) => ({ kind: "insert", begin: insert(pet) })))
  ]
}
