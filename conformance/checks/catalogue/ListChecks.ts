/** What creating, listing and fetching have to do with each other, at a port or over HTTP (contract §4). */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { expect, type Failure, inapplicable } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import * as PetJson from "../../http/PetJson.ts"
import type { Animal, Catalogue, Draft, Listing } from "../Catalogue.ts"
import { type Check, define } from "../Check.ts"
import * as OwnAnimals from "./OwnAnimals.ts"

type Status = PetStatus.PetStatus

/** One thing that a client does. */
type Command =
  | { readonly do: "create"; readonly status: Status | undefined; readonly categoryId: bigint }
  | ({ readonly do: "list" } & Listing)
  /** Fetches the own animal with this number, counted round. */
  | { readonly do: "get"; readonly which: number }

const anyStatus = fc.constantFrom(...PetStatus.all)

const statusOrNone = fc.option(anyStatus, { nil: undefined })

const anyLimit = fc.oneof(
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 100 }) },
  { weight: 1, arbitrary: fc.constantFrom(undefined, 100) }
)

const anyListing: fc.Arbitrary<Listing> = fc.record({ limit: anyLimit, status: statusOrNone })

/** Few, since over HTTP nobody takes them away again. */
const MOST_CREATIONS = 5

const commands: fc.Arbitrary<ReadonlyArray<Command>> = fc
  .array(
    fc.oneof(
      fc.record({
        do: fc.constant("create" as const),
        status: statusOrNone,
        categoryId: fc.bigInt({ min: 1n, max: 9n })
      }),
      anyListing.map((listing) => ({ do: "list" as const, ...listing })),
      fc.record({ do: fc.constant("get" as const), which: fc.nat(MOST_CREATIONS) })
    ),
    { maxLength: 14 }
  )
  .filter((all) => all.filter((command) => command.do === "create").length <= MOST_CREATIONS)

/** Animals to make first, and a list. */
interface Scene {
  readonly statuses: ReadonlyArray<Status | undefined>
  readonly listing: Listing
}

const anyScene: fc.Arbitrary<Scene> = fc.record({
  statuses: fc.array(anyStatus, { maxLength: 12 }),
  listing: anyListing
})

/** Everyone's int64, evenly: one that a store of any size has handed out is not met by chance. */
const drawnId = fc.noShrink(fc.noBias(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })))

/** Creates animals one after the other. */
const createAll = (
  catalogue: Catalogue,
  trial: Trial,
  statuses: ReadonlyArray<Status | undefined>
): Effect.Effect<ReadonlyArray<OwnAnimals.Own>, Failure> =>
  Effect.forEach(statuses, (status) => OwnAnimals.create(catalogue, trial, status))

/** Fetches an own animal: it must be there, as it was created. */
const fetches = (catalogue: Catalogue, { animal, asked }: OwnAnimals.Own): Effect.Effect<void, Failure> =>
  Effect.flatMap(OwnAnimals.look(catalogue, animal.id), (found) => {
    if (found === undefined) return Effect.void
    return Option.match(found, {
      onNone: () => expect(false, `the animal with id ${animal.id}, since it was created`, "none"),
      onSome: (shown) =>
        Effect.andThen(
          OwnAnimals.shows(asked, shown, "its id"),
          expect(shown.id === animal.id, `the animal with id ${animal.id}`, PetJson.line(shown))
        )
    })
  })

/** Lists without a word about what comes, except what an own animal looks like. */
const listsFaithfully = (
  catalogue: Catalogue,
  listing: Listing,
  owned: ReadonlyArray<OwnAnimals.Own>
): Effect.Effect<void, Failure> =>
  Effect.flatMap(catalogue.list(listing), (animals) => OwnAnimals.faithful(animals, owned))

