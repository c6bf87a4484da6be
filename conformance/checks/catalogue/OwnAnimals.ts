/** The animals that one evaluation made, and what lists must show of them (contract §2, §4.1). */
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import { limit as pageLimit } from "../../../core/domain/Page.ts"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import type { ClauseSlug } from "../../clauses/Clauses.ts"
import { expect, type Failure, type Violation } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import * as PetJson from "../../http/PetJson.ts"
import type { Animal, Catalogue, Draft, Listing } from "../Catalogue.ts"

/** One animal: what was asked for, and what its creation answered. */
export interface Own {
  readonly asked: Draft
  readonly animal: Animal
}

/** Creates an animal under a name of its own; the answer must show what was asked for. */
export const create = (
  catalogue: Catalogue,
  trial: Trial,
  status: PetStatus | undefined,
  categoryId = 1n
): Effect.Effect<Own, Failure> =>
  Effect.gen(function* () {
    const asked = { name: trial.name(), categoryId: catalogue.categoryOf(categoryId), status }
    const animal = yield* catalogue.create(asked)
    yield* shows(asked, animal, "the answer to its creation", "create.returns-created")
    yield* expect(
      status === undefined || animal.status === status,
      `an animal created as ${status} to be answered so`,
      PetJson.line(animal),
      "create.status-kept"
    )
    return { asked, animal }
  })

/** An animal shown somewhere has the name and the category that were asked for. */
export const shows = (
  asked: Draft,
  animal: Animal,
  where: string,
  clause?: ClauseSlug
): Effect.Effect<void, Violation> =>
  expect(
    animal.name === asked.name && animal.categoryId === asked.categoryId,
    `${where} to show the animal as it was created: ${PetJson.draft(asked)}`,
    PetJson.line(animal),
    clause
  )

/** The animal with this id; `undefined` where nobody can ask, because the operation is removed. */
export const look = (
  catalogue: Catalogue,
  id: bigint
): Effect.Effect<Option.Option<Animal> | undefined, Violation> =>
  Effect.catchTag(catalogue.get(id), "Inapplicable", () => Effect.succeed(undefined))

/** Most animals that a list may hold. */
export const limitOf = ({ limit = pageLimit.default }: Listing): number => limit

/** In words. */
export const describe = (listing: Listing): string =>
  `a list of at most ${limitOf(listing)} ${listing.status === undefined ? "" : `${listing.status} `}animals`

/** Whether an animal surely belongs to lists with this status. */
export const belongs = ({ asked }: Own, status: PetStatus | undefined): boolean =>
  status === undefined || asked.status === status

/** Whether so many animals are fewer than the limit: then nothing that belongs to the list may be missing. */
export const isShort = (listing: Listing, animals: ReadonlyArray<Animal>): boolean =>
  animals.length < limitOf(listing)

export const atMost = (listing: Listing, animals: ReadonlyArray<Animal>): Effect.Effect<void, Violation> =>
  expect(animals.length <= limitOf(listing), describe(listing), `${animals.length} animals`)

export const distinct = (animals: ReadonlyArray<Animal>): Effect.Effect<void, Violation> => {
  const twice = animals.find(({ id }, index) => animals.findIndex((other) => other.id === id) < index)
  return expect(
    twice === undefined,
    "no animal in a list twice",
    twice === undefined ? "" : PetJson.line(twice)
  )
}

export const ofStatus = (
  { status }: Listing,
  animals: ReadonlyArray<Animal>
): Effect.Effect<void, Violation> => {
  const other = status === undefined ? undefined : animals.find((animal) => animal.status !== status)
  return expect(
    other === undefined,
    `only animals with status ${status} in a list with that status`,
    other === undefined ? "" : `one that is ${other.status ?? "without status"}: ${PetJson.line(other)}`
  )
}

/** Own animals are listed as they were created, each under its own id. */
export const faithful = (
  animals: ReadonlyArray<Animal>,
  owned: ReadonlyArray<Own>
): Effect.Effect<void, Violation> =>
  Effect.forEach(
    animals,
    (shown) => {
      const own = owned.find(({ animal, asked }) => animal.id === shown.id || asked.name === shown.name)
      if (own === undefined) return Effect.void
      return Effect.andThen(
        shows(own.asked, shown, "a list"),
        expect(
          shown.id === own.animal.id,
          `a list to show the animal under its id ${own.animal.id}`,
          PetJson.line(shown)
        )
      )
    },
    { discard: true }
  )

/** A list with fewer animals than its limit holds all that belong to it. */
export const complete = (
  listing: Listing,
  animals: ReadonlyArray<Animal>,
  owned: ReadonlyArray<Own>
): Effect.Effect<void, Violation> => {
  if (!isShort(listing, animals)) return Effect.void
  const ids = new Set(animals.map(({ id }) => id))
  const missing = owned.find((own) => belongs(own, listing.status) && !ids.has(own.animal.id))
  return expect(
    missing === undefined,
    `${describe(listing)} to hold every animal that belongs to it, or to be full`,
    `${animals.length} animals, without ${missing === undefined ? "" : PetJson.line(missing.animal)}`
  )
}

/** A store that nobody else uses holds own animals only. */
export const noOthers = (
  { isShared }: Catalogue,
  animals: ReadonlyArray<Animal>,
  owned: ReadonlyArray<Own>
): Effect.Effect<void, Violation> => {
  const other = isShared ? undefined : animals.find(({ id }) => !owned.some(({ animal }) => animal.id === id))
  return expect(
    other === undefined,
    "only animals that were created",
    other === undefined ? "" : PetJson.line(other)
  )
}

/** Everything that a list must be. */
export const holds = (
  catalogue: Catalogue,
  listing: Listing,
  animals: ReadonlyArray<Animal>,
  owned: ReadonlyArray<Own>
): Effect.Effect<void, Violation> =>
  Effect.all(
    [
      atMost(listing, animals),
      distinct(animals),
      ofStatus(listing, animals),
      faithful(animals, owned),
      complete(listing, animals, owned),
      noOthers(catalogue, animals, owned)
    ],
    { discard: true }
  )
