/** Laws about creations, lists and retrievals in combination, at a port or over HTTP (contract §4). */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Catalogue, Listing } from "../../evaluation/Catalogue.ts"
import { expect } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { type Check, family } from "../Check.ts"
import * as Listings from "./Listings.ts"
import * as OwnAnimals from "./OwnAnimals.ts"

type Status = PetStatus.PetStatus

/** One step of a client. */
type Command =
  | { readonly do: "create"; readonly status: Status | undefined; readonly categoryId: bigint }
  | ({ readonly do: "list" } & Listing)
  /** Fetches one of the animals created so far; after the last one, `index` wraps around. */
  | { readonly do: "get"; readonly index: number }

/** Maximum number of creations in a case; small, because animals cannot be deleted over HTTP. */
const MAX_CREATIONS = 5

const commands: fc.Arbitrary<ReadonlyArray<Command>> = fc
  .array(
    fc.oneof(
      fc.record({
        do: fc.constant("create" as const),
        status: Listings.optionalStatus,
        categoryId: fc.bigInt({ min: 1n, max: 9n })
      }),
      Listings.listing.map((listing) => ({ do: "list" as const, ...listing })),
      fc.record({ do: fc.constant("get" as const), index: fc.nat(MAX_CREATIONS) })
    ),
    { maxLength: 14 }
  )
  .filter((all) => all.filter((command) => command.do === "create").length <= MAX_CREATIONS)

/** Generates ids uniformly over int64, so that practically none of them is an id that the store has assigned. */
const drawnId = fc.noShrink(fc.noBias(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })))

const runCommand = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  trial: Trial,
  command: Command,
  owned: Array<OwnAnimals.Own>
) {
  switch (command.do) {
    case "create": {
      owned.push(yield* OwnAnimals.create(catalogue, trial, command.status, command.categoryId))
      return
    }
    case "list": {
      const animals = yield* catalogue.list(command)
      return yield* OwnAnimals.expectAllLaws(catalogue, command, animals, owned)
    }
    case "get": {
      const own = owned[command.index % owned.length]
      if (own !== undefined) yield* OwnAnimals.expectFound(catalogue, own)
    }
  }
})

const spec = family({ level: "spec", profile: "core", on: "catalogue" })

const design = family({ level: "design", profile: "core", on: "catalogue" })

/** These checks come first, while the store may still be empty. */
export const empty: ReadonlyArray<Check> = [
  spec<Listing>({
    id: "list.answered",
    law: "A list is an array of animals for every filter, even if no animal matches.",
    clauses: ["list.status-200", "list.array", "list.empty", "list.status.accepted"],
    requests: 6,
    examples: [
      ...PetStatus.all.map((status): Listing => ({ limit: undefined, status })),
      { limit: undefined, status: undefined },
      { limit: 1, status: "sold" },
      { limit: 100, status: undefined }
    ],
    holds: (catalogue, listing) =>
      Effect.flatMap(catalogue.list(listing), (animals) => OwnAnimals.expectAtMostLimit(listing, animals))
  })
]

