/** The contract of `PetRepository` as an array of animals. */
import * as Int64 from "../../core/domain/Int64.ts"
import { identity, type NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as Once from "../../core/idempotency/Once.ts"
import * as PetJson from "../http/PetJson.ts"
import { type Judged, type Law, law, type Model } from "./Port.ts"

/** A call with its arguments. `above` is the greatest id that was returned before an insert began. */
export type Input = { readonly did: string } & (
  | { readonly do: "insert"; readonly pet: NewPet; readonly above: bigint }
  | {
      readonly do: "once"
      readonly pet: NewPet
      readonly above: bigint
      readonly once: Once.Once
      /** Whether no other call is in progress. */
      readonly isAlone: boolean
    }
  | { readonly do: "find"; readonly id: bigint }
  | { readonly do: "page"; readonly query: PageQuery }
  /** Looks again at a page that was returned before. */
  | { readonly do: "recall"; readonly before: ReadonlyArray<Pet> }
)

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
const ofInserted = (
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

const afterFind = (before: State, id: bigint, { pets }: Output): Judged<State> => {
  const next = withShown(before, pets)
  const pet = next.all.find((each) => each.id === id)
  if (pet === undefined)
    return { laws: [law("pets.find.none", pets.length === 0, () => `no animal with the id ${id}`)], next }
  const expected = () => PetJson.line(pet)
  return {
    laws: [
      law("pets.find.sees-insert", pets.length > 0, expected),
      law("pets.find.exact", pets.length === 1 && pets.every((found) => isSame(found, pet)), expected)
    ],
    next
  }
}

const afterPage = (before: State, query: PageQuery, { pets }: Output): Judged<State> => {
  const next = withShown(before, pets)
  const { after, limit, status } = query
  const isAfter = ({ id }: Pet): boolean => after === undefined || id > after
  const isOfStatus = (pet: Pet): boolean => status === undefined || pet.status === status
  const wanted = next.all.filter((pet) => isAfter(pet) && isOfStatus(pet)).slice(0, limit)
  const missing = wanted.filter(({ id }) => pets.every((pet) => pet.id !== id))
  const isKnown = (pet: Pet): boolean => next.all.some((each) => isSame(each, pet))
  const isInOrder = ({ id }: Pet, index: number): boolean => index === 0 || id > (pets[index - 1]?.id ?? 0n)
  const isFirst = pets.every(({ id }, index) => id === wanted[index]?.id)
  const isNewestMissing = missing.length === 1 && missing[0] === next.all.at(-1)
  const expected = () => `on the page: ${lines(wanted)}`
  const isWhole = missing.length === 0
  return {
    laws: [
      law("pets.page.order", pets.every(isInOrder), () => "each animal once, by ascending id"),
      law("pets.page.after", pets.every(isAfter), () => `only ids above ${after}`),
      law("pets.page.status", pets.every(isOfStatus), () => `only animals that are ${status}`),
      law("pets.page.limit", pets.length <= limit, () => `at most ${limit} animals`),
      law("pets.page.exact", pets.every(isKnown), expected),
      law("pets.page.sees-insert", !isNewestMissing, expected),
      law("pets.page.full", isWhole || !isFirst, expected),
      ...(after === undefined || status === undefined ? [law("pets.page.undefined", isWhole, expected)] : []),
      law("pets.page.first", isWhole, expected)
    ],
    next
  }
}

const isOfKey = (a: Once.Once, b: Once.Once): boolean => a.caller === b.caller && a.key === b.key

const afterOnce = (
  state: State,
  { above, isAlone, once, pet }: Input & { readonly do: "once" },
  { pets, tag }: Output
): Judged<State> => {
  const first = state.remembered.findLast((each) => isOfKey(each.once, once))
  const known = first !== undefined && first.once.now + Once.RETENTION_MS > once.now ? first : undefined
  const isSameInsert = known?.once.fingerprint === once.fingerprint
  const expected = known === undefined ? "Inserted" : isSameInsert ? "Replayed" : "Mismatch"
  const outcome = (holds: boolean, more = "") => law("pets.once", holds, () => `${expected}${more}`)
  if (tag === "InProgress") return { laws: [outcome(!isAlone)], next: state }
  const [got] = pets
  if (known !== undefined || got === undefined) {
    const isFirst = got === undefined || (known !== undefined && isSame(got, known.pet))
    const of = isSameInsert && known !== undefined ? ` ${PetJson.line(known.pet)}` : ""
    return { laws: [outcome(tag === expected), outcome(isFirst, of)], next: state }
  }
  const next = added(state, got, pet)
  return {
    laws: [outcome(tag === expected), ...ofInserted(state, pet, above, pets)],
    next: { ...next, remembered: [...state.remembered, { once, pet: new Pet(got.id, pet) }] }
  }
}

export const model: Model<State, Input, Output> = {
  initial: { all: [], unknown: [], remembered: [] },
  step: (state, input, output) => {
    if (output === undefined) {
      const next = input.do === "insert" ? { ...state, unknown: [...state.unknown, input.pet] } : state
      return { laws: [], next }
    }
    switch (input.do) {
      case "insert": {
        const [got] = output.pets
        const laws = ofInserted(state, input.pet, input.above, output.pets)
        return { laws, next: got === undefined ? state : added(state, got, input.pet) }
      }
      case "once":
        return afterOnce(state, input, output)
      case "find":
        return afterFind(state, input.id, output)
      case "page":
        return afterPage(state, input.query, output)
      case "recall": {
        const isKept = input.before.length === output.pets.length
        const expected = () => `the page as it was returned: ${lines(input.before)}`
        return { laws: [law("pets.page.kept", isKept, expected)], next: state }
      }
    }
  },
  key: ({ all, remembered, unknown }) =>
    `${all.map(({ id }) => id).join()} ${unknown.map(({ name }) => name).join()} ${remembered.length}`,
  rank: (_input, { pets: [pet] }) => Number(pet?.id ?? 0n),
  failing: {
    insert: "pets.insert.exact",
    once: "pets.once",
    find: "pets.find.none",
    page: "pets.page.first",
    recall: "pets.page.kept"
  },
  concurrent: (inputs) =>
    inputs.some((input) => input.do === "once")
      ? "pets.once"
      : inputs.every((input) => input.do === "insert")
        ? "pets.insert.concurrent"
        : "pets.linearizable",
  show: ({ pets, tag }) => (tag === "" ? lines(pets) : `${tag} ${lines(pets)}`)
}
