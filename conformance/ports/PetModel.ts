/** The contract of `PetRepository` as an array of animals. */
import * as Int64 from "../../core/domain/Int64.ts"
import { identity, type NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as Once from "../../core/idempotency/Once.ts"
import * as PetJson from "../http/PetJson.ts"
import { type Judge, type Law, law } from "./Port.ts"

export interface State {
  /** All animals by ascending id. */
  readonly all: ReadonlyArray<Pet>
  /** The animals of interrupted inserts, whose ids are unknown. */
  readonly unknown: ReadonlyArray<NewPet>
  /** The inserts with a key. */
  readonly remembered: ReadonlyArray<{ readonly once: Once.Once; readonly pet: Pet }>
}

export const initial: State = { all: [], unknown: [], remembered: [] }

export const key = ({ all, remembered, unknown }: State): string =>
  `${all.map(({ id }) => id).join()} ${unknown.map(identity).toSorted().join()} ${remembered.length}`

type PetJudge<Output> = Judge<State, Output>

const isSame = (a: Pet, b: Pet): boolean => a.id === b.id && identity(a) === identity(b)

export const lines = (pets: ReadonlyArray<Pet>): string =>
  pets.length === 0 ? "none" : pets.map(PetJson.line).join(", ")

/** Adds the animal that an insert returned. */
const added = (state: State, { id }: Pet, pet: NewPet): State => ({
  ...state,
  all: [...state.all, new Pet(id, pet)].sort((a, b) => (a.id < b.id ? -1 : 1))
})

/** The laws of an animal that an insert returns. */
const lawsOfInserted = ({ all }: State, pet: NewPet, above: bigint, got: Pet): ReadonlyArray<Law> => {
  const given = () => `the animal as given, ${PetJson.draft(pet)}`
  const { id } = got
  const isNew = all.every((other) => other.id !== id)
  return [
    law("pets.insert.names", got.name === pet.name, given),
    law("pets.insert.int64", got.categoryId === pet.categoryId, given),
    law("pets.insert.exact", identity(got) === identity(pet), given),
    law("pets.insert.id-positive", Int64.is(id) && id > 0n, () => "a positive id"),
    law("pets.insert.id-never-reused", isNew, () => `an id other than ${id}`),
    law("pets.insert.id-increasing", id > above, () => `an id above ${above}`)
  ]
}

/** An insert; `above` is the greatest id that was returned before it began. */
export const insert =
  (pet: NewPet, above: bigint): PetJudge<Pet> =>
  (state, got) =>
    got === undefined
      ? { laws: [], next: { ...state, unknown: [...state.unknown, pet] } }
      : { laws: lawsOfInserted(state, pet, above, got), next: added(state, got, pet) }

/** An insert with a key; `isAlone` if no other call is in progress. */
export const insertOnce =
  (pet: NewPet, above: bigint, once: Once.Once, isAlone: boolean): PetJudge<Once.Outcome> =>
  (state, got) => {
    const latest = state.remembered.findLast(
      (each) => each.once.caller === once.caller && each.once.key === once.key
    )
    const known = latest !== undefined && latest.once.now + Once.RETENTION_MS > once.now ? latest : undefined
    if (got === undefined || (got._tag === "InProgress" && !isAlone)) return { laws: [], next: state }
    if (known !== undefined) {
      const tag = known.once.fingerprint === once.fingerprint ? "Replayed" : "Mismatch"
      const holds = got._tag === tag && (got._tag !== "Replayed" || isSame(got.pet, known.pet))
      return { laws: [law("pets.once", holds, () => `${tag} of ${PetJson.line(known.pet)}`)], next: state }
    }
    const isInserted = law("pets.once", got._tag === "Inserted", () => "Inserted")
    if (got._tag !== "Inserted") return { laws: [isInserted], next: state }
    const remembered = [...state.remembered, { once, pet: new Pet(got.pet.id, pet) }]
    return {
      laws: [isInserted, ...lawsOfInserted(state, pet, above, got.pet)],
      next: { ...added(state, got.pet, pet), remembered }
    }
  }

/** Gives animals of interrupted inserts the ids with which they are shown. */
const withShown = (state: State, shown: ReadonlyArray<Pet>): State =>
  shown.reduce((before, pet) => {
    const index = before.unknown.findIndex((given) => identity(given) === identity(pet))
    if (index < 0 || before.all.some(({ id }) => id === pet.id)) return before
    return { ...added(before, pet, pet), unknown: before.unknown.toSpliced(index, 1) }
  }, state)

export const find =
  (id: bigint): PetJudge<ReadonlyArray<Pet>> =>
  (before, found = []) => {
    const next = withShown(before, found)
    const pet = next.all.find((each) => each.id === id)
    if (pet === undefined)
      return { laws: [law("pets.find.none", found.length === 0, () => `no animal with the id ${id}`)], next }
    const expected = () => PetJson.line(pet)
    return {
      laws: [
        law("pets.find.sees-insert", found.length > 0, expected),
        law(
          "pets.find.exact",
          found.every((each) => isSame(each, pet)),
          expected
        )
      ],
      next
    }
  }

export const page =
  ({ after, limit, status }: PageQuery): PetJudge<ReadonlyArray<Pet>> =>
  (before, pets = []) => {
    const next = withShown(before, pets)
    const isAfter = ({ id }: Pet): boolean => after === undefined || id > after
    const isOfStatus = (pet: Pet): boolean => status === undefined || pet.status === status
    const wanted = next.all.filter((pet) => isAfter(pet) && isOfStatus(pet)).slice(0, limit)
    const missing = wanted.filter(({ id }) => pets.every((pet) => pet.id !== id))
    const isKnown = (pet: Pet): boolean => next.all.some((each) => isSame(each, pet))
    const isInOrder = ({ id }: Pet, index: number): boolean => index === 0 || id > (pets[index - 1]?.id ?? 0n)
    const isFirst = pets.every(({ id }, index) => id === wanted[index]?.id)
    const isNewestMissing = missing.length === 1 && missing[0] === next.all.at(-1)
    const isWhole = missing.length === 0
    const hasUndefined = after === undefined || status === undefined
    const expected = () => `on the page: ${lines(wanted)}`
    return {
      laws: [
        law("pets.page.order", pets.every(isInOrder), () => "each animal once, by ascending id"),
        law("pets.page.after", pets.every(isAfter), () => `only ids above ${after}`),
        law("pets.page.status", pets.every(isOfStatus), () => `only animals that are ${status}`),
        law("pets.page.limit", pets.length <= limit, () => `at most ${limit} animals`),
        law("pets.page.exact", pets.every(isKnown), expected),
        law("pets.page.sees-insert", !isNewestMissing, expected),
        law("pets.page.full", isWhole || !isFirst, expected),
        ...(hasUndefined ? [law("pets.page.undefined", isWhole, expected)] : []),
        law("pets.page.first", isWhole, expected)
      ],
      next
    }
  }

/** A second look at a page. */
export const recall =
  (before: ReadonlyArray<Pet>): PetJudge<ReadonlyArray<Pet>> =>
  (state, pets = before) => {
    const isKept = lines(pets) === lines(before)
    const expected = () => `the page as it was returned: ${lines(before)}`
    return { laws: [law("pets.page.kept", isKept, expected)], next: state }
  }
