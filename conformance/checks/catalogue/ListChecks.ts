/** Laws about filters, limits, completeness and order of lists, at a port or over HTTP (contract §4.1). */
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Listing } from "../../evaluation/Catalogue.ts"
import { expect } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { type Check, family } from "../Check.ts"
import * as Listings from "./Listings.ts"
import * as OwnAnimals from "./OwnAnimals.ts"

type Status = PetStatus.PetStatus

/** The statuses of the animals to create, and the list to read afterwards. */
interface Scene {
  readonly statuses: ReadonlyArray<Status | undefined>
  readonly listing: Listing
}

const anyScene: fc.Arbitrary<Scene> = fc.record({
  statuses: fc.array(Listings.status, { maxLength: 12 }),
  listing: Listings.listing
})

const idsOf = (animals: ReadonlyArray<Animal>): string =>
  animals.length === 0 ? "none" : animals.map(({ id }) => id).join(", ")

const spec = family({ level: "spec", profile: "core", on: "catalogue" })

const design = family({ level: "design", profile: "core", on: "catalogue" })

export const checks: ReadonlyArray<Check> = [
  spec<{ readonly statuses: ReadonlyArray<Status>; readonly limits: ReadonlyArray<number> }>({
    id: "list.filter",
    law: "A list with a status filter holds only animals with that status, including every new one.",
    clauses: ["list.status.filter", "list.status.all", "list.sees-created"],
    requests: 16,
    mustSee: ["an animal that does not match the filter"],
    // Both limits use the same animals, because animals cannot be deleted over HTTP.
    examples: [{ statuses: PetStatus.all, limits: [100, 20] }],
    cases: fc.record({
      statuses: fc.array(Listings.status, { maxLength: 4 }),
      limits: fc.constantFrom([100], [20])
    }),
    runs: { port: 10, http: 1 },
    *holds(catalogue, { limits, statuses }, trial) {
      const owned = yield* OwnAnimals.createAll(catalogue, trial, statuses)
      if (new Set(statuses).size > 1) trial.saw("an animal that does not match the filter")
      for (const limit of limits) {
        for (const status of [...PetStatus.all, undefined]) {
          const animals = yield* catalogue.list({ limit, status })
          yield* OwnAnimals.expectStatus({ limit, status }, animals)
          yield* OwnAnimals.expectComplete({ limit, status }, animals, owned)
        }
      }
    }
  }),
  spec<Scene>({
    id: "list.limit",
    law: "A list holds at most `limit` animals, and exactly that many when enough match.",
    clauses: ["list.limit.maximum-returned", "list.complete", "list.status.before-limit"],
    requests: 11,
    examples: [
      { statuses: ["available", "sold", "sold"], listing: { limit: 1, status: "sold" } },
      { statuses: [], listing: { limit: 2, status: undefined } },
      { statuses: [], listing: { limit: 1, status: undefined } },
      { statuses: [], listing: { limit: 100, status: undefined } }
    ],
    cases: anyScene,
    runs: { port: 15, http: 0 },
    *holds(catalogue, { listing, statuses }, trial) {
      yield* OwnAnimals.createAll(catalogue, trial, statuses)
      // A lower bound, because other clients may add animals at any time, and no animal is ever deleted.
      const atLeast = (yield* catalogue.list({ ...listing, limit: 100 })).length
      const animals = yield* catalogue.list(listing)
      yield* OwnAnimals.expectAtMostLimit(listing, animals)
      const wanted = Math.min(atLeast, OwnAnimals.limitOf(listing))
      yield* expect(
        animals.length >= wanted,
        `${OwnAnimals.describe(listing)} to be full because enough animals match: at least ${wanted}`,
        `${animals.length} animals`
      )
    }
  }),
  spec<Pick<Scene, "statuses">>({
    id: "list.complete",
    needsOneOf: ["room for the first checks"],
    law: "A list with fewer animals than its limit holds all animals that match, including new ones.",
    clauses: ["list.complete", "list.sees-created"],
    requests: 6,
    mustSee: ["a list with fewer animals than its limit"],
    examples: [{ statuses: ["sold", undefined] }],
    cases: fc.record({ statuses: fc.array(Listings.optionalStatus, { minLength: 1, maxLength: 25 }) }),
    runs: { port: 5, http: 0 },
    *holds(catalogue, { statuses }, trial) {
      const owned: Array<OwnAnimals.Own> = []
      for (const status of statuses) {
        owned.push(yield* OwnAnimals.create(catalogue, trial, status))
        for (const listing of [
          { limit: 100, status },
          { limit: 100, status: undefined }
        ]) {
          const animals = yield* catalogue.list(listing)
          if (OwnAnimals.isShort(listing, animals)) trial.saw("a list with fewer animals than its limit")
          yield* OwnAnimals.expectComplete(listing, animals, owned)
        }
      }
    }
  }),
  spec<Scene>({
    id: "list.distinct",
    law: "No animal is in a list twice.",
    clauses: ["list.distinct"],
    requests: 5,
    mustSee: ["a list of several animals"],
    examples: [
      { statuses: ["sold", "sold"], listing: { limit: 100, status: undefined } },
      { statuses: [], listing: { limit: undefined, status: "sold" } },
      { statuses: [], listing: { limit: 2, status: undefined } }
    ],
    cases: anyScene,
    runs: { port: 5, http: 0 },
    *holds(catalogue, { listing, statuses }, trial) {
      yield* OwnAnimals.createAll(catalogue, trial, statuses)
      const animals = yield* catalogue.list(listing)
      if (animals.length > 1) trial.saw("a list of several animals")
      yield* OwnAnimals.expectDistinct(animals)
    }
  }),
  spec<Scene>({
    id: "list.pure",
    needsOneOf: ["room for the first checks"],
    law: "Listing changes nothing: the next list holds every animal of a complete list.",
    clauses: ["list.complete", "list.sees-created"],
    requests: 7,
    mustSee: ["a list with fewer animals than its limit"],
    examples: [
      { statuses: ["pending"], listing: { limit: 100, status: "pending" } },
      { statuses: [], listing: { limit: 100, status: undefined } }
    ],
    cases: fc.record({
      statuses: fc.array(Listings.status, { maxLength: 6 }),
      listing: fc.record({ limit: fc.constant(100), status: Listings.optionalStatus })
    }),
    runs: { port: 5, http: 0 },
    *holds(catalogue, { listing, statuses }, trial) {
      yield* OwnAnimals.createAll(catalogue, trial, statuses)
      let before = yield* catalogue.list(listing)
      for (let again = 0; again < 2; again++) {
        const after = yield* catalogue.list(listing)
        if (!OwnAnimals.isShort(listing, after)) return
        trial.saw("a list with fewer animals than its limit")
        const lost = before.find(({ id }) => !after.some((animal) => animal.id === id))
        yield* expect(
          lost === undefined,
          "the same animals again, because none was deleted",
          `a list without ${lost === undefined ? "" : PetJson.line(lost)}`
        )
        before = after
      }
    }
  }),
  design<Scene>({
    id: "list.order",
    law: "A list is ordered by ascending id.",
    clauses: ["list.order"],
    requests: 9,
    mustSee: ["a list of several animals"],
    examples: [
      { statuses: ["available", "sold", "available"], listing: { limit: 100, status: undefined } },
      { statuses: [], listing: { limit: 2, status: undefined } },
      { statuses: [], listing: { limit: 100, status: "available" } }
    ],
    cases: fc.record({
      statuses: fc.array(Listings.status, { minLength: 10, maxLength: 15 }),
      listing: fc.record({ limit: fc.constantFrom(100, 20, 12), status: fc.constant(undefined) })
    }),
    runs: { port: 4, http: 0 },
    *holds(catalogue, { listing, statuses }, trial) {
      yield* OwnAnimals.createAll(catalogue, trial, statuses)
      for (let again = 0; again < 2; again++) {
        const animals = yield* catalogue.list(listing)
        if (animals.length > 1) trial.saw("a list of several animals")
        const isAscending = animals.every(
          ({ id }, index) => index === 0 || id > (animals[index - 1]?.id ?? id)
        )
        yield* expect(isAscending, "animals by ascending id", `ids ${idsOf(animals)}`)
      }
    }
  })
]