const runCommand = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  trial: Trial,
  command: Command,
  owned: Array<OwnAnimals.Own>
): Effect.fn.Return<void, Failure> {
  switch (command.do) {
    case "create": {
      owned.push(yield* OwnAnimals.create(catalogue, trial, command.status, command.categoryId))
      return
    }
    case "list": {
      const animals = yield* catalogue.list(command)
      return yield* OwnAnimals.holds(catalogue, command, animals, owned)
    }
    case "get": {
      const own = owned[command.which % owned.length]
      if (own !== undefined) yield* fetches(catalogue, own)
    }
  }
})

const inWords = (animals: ReadonlyArray<Animal>): string =>
  animals.length === 0 ? "none" : animals.map(({ id }) => id).join(", ")

const UNICODE = [
  "'); DROP TABLE pets;--",
  '%_\\"$1{}<b>',
  "%41%20+",
  "e\u0301 \u00e9 \ufb01 \u212b",
  "\u{1f98a}\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "\u202eabc\u2066\u2028\ufeff\u00a0",
  "\u0001\t\r\n\u007f\u0085",
  "\u{10ffff}\uffff\ufffd",
  "\u{1f4a9}".repeat(200)
]

const name = fc
  .string({
    unit: fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
      fc.constantFrom(...UNICODE.slice(0, 8))
    ),
    maxLength: 8
  })
  .map((text) => text.replaceAll("\0", ""))

/** A name that not every service accepts: more about a plain one. */
interface Awkward {
  readonly before: string
  readonly after: string
  readonly status: Status
}

const LISTED = "an animal with an awkward name in a list with its status"

/** Creates; `Inapplicable` when the service refuses: the contract does not promise to accept any name. */
const createdUnlessRefused = (catalogue: Catalogue, draft: Draft): Effect.Effect<Animal, Failure> =>
  Effect.catchTag(
    catalogue.create(draft),
    "Violation",
    (violation): Effect.Effect<never, Failure> =>
      violation.clause === "create.status-201"
        ? inapplicable("the service does not accept such a name")
        : Effect.fail(violation)
  )