export const checks: ReadonlyArray<Check> = [
  spec({
    id: "catalogue.model",
    law: "Responses agree with all earlier creations, in whatever order animals are created, listed and fetched.",
    clauses: [
      "list.sees-created",
      "list.complete",
      "list.status.filter",
      "list.status.all",
      "list.limit.maximum-returned",
      "list.distinct",
      "list.faithful",
      "get.found",
      "get.faithful",
      "create.returns-created"
    ],
    requests: 24,
    examples: [
      [
        { do: "create", status: "sold", categoryId: 1n },
        { do: "create", status: undefined, categoryId: 2n },
        { do: "list", limit: undefined, status: undefined },
        { do: "list", limit: 1, status: undefined },
        { do: "create", status: "pending", categoryId: 3n },
        { do: "list", limit: 100, status: "sold" },
        { do: "list", limit: 100, status: "pending" },
        { do: "get", index: 0 },
        { do: "list", limit: 2, status: undefined },
        { do: "list", limit: 100, status: undefined },
        { do: "get", index: 2 }
      ]
    ],
    cases: commands,
    runs: { port: 40, http: 5 },
    holds: (catalogue, given, trial) => {
      const owned: Array<OwnAnimals.Own> = []
      return Effect.forEach(given, (command) => runCommand(catalogue, trial, command, owned), {
        discard: true
      })
    }
  }),
  spec({
    id: "catalogue.faithful",
    law: "The creation, lists and getPet show the same id, name and category of an animal.",
    clauses: ["create.status-kept", "create.returns-created", "list.faithful", "get.faithful", "get.found"],
    requests: 19,
    examples: [...PetStatus.all, undefined].map((status) => ({ status })),
    *holds(catalogue, { status }, trial) {
      const own = yield* OwnAnimals.create(catalogue, trial, status, 7n)
      yield* OwnAnimals.expectFound(catalogue, own)
      yield* OwnAnimals.expectListedFaithfully(catalogue, { limit: 100, status: undefined }, [own])
      if (status !== undefined)
        yield* OwnAnimals.expectListedFaithfully(catalogue, { limit: 100, status }, [own])
      yield* OwnAnimals.expectFound(catalogue, own)
    }
  }),
  spec({
    id: "catalogue.kept",
    law: "An animal does not change when other animals are created and listed.",
    clauses: ["resources.stable", "get.found", "list.sees-created", "list.complete"],
    requests: 10,
    examples: [{ animals: 3 }, { animals: 120 }],
    cases: fc.record({ animals: fc.integer({ min: 1, max: 12 }) }),
    runs: { port: 4, http: 0 },
    *holds(catalogue, { animals }, trial) {
      // Two animals are enough over HTTP, where they stay in the store.
      const many = Array.from(
        { length: catalogue.isShared ? Math.min(animals, 2) : animals },
        () => "sold" as const
      )
      const owned = yield* OwnAnimals.createAll(catalogue, trial, many)
      const listing = { limit: 100, status: undefined }
      const listed = yield* catalogue.list(listing)
      yield* OwnAnimals.expectComplete(listing, listed, owned)
      yield* OwnAnimals.expectFaithful(listed, owned)
      for (const own of owned) yield* OwnAnimals.expectFound(catalogue, own)
    }
  }),
  spec({
    id: "catalogue.ids-unique",
    law: "No two animals have the same id.",
    clauses: ["resources.id-unique", "create.id-assigned"],
    requests: 4,
    examples: [{ animals: 3 }],
    cases: fc.record({ animals: fc.integer({ min: 2, max: 30 }) }),
    runs: { port: 3, http: 0 },
    *holds(catalogue, { animals }, trial) {
      const used = new Map<bigint, string>()
      for (const { id, name } of yield* catalogue.list({ limit: 100, status: undefined })) used.set(id, name)
      for (let index = 0; index < animals; index++) {
        const { animal } = yield* OwnAnimals.create(catalogue, trial, "available")
        const owner = used.get(animal.id)
        yield* expect(
          owner === undefined,
          "an id for the new animal that no other animal has",
          `${animal.id}, the id of ${JSON.stringify(owner)}`
        )
        used.set(animal.id, animal.name)
      }
    }
  }),
  spec({
    id: "catalogue.unknown-id",
    needsOneOf: ["getPet"],
    law: "No animal is found by an id that was never assigned.",
    clauses: ["get.not-found"],
    requests: 10,
    examples: [
      { id: 0n, isDrawn: false },
      { id: -1n, isDrawn: false },
      { id: 2n ** 63n - 1n, isDrawn: false },
      { id: -(2n ** 63n), isDrawn: false },
      { id: 2n ** 53n + 1n, isDrawn: false }
    ],
    cases: fc.record({ id: drawnId, isDrawn: fc.constant(true) }),
    runs: { port: 5, http: 5 },
    *holds(catalogue, { id, isDrawn }, trial) {
      const own = catalogue.isShared ? undefined : yield* OwnAnimals.create(catalogue, trial, "sold")
      // In a shared store any id may belong to an animal of another client, except an id drawn at random.
      const mayBeFound = own === undefined ? !isDrawn : own.animal.id === id
      for (const animal of Option.toArray(yield* catalogue.get(id))) {
        yield* expect(mayBeFound && animal.id === id, `no animal with id ${id}`, PetJson.line(animal))
      }
    }
  }),
  spec({
    id: "catalogue.category-exact",
    law: "A categoryId is returned exactly, over the whole range of int64, in every response that shows the animal.",
    clauses: ["create.int64-exact", "resources.int64-numbers", "list.faithful", "get.faithful"],
    needs: ["anyCategory"],
    requests: 15,
    examples: [
      { categoryId: 2n ** 63n - 1n },
      { categoryId: -(2n ** 63n) },
      { categoryId: 2n ** 53n + 1n },
      { categoryId: 0n }
    ],
    cases: fc.record({ categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
    runs: { port: 5, http: 1 },
    *holds(catalogue, { categoryId }, trial) {
      const own = yield* OwnAnimals.create(catalogue, trial, "pending", categoryId)
      yield* OwnAnimals.expectFound(catalogue, own)
      yield* OwnAnimals.expectListedFaithfully(catalogue, { limit: 100, status: "pending" }, [own])
    }
  }),
  design({
    id: "catalogue.status-kept",
    law: "Lists and getPet show the status that the creation returned.",
    clauses: ["resources.status-stable"],
    requests: 16,
    examples: [...PetStatus.all, undefined].map((status) => ({ status })),
    *holds(catalogue, { status }, trial) {
      const { animal } = yield* OwnAnimals.create(catalogue, trial, status)
      const keeps = (shown: ReadonlyArray<Animal>, where: string) => {
        const current = shown.find(({ id }) => id === animal.id)?.status ?? animal.status
        return expect(current === animal.status, `${where} to show it as ${animal.status}`, `${current}`)
      }
      yield* keeps(yield* catalogue.list({ limit: 100, status: undefined }), "a list")
      yield* keeps(yield* catalogue.list({ limit: 100, status: animal.status }), "a list with its status")
      const found = yield* OwnAnimals.find(catalogue, animal.id)
      yield* keeps(found === undefined ? [] : Option.toArray(found), "a retrieval by its id")
    }
  })
]
