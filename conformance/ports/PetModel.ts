/** The contract of `PetRepository` as an array of animals. */
import * as Int64 from "../../core/domain/Int64.ts"
import { identity, type NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as Once from "../../core/idempotency/Once.ts"
import * as PetJson from "../http/PetJson.ts"
import { type Judge, type Law, law } from "./Port.ts"

/** The animals that a call returned, and for `insertOnce` the tag of its outcome. */
export interface Output {
  readonly tag: string
  readonly pets: ReadonlyArray<Pet>
}

interface Remembered {
  readonly once: Once.Once
  readonly pet: Pet
}

export interface State {
  /** All animals by ascending id. */
  readonly all: ReadonlyArray<Pet>
  /** The animals of interrupted inserts, whose ids are unknown. */
  readonly unknown: ReadonlyArray<NewPet>
  /** The inserts with a key. */
  readonly remembered: ReadonlyArray<Remembered>
}

const isSame = (a: Pet, b: Pet): boolean => a.id === b.id && identity(a) === identity(b)

const lines = (pets: ReadonlyArray<Pet>): string =>
  pets.length === 0 ? "none" : pets.map(PetJson.line).join(", ")

/** Adds the animal that an insert returned. */
const added = (state: State, { id }: Pet, pet: NewPet): State => ({
  ...state,
  all: [...state.all, new Pet(id, pet)].sort((a, b) => (a.id < b.id ? -1 : 1))
})

/** The laws of an animal that an insert returns. */
const lawsOfInserted = (
  { all }: State,
  pet: NewPet,
  above: bigint,
  [got, ...more]: ReadonlyArray<Pet>
): ReadonlyArray<Law> => {
  const given = () => `the animal as given, ${PetJson.draft(pet)}`
  const id = got?.id ?? 0n
  return [
    law("pets.insert.names", got?.name === pet.name, given),
    law("pets.insert.int64", got?.categoryId === pet.categoryId, given),
    law(
      "pets.insert.exact",
      got !== undefined && more.length === 0 && identity(got) === identity(pet),
      given
    ),
    law("pets.insert.id-positive", Int64.is(id) && id > 0n, () => "a positive id"),
    law(
      "pets.insert.id-never-reused",
      all.every((other) => other.id !== id),
      () => `an id other than ${id}`
    ),
    law("pets.insert.id-increasing", id > above, () => `an id above ${above}`)
  ]
}

/** Gives an animal of an interrupted insert the id with which it is shown. */
const withShown = (state: State, shown: ReadonlyArray<Pet>): State => {
  let next = state
  for (const pet of shown) {
    const found = next.unknown.find((given) => identity(given) === identity(pet))
    if (found === undefined || next.all.some(({ id }) => id === pet.id)) continue
    next = { ...added(next, pet, found), unknown: next.unknown.filter((given) => given !== found) }
  }
  return next
}

type PetJudge = Judge<State, Output>

const nothing: Output = { tag: "", pets: [] }

/** An insert; `above` is the greatest id that was returned before it began. */
export const insert =
  (pet: NewPet, above: bigint): PetJudge =>
  (state, output) => {
    const [got] = output?.pets ?? []
    if (output === undefined) return { laws: [], next: { ...state, unknown: [...state.unknown, pet] } }
    const laws = lawsOfInserted(state, pet, above, output.pets)
    return { laws, next: got === undefined ? state : added(state, got, pet) }
  }

/** An insert with a key; `isAlone` if no other call is in progress. */
export const insertOnce =
  (pet: NewPet, above: bigint, once: Once.Once, isAlone: boolean): PetJudge =>
  (state, { pets, tag } = nothing) => {
    const { caller, fingerprint, key, now } = once
    const latest = state.remembered.findLast((each) => each.once.caller === caller && each.once.key === key)
    const known = latest !== undefined && latest.once.now + Once.RETENTION_MS > now ? latest : undefined
    const [got] = pets
    const outcome = (tagged: string, holds: boolean, more = "") =>
      law("pets.once", tag === tagged && holds, () => `${tagged}${more}`)
    if (tag === "InProgress" && !isAlone) return { laws: [], next: state }
    if (known !== undefined) {
      const isSameInsert = known.once.fingerprint === fingerprint
      const isReplayed = got !== undefined && isSame(got, known.pet)
      const replayed = outcome("Replayed", isReplayed, ` ${PetJson.line(known.pet)}`)
      return { laws: [isSameInsert ? replayed : outcome("Mismatch", got === undefined)], next: state }
    }
    const laws = [outcome("Inserted", got !== undefined), ...lawsOfInserted(state, pet, above, pets)]
    if (got === undefined) return { laws, next: state }
    const remembered = [...state.remembered, { once, pet: new Pet(got.id, pet) }]
    return { laws, next: { ...added(state, got, pet), remembered } }
  }

export const find =
  (id: bigint): PetJudge =>
  (before, { pets } = nothing) => {
    const next = withShown(before, pets)
    const pet = next.all.find((each) => each.id === id)
    if (pet === undefined)
      return { laws: [law("pets.find.none", pets.length === 0, () => `no animal with the id ${id}`)], next }
    const expected = () => PetJson.line(pet)
    const isExact = pets.length === 1 && pets.every((found) => isSame(found, pet))
    return {
      laws: [
        law("pets.find.sees-insert", pets.length > 0, expected),
        law("pets.find.exact", isExact, expected)
      ],
      next
    }
  }

export const page =
  ({ after, limit, status }: PageQuery): PetJudge =>
  (before, { pets } = nothing) => {
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
  (before: ReadonlyArray<Pet>): PetJudge =>
  (state, { pets } = nothing) => {
    const isKept = lines(pets) === lines(before)
    const expected = () => `the page as it was returned: ${lines(before)}`
    return { laws: [law("pets.page.kept", isKept, expected)], next: state }
  }

export const initial: State = { all: [], unknown: [], remembered: [] }

export const stateKey = ({ all, remembered, unknown }: State): string =>
  `${all.map(({ id }) => id).join()} ${unknown.map(({ name }) => name).join()} ${remembered.length}`

export const rank = ({ pets: [pet] }: Output): number => Number(pet?.id ?? 0n)

export const show = ({ pets, tag }: Output): string => (tag === "" ? lines(pets) : `${tag} ${lines(pets)}`)