export const checks: ReadonlyArray<Check> = [
  define<"catalogue", Listing>({
    id: "list.answered",
    law: "A list is an array of animals, with every filter, and also when no animal belongs to it.",
    clauses: ["list.status-200", "list.array", "list.empty", "list.status.accepted"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 6,
    examples: [
      ...PetStatus.all.map((status): Listing => ({ limit: undefined, status })),
      { limit: undefined, status: undefined },
      { limit: 1, status: "sold" },
      { limit: 100, status: undefined }
    ],
    holds: (catalogue, listing) =>
      Effect.flatMap(catalogue.list(listing), (animals) => OwnAnimals.atMost(listing, animals))
  }),
  define({
    id: "catalogue.model",
    law: "However animals are created, listed and fetched, answers follow from the creations before.",
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
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 40,
    examples: [
      [
        { do: "create", status: "sold", categoryId: 1n },
        { do: "create", status: undefined, categoryId: 2n },
        { do: "list", limit: undefined, status: undefined },
        { do: "list", limit: 1, status: undefined },
        { do: "create", status: "pending", categoryId: 3n },
        { do: "list", limit: 100, status: "sold" },
        { do: "list", limit: 100, status: "pending" },
        { do: "get", which: 0 },
        { do: "list", limit: 2, status: undefined },
        { do: "list", limit: 100, status: undefined },
        { do: "get", which: 2 }
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
  define({
    id: "catalogue.faithful",
    law: "An animal has the same id, name and category when created, in lists and under its id.",
    clauses: ["create.status-kept", "create.returns-created", "list.faithful", "get.faithful", "get.found"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 24,
    examples: [...PetStatus.all, undefined].map((status) => ({ status })),
    holds: (catalogue, { status }, trial) =>
      Effect.gen(function* () {
        const own = yield* OwnAnimals.create(catalogue, trial, status, 7n)
        yield* fetches(catalogue, own)
        yield* listsFaithfully(catalogue, { limit: 100, status: undefined }, [own])
        if (status !== undefined) yield* listsFaithfully(catalogue, { limit: 100, status }, [own])
        yield* fetches(catalogue, own)
      })
  }),
  define({
    id: "catalogue.kept",
    law: "An animal stays what it is, whatever is created and listed after it.",
    clauses: ["resources.stable", "get.found", "list.sees-created", "list.complete"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 12,
    examples: [{ animals: 3 }, { animals: 120 }],
    cases: fc.record({ animals: fc.integer({ min: 1, max: 12 }) }),
    runs: { port: 4, http: 0 },
    holds: (catalogue, { animals }, trial) =>
      Effect.gen(function* () {
        // In a store that lasts two have to do.
        const many = Array.from(
          { length: catalogue.isShared ? Math.min(animals, 2) : animals },
          () => "sold" as const
        )
        const owned = yield* createAll(catalogue, trial, many)
        const listing = { limit: 100, status: undefined }
        const listed = yield* catalogue.list(listing)
        yield* OwnAnimals.complete(listing, listed, owned)
        yield* OwnAnimals.faithful(listed, owned)
        for (const own of owned) yield* fetches(catalogue, own)
      })
  }),
  define({
    id: "catalogue.ids-unique",
    law: "No two animals have the same id.",
    clauses: ["resources.id-unique", "create.id-assigned"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 4,
    examples: [{ animals: 3 }],
    cases: fc.record({ animals: fc.integer({ min: 2, max: 30 }) }),
    runs: { port: 3, http: 0 },
    holds: (catalogue, { animals }, trial) =>
      Effect.gen(function* () {
        const used = new Map<bigint, string>()
        for (const { id, name } of yield* catalogue.list({ limit: 100, status: undefined }))
          used.set(id, name)
        for (let index = 0; index < animals; index++) {
          const { animal } = yield* OwnAnimals.create(catalogue, trial, "available")
          const other = used.get(animal.id)
          yield* expect(
            other === undefined,
            "an id for the new animal that no other has",
            `${animal.id}, the id of ${JSON.stringify(other)}`
          )
          used.set(animal.id, animal.name)
        }
      })
  }),
  define({
    id: "catalogue.unknown-id",
    law: "There is no animal under an id that no animal was given.",
    clauses: ["get.not-found"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 12,
    examples: [
      { id: 0n, isDrawn: false },
      { id: -1n, isDrawn: false },
      { id: 2n ** 63n - 1n, isDrawn: false },
      { id: -(2n ** 63n), isDrawn: false },
      { id: 2n ** 53n + 1n, isDrawn: false }
    ],
    cases: fc.record({ id: drawnId, isDrawn: fc.constant(true) }),
    runs: { port: 5, http: 5 },
    holds: (catalogue, { id, isDrawn }, trial) =>
      Effect.gen(function* () {
        const own = catalogue.isShared ? undefined : yield* OwnAnimals.create(catalogue, trial, "sold")
        // In a store that others use, any id but one drawn at random may be somebody's.
        const mayBeFound = own === undefined ? !isDrawn : own.animal.id === id
        for (const animal of Option.toArray(yield* catalogue.get(id))) {
          yield* expect(mayBeFound && animal.id === id, `no animal with id ${id}`, PetJson.line(animal))
        }
      })
  }),
  define({
    id: "catalogue.category-exact",
    law: "A categoryId comes back exact over the whole of int64, in every answer that shows the animal.",
    clauses: ["create.int64-exact", "resources.int64-numbers", "list.faithful", "get.faithful"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    needs: ["anyCategory"],
    requests: 16,
    examples: [
      { categoryId: 2n ** 63n - 1n },
      { categoryId: -(2n ** 63n) },
      { categoryId: 2n ** 53n + 1n },
      { categoryId: 0n }
    ],
    cases: fc.record({ categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
    runs: { port: 5, http: 1 },
    holds: (catalogue, { categoryId }, trial) =>
      Effect.gen(function* () {
        const own = yield* OwnAnimals.create(catalogue, trial, "pending", categoryId)
        yield* fetches(catalogue, own)
        yield* listsFaithfully(catalogue, { limit: 100, status: "pending" }, [own])
      })
  }),
  define<"catalogue", { readonly statuses: ReadonlyArray<Status>; readonly limits: ReadonlyArray<number> }>({
    id: "list.filter",
    law: "A list with a status holds animals of that status only, and an animal is found under its own.",
    clauses: ["list.status.filter", "list.status.all", "list.sees-created"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 18,
    mustSee: ["an animal that the filter leaves out"],
    // Both limits of one scene: over HTTP nobody takes the animals away again.
    examples: [{ statuses: PetStatus.all, limits: [100, 20] }],
    cases: fc.record({
      statuses: fc.array(anyStatus, { maxLength: 4 }),
      limits: fc.constantFrom([100], [20])
    }),
    runs: { port: 10, http: 1 },
    holds: (catalogue, { limits, statuses }, trial) =>
      Effect.gen(function* () {
        const owned = yield* createAll(catalogue, trial, statuses)
        if (new Set(statuses).size > 1) trial.saw("an animal that the filter leaves out")
        for (const limit of limits) {
          for (const status of [...PetStatus.all, undefined]) {
            const animals = yield* catalogue.list({ limit, status })
            yield* OwnAnimals.ofStatus({ limit, status }, animals)
            yield* OwnAnimals.complete({ limit, status }, animals, owned)
          }
        }
      })
  }),
  define<"catalogue", Scene>({
    id: "list.limit",
    law: "A list holds at most as many animals as asked for, and no fewer when so many belong to it.",
    clauses: ["list.limit.maximum-returned", "list.complete", "list.status.before-limit"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 24,
    examples: [
      { statuses: ["available", "sold", "sold"], listing: { limit: 1, status: "sold" } },
      { statuses: [], listing: { limit: 2, status: undefined } },
      { statuses: [], listing: { limit: 1, status: undefined } },
      { statuses: [], listing: { limit: 100, status: undefined } }
    ],
    cases: anyScene,
    runs: { port: 15, http: 0 },
    holds: (catalogue, { listing, statuses }, trial) =>
      Effect.gen(function* () {
        yield* createAll(catalogue, trial, statuses)
        // Animals may be added meanwhile by others, and none is ever taken away.
        const atLeast = (yield* catalogue.list({ ...listing, limit: 100 })).length
        const animals = yield* catalogue.list(listing)
        yield* OwnAnimals.atMost(listing, animals)
        const wanted = Math.min(atLeast, OwnAnimals.limitOf(listing))
        yield* expect(
          animals.length >= wanted,
          `${OwnAnimals.describe(listing)} to be full when so many belong to it: ${wanted} at least`,
          `${animals.length} animals`
        )
      })
  }),
  define<"catalogue", Pick<Scene, "statuses">>({
    id: "list.complete",
    law: "A list with fewer animals than its limit holds all that belong to it, new ones at once.",
    clauses: ["list.complete", "list.sees-created"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 8,
    mustSee: ["a list with fewer animals than its limit"],
    examples: [{ statuses: ["sold", undefined] }],
    cases: fc.record({ statuses: fc.array(statusOrNone, { minLength: 1, maxLength: 25 }) }),
    runs: { port: 5, http: 0 },
    holds: (catalogue, { statuses }, trial) =>
      Effect.gen(function* () {
        const owned: Array<OwnAnimals.Own> = []
        for (const status of statuses) {
          owned.push(yield* OwnAnimals.create(catalogue, trial, status))
          for (const listing of [
            { limit: 100, status },
            { limit: 100, status: undefined }
          ]) {
            const animals = yield* catalogue.list(listing)
            if (OwnAnimals.isShort(listing, animals)) trial.saw("a list with fewer animals than its limit")
            yield* OwnAnimals.complete(listing, animals, owned)
          }
        }
      })
  }),
  define<"catalogue", Scene>({
    id: "list.distinct",
    law: "No animal is in a list twice.",
    clauses: ["list.distinct"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 5,
    mustSee: ["a list of several animals"],
    examples: [
      { statuses: ["sold", "sold"], listing: { limit: 100, status: undefined } },
      { statuses: [], listing: { limit: undefined, status: "sold" } },
      { statuses: [], listing: { limit: 2, status: undefined } }
    ],
    cases: anyScene,
    runs: { port: 5, http: 0 },
    holds: (catalogue, { listing, statuses }, trial) =>
      Effect.gen(function* () {
        yield* createAll(catalogue, trial, statuses)
        const animals = yield* catalogue.list(listing)
        if (animals.length > 1) trial.saw("a list of several animals")
        yield* OwnAnimals.distinct(animals)
      })
  }),
  define<"catalogue", Scene>({
    id: "list.pure",
    law: "Listing changes nothing: what a complete list held, the next one holds too.",
    clauses: ["list.complete", "list.sees-created"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 8,
    mustSee: ["a list with fewer animals than its limit"],
    examples: [
      { statuses: ["pending"], listing: { limit: 100, status: "pending" } },
      { statuses: [], listing: { limit: 100, status: undefined } }
    ],
    cases: fc.record({
      statuses: fc.array(anyStatus, { maxLength: 6 }),
      listing: fc.record({ limit: fc.constant(100), status: statusOrNone })
    }),
    runs: { port: 5, http: 0 },
    holds: (catalogue, { listing, statuses }, trial) =>
      Effect.gen(function* () {
        yield* createAll(catalogue, trial, statuses)
        let before = yield* catalogue.list(listing)
        for (let again = 0; again < 2; again++) {
          const after = yield* catalogue.list(listing)
          if (!OwnAnimals.isShort(listing, after)) return
          trial.saw("a list with fewer animals than its limit")
          const lost = before.find(({ id }) => !after.some((animal) => animal.id === id))
          yield* expect(
            lost === undefined,
            "the same list again, since nothing was taken away",
            `one without ${lost === undefined ? "" : PetJson.line(lost)}`
          )
          before = after
        }
      })
  }),
  define<"catalogue", Awkward>({
    id: "catalogue.name-consistent",
    law: "Lists, filtered or not, and the id show the name that the answer to the creation showed.",
    clauses: ["list.faithful", "get.faithful", "resources.stable"],
    level: "spec",
    profile: "core",
    on: "catalogue",
    requests: 40,
    mustSee: [LISTED],
    examples: [
      { before: "", after: " ", status: "sold" },
      { before: "", after: '\'s "x" \\', status: "pending" },
      { before: " ", after: "%41%20+&amp;<b>", status: "available" },
      { before: "", after: " e\u0301\u212b\u{1f98a}\u00a0", status: "sold" },
      { before: "", after: "abcdefghij".repeat(5), status: "pending" },
      { before: "", after: "abcdefghij".repeat(24), status: "available" }
    ],
    cases: fc.record({ before: name, after: name, status: anyStatus }),
    runs: { port: 8, http: 0 },
    holds: (catalogue, { after, before, status }, trial) =>
      Effect.gen(function* () {
        const asked = {
          name: `${before}${trial.name()}${after}`,
          categoryId: catalogue.categoryOf(1n),
          status
        }
        const created = yield* createdUnlessRefused(catalogue, asked)
        const shows = (animal: Animal, where: string) =>
          expect(
            animal.name === created.name,
            `${where} to show the name that its creation answered, ${JSON.stringify(created.name)}`,
            PetJson.line(animal)
          )
        for (const filter of [undefined, status]) {
          const animals = yield* catalogue.list({ limit: 100, status: filter })
          const own = animals.find(({ id }) => id === created.id)
          if (own === undefined) continue
          if (filter !== undefined) trial.saw(LISTED)
          yield* shows(own, `a list ${filter === undefined ? "without" : "with a"} status`)
        }
        const found = yield* OwnAnimals.look(catalogue, created.id)
        // That it is there at all is another law.
        for (const animal of found === undefined ? [] : Option.toArray(found)) yield* shows(animal, "its id")
      })
  }),
  define({
    id: "catalogue.status-kept",
    law: "An animal keeps the status that its creation answered, in lists and under its id.",
    clauses: ["resources.status-stable"],
    level: "design",
    profile: "core",
    on: "catalogue",
    requests: 16,
    examples: [...PetStatus.all, undefined].map((status) => ({ status })),
    holds: (catalogue, { status }, trial) =>
      Effect.gen(function* () {
        const { animal } = yield* OwnAnimals.create(catalogue, trial, status)
        const keeps = (shown: ReadonlyArray<Animal>, where: string) => {
          const other = shown.find(({ id }) => id === animal.id)?.status ?? animal.status
          return expect(other === animal.status, `${where} to show it as ${animal.status}`, `${other}`)
        }
        yield* keeps(yield* catalogue.list({ limit: 100, status: undefined }), "a list")
        yield* keeps(yield* catalogue.list({ limit: 100, status: animal.status }), "a list of its status")
        const found = yield* OwnAnimals.look(catalogue, animal.id)
        yield* keeps(found === undefined ? [] : Option.toArray(found), "its id")
      })
  }),
  define<"catalogue", Scene>({
    id: "list.order",
    law: "A list is ordered by ascending id.",
    clauses: ["list.order"],
    level: "design",
    profile: "core",
    on: "catalogue",
    requests: 8,
    mustSee: ["a list of several animals"],
    examples: [
      { statuses: ["available", "sold", "available"], listing: { limit: 100, status: undefined } },
      { statuses: [], listing: { limit: 2, status: undefined } },
      { statuses: [], listing: { limit: 100, status: "available" } }
    ],
    cases: fc.record({
      statuses: fc.array(anyStatus, { minLength: 10, maxLength: 15 }),
      listing: fc.record({ limit: fc.constantFrom(100, 20, 12), status: fc.constant(undefined) })
    }),
    runs: { port: 4, http: 0 },
    holds: (catalogue, { listing, statuses }, trial) =>
      Effect.gen(function* () {
        yield* createAll(catalogue, trial, statuses)
        for (let again = 0; again < 2; again++) {
          const animals = yield* catalogue.list(listing)
          if (animals.length > 1) trial.saw("a list of several animals")
          const isAscending = animals.every(
            ({ id }, index) => index === 0 || id > (animals[index - 1]?.id ?? id)
          )
          yield* expect(isAscending, "animals by ascending id", `ids ${inWords(animals)}`)
        }
      })
  }),
  define({
    id: "catalogue.name-exact",
    law: "A name comes back code point by code point, neither trimmed nor normalised nor cut.",
    clauses: ["create.name-exact", "create.name-characters"],
    level: "design",
    profile: "core",
    on: "catalogue",
    requests: 50,
    examples: [{ before: " \u00a0", after: "\t " }, ...UNICODE.map((after) => ({ before: "", after }))],
    cases: fc.record({ before: name, after: name }),
    runs: { port: 8, http: 3 },
    holds: (catalogue, { after, before }, trial) =>
      Effect.gen(function* () {
        const asked = {
          name: `${before}${trial.name(after)}`,
          categoryId: catalogue.categoryOf(1n),
          status: undefined
        }
        const own = { asked, animal: yield* catalogue.create(asked) }
        yield* OwnAnimals.shows(asked, own.animal, "its creation")
        yield* fetches(catalogue, own)
        yield* listsFaithfully(catalogue, { limit: 100, status: undefined }, [own])
        yield* listsFaithfully(catalogue, { limit: 100, status: own.animal.status }, [own])
      })
  })
]
