/** Creates and fetches animals for laws, and checks how responses show them (contract §2, §4.1). */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { limit as pageLimit } from "../../../core/domain/Page.ts"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import type { ClauseSlug } from "../../clauses/Clauses.ts"
import type { Catalogue, Listing } from "../../evaluation/Catalogue.ts"
import { expect, type Failure, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal, Draft } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"

/** An animal that the evaluation created: the fields sent, and the result of its creation. */
export interface Own {
  readonly draft: Draft
  readonly animal: Animal
}

/** Creates an animal with a new name; the response must show the fields that were sent. */
export const create = (
  catalogue: Catalogue,
  trial: Trial,
  status: PetStatus | undefined,
  categoryId = 1n
): Effect.Effect<Own, Failure> =>
  Effect.gen(function* () {
    const draft = { name: trial.name(), categoryId: catalogue.categoryOf(categoryId), status }
    const animal = yield* catalogue.create(draft)
    yield* expectAsSent(draft, animal, "the result of its creation", "create.returns-created")
    yield* expect(
      status === undefined || animal.status === status,
      `an animal created as ${status} to be returned with that status`,
      PetJson.line(animal),
      "create.status-kept"
    )
    return { draft, animal }
  })

/** Fails unless a shown animal has the name and the category that were sent. */
export const expectAsSent = (draft: Draft, animal: Animal, where: string, clause?: ClauseSlug): Law =>
  expect(
    animal.name === draft.name && animal.categoryId === draft.categoryId,
    `${where} to show the animal as it was created: ${PetJson.draft(draft)}`,
    PetJson.line(animal),
    clause
  )

/** Fetches the animal with this id; returns `undefined` after the removal of the operation. */
export const find = (
  catalogue: Catalogue,
  id: bigint
): Effect.Effect<Option.Option<Animal> | undefined, Violation> =>
  Effect.catchTag(catalogue.get(id), "Inapplicable", () => Effect.succeed(undefined))

type Listed = ReadonlyArray<Animal>
type Owned = ReadonlyArray<Own>
type Law = Effect.Effect<void, Violation>

/** Fails if an animal that violates the law was found; `show` describes the violation. */
const expectNone = (
  found: Animal | undefined,
  expected: string,
  show: (animal: Animal) => string = PetJson.line
): Law => expect(found === undefined, expected, found === undefined ? "" : show(found))

/** Returns the maximum number of animals in a list. */
export const limitOf = ({ limit = pageLimit.default }: Listing): number => limit

/** Describes a list for messages. */
export const describe = (listing: Listing): string =>
  `a list of at most ${limitOf(listing)} ${listing.status === undefined ? "" : `${listing.status} `}animals`

/** Whether an animal certainly belongs to lists with this status: it was created with it, or the list has no filter. */
export const isListedWith = ({ draft }: Own, status: PetStatus | undefined): boolean =>
  status === undefined || draft.status === status

/** Whether a list is shorter than its limit, so that no matching animal may be missing. */
export const isShort = (listing: Listing, animals: Listed): boolean => animals.length < limitOf(listing)

export const expectAtMostLimit = (listing: Listing, animals: Listed): Law =>
  expect(animals.length <= limitOf(listing), describe(listing), `${animals.length} animals`)

export const expectDistinct = (animals: Listed): Law => {
  const twice = animals.find(({ id }, index) => animals.findIndex((other) => other.id === id) < index)
  return expectNone(twice, "no animal in a list twice")
}

export const expectStatus = ({ status }: Listing, animals: Listed): Law => {
  const other = status === undefined ? undefined : animals.find((animal) => animal.status !== status)
  return expectNone(
    other,
    `only animals with status ${status} in a list with that status`,
    (animal) => `one that is ${animal.status ?? "without a status"}: ${PetJson.line(animal)}`
  )
}

/** Fails unless each own animal in the list is shown as it was created, with its own id. */
export const expectFaithful = (animals: Listed, owned: Owned): Law =>
  Effect.gen(function* () {
    for (const shown of animals) {
      const own = owned.find(({ animal, draft }) => animal.id === shown.id || draft.name === shown.name)
      if (own === undefined) continue
      const { animal, draft } = own
      yield* expectAsSent(draft, shown, "a list")
      const expected = `a list to show the animal under its id ${animal.id}`
      yield* expect(shown.id === animal.id, expected, PetJson.line(shown))
    }
  })

/** Fails if a list is shorter than its limit and omits an own animal that matches. */
export const expectComplete = (listing: Listing, animals: Listed, owned: Owned): Law => {
  if (!isShort(listing, animals)) return Effect.void
  const ids = new Set(animals.map(({ id }) => id))
  const missing = owned.find((own) => isListedWith(own, listing.status) && !ids.has(own.animal.id))
  return expectNone(
    missing?.animal,
    `${describe(listing)} to hold every animal that matches, or to be full`,
    (animal) => `${animals.length} animals, without ${PetJson.line(animal)}`
  )
}

/** Fails if a list has an animal that the evaluation did not create, unless other clients also use the store. */
export const expectNoOthers = ({ isShared }: Catalogue, animals: Listed, owned: Owned): Law => {
  const other = isShared ? undefined : animals.find(({ id }) => !owned.some(({ animal }) => animal.id === id))
  return expectNone(other, "only animals that the check created")
}

/** Checks all laws about one list. */
export const expectAllLaws = (catalogue: Catalogue, listing: Listing, animals: Listed, owned: Owned): Law =>
  Effect.gen(function* () {
    yield* expectAtMostLimit(listing, animals)
    yield* expectDistinct(animals)
    yield* expectStatus(listing, animals)
    yield* expectFaithful(animals, owned)
    yield* expectComplete(listing, animals, owned)
    yield* expectNoOthers(catalogue, animals, owned)
  })

/** Creates an animal for each status, in sequence. */
export const createAll = (
  catalogue: Catalogue,
  trial: Trial,
  statuses: ReadonlyArray<PetStatus | undefined>
): Effect.Effect<ReadonlyArray<Own>, Failure> =>
  Effect.forEach(statuses, (status) => create(catalogue, trial, status))

/** Fetches an own animal; fails unless it is returned as it was created, or the operation is removed. */
export const expectFound = (catalogue: Catalogue, { animal, draft }: Own): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const found = yield* find(catalogue, animal.id)
    if (found === undefined) return
    if (Option.isNone(found)) {
      return yield* expect(false, `the animal with id ${animal.id}, since it was created`, "none")
    }
    yield* expectAsSent(draft, found.value, "a retrieval by its id")
    const isOwn = found.value.id === animal.id
    yield* expect(isOwn, `the animal with id ${animal.id}`, PetJson.line(found.value))
  })

/** Lists animals, and checks only how the animals of this evaluation are shown. */
export const expectListedFaithfully = (
  catalogue: Catalogue,
  listing: Listing,
  owned: Owned
): Effect.Effect<void, Failure> =>
  Effect.flatMap(catalogue.list(listing), (animals) => expectFaithful(animals, owned))
