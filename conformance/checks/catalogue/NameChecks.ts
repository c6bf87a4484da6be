/** Laws about names, which are returned as sent (contract §2). */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import type * as PetStatus from "../../../core/domain/PetStatus.ts"
import * as Character from "../../dimensions/Character.ts"
import type { Catalogue } from "../../evaluation/Catalogue.ts"
import { expect, type Failure, inapplicable } from "../../evaluation/Outcome.ts"
import type { Animal, Draft } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { type Check, family } from "../Check.ts"
import * as Listings from "./Listings.ts"
import * as OwnAnimals from "./OwnAnimals.ts"

type Status = PetStatus.PetStatus

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
    unit: fc.oneof(Character.any, fc.constantFrom(...UNICODE.slice(0, 8))),
    maxLength: 8
  })
  .map((text) => text.replaceAll("\0", ""))

/** A name that not every service accepts, as the strings around its unique part, and the status of the animal. */
interface AwkwardName {
  readonly before: string
  readonly after: string
  readonly status: Status
}

const LISTED = "an animal with an awkward name in a list with its status"

/** Creates an animal; fails with `Inapplicable` if its name is rejected, which the contract allows. */
const createUnlessRejected = (catalogue: Catalogue, draft: Draft): Effect.Effect<Animal, Failure> =>
  Effect.catchTag(
    catalogue.create(draft),
    "Violation",
    (violation): Effect.Effect<never, Failure> =>
      violation.clause === "create.status-201"
        ? inapplicable("the service does not accept such a name")
        : Effect.fail(violation)
  )

const spec = family({ level: "spec", profile: "core", on: "catalogue" })

const design = family({ level: "design", profile: "core", on: "catalogue" })

export const checks: ReadonlyArray<Check> = [
  spec<AwkwardName>({
    id: "catalogue.name-consistent",
    needsOneOf: ["room for the first checks"],
    law: "Lists, filtered or not, and getPet show the name that the creation returned.",
    clauses: ["list.faithful", "get.faithful", "resources.stable"],
    requests: 24,
    mustSee: [LISTED],
    examples: [
      { before: "", after: " ", status: "sold" },
      { before: "", after: '\'s "x" \\', status: "pending" },
      { before: " ", after: "%41%20+&amp;<b>", status: "available" },
      { before: "", after: " e\u0301\u212b\u{1f98a}\u00a0", status: "sold" },
      { before: "", after: "abcdefghij".repeat(5), status: "pending" },
      { before: "", after: "abcdefghij".repeat(24), status: "available" }
    ],
    cases: fc.record({ before: name, after: name, status: Listings.status }),
    runs: { port: 8, http: 0 },
    *holds(catalogue, { after, before, status }, trial) {
      const draft = {
        name: `${before}${trial.name()}${after}`,
        categoryId: catalogue.categoryOf(1n),
        status
      }
      const created = yield* createUnlessRejected(catalogue, draft)
      const shows = (animal: Animal, where: string) =>
        expect(
          animal.name === created.name,
          `${where} to show the name that its creation returned, ${JSON.stringify(created.name)}`,
          PetJson.line(animal)
        )
      for (const filter of [undefined, status]) {
        const animals = yield* catalogue.list({ limit: 100, status: filter })
        const own = animals.find(({ id }) => id === created.id)
        if (own === undefined) continue
        if (filter !== undefined) trial.saw(LISTED)
        yield* shows(own, `a list ${filter === undefined ? "without" : "with a"} status`)
      }
      const found = yield* OwnAnimals.find(catalogue, created.id)
      // Another law checks that the animal is found.
      for (const animal of found === undefined ? [] : Option.toArray(found)) {
        yield* shows(animal, "a retrieval by its id")
      }
    }
  }),
  design({
    id: "catalogue.name-exact",
    law: "A name is returned code point by code point: not trimmed, normalized or truncated.",
    clauses: ["create.name-exact", "create.name-characters"],
    requests: 52,
    examples: [{ before: " \u00a0", after: "\t " }, ...UNICODE.map((after) => ({ before: "", after }))],
    cases: fc.record({ before: name, after: name }),
    runs: { port: 8, http: 3 },
    *holds(catalogue, { after, before }, trial) {
      const draft = {
        name: `${before}${trial.name(after)}`,
        categoryId: catalogue.categoryOf(1n),
        status: undefined
      }
      const own = { draft, animal: yield* catalogue.create(draft) }
      yield* OwnAnimals.expectAsSent(draft, own.animal, "the result of its creation")
      yield* OwnAnimals.expectFound(catalogue, own)
      yield* OwnAnimals.expectListedFaithfully(catalogue, { limit: 100, status: undefined }, [own])
      yield* OwnAnimals.expectListedFaithfully(catalogue, { limit: 100, status: own.animal.status }, [own])
    }
  })
]
