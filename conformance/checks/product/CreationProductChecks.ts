/** Laws about creations with every name, encoding and content type, and about where the animal is shown (§2, §4.2). */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Bodies from "../../dimensions/Bodies.ts"
import * as Names from "../../dimensions/Names.ts"
import * as Product from "../../dimensions/Product.ts"
import type { Http } from "../../evaluation/Http.ts"
import { inapplicable } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { type Check, family } from "../Check.ts"
import * as Lists from "../http/Lists.ts"
import * as CreationCase from "./CreationCase.ts"
import * as Envelope from "./Envelope.ts"

const { categories, places, statuses } = CreationCase

const ofLetters = Product.of({
  characters: Names.letters,
  length: Names.lengths,
  form: Bodies.forms,
  type: Bodies.types,
  status: statuses,
  category: categories,
  accept: Accepts.accepts,
  shown: places
})

const ofSymbols = Product.of({
  characters: Names.symbols,
  length: Names.lengths,
  form: Bodies.forms,
  shown: places
})

const byKeys = Product.of({
  key: { tiny: "tiny", victim: "victim" },
  category: categories,
  status: statuses,
  characters: Names.letters,
  length: Names.lengths,
  // When this law runs, the store holds so many animals that a list without a filter need not show a new one.
  shown: Product.pick(places, "list with its status", "its id")
})

/** Clauses that every case tests. */
const sharedClauses = [
  "create.status-201",
  "create.returns-created",
  "list.sees-created",
  "list.faithful",
  ...Lists.selectionClauses,
  "get.found",
  "get.faithful",
  ...Envelope.clauses
] as const

/** Decides a case with the function that returns the form in which names are compared, if it is not the default. */
const decideWith = (normalize?: (name: string) => string) =>
  Effect.fnUntraced(function* (http: Http, given: CreationCase.Creation, trial: Trial) {
    const decided = yield* CreationCase.createAndFind(http, given, trial, normalize)
    if (Result.isFailure(decided)) return yield* inapplicable(decided.failure)
    trial.tried(decided.success)
  })

const creation = family({
  profile: "core",
  on: "http",
  runs: { port: 0, http: 4 },
  holds: decideWith()
})

export const checks: ReadonlyArray<Check> = [
  creation({
    id: "product.creation",
    law: "A new animal is returned and shown as sent, whatever the letters of its name and however its JSON is written.",
    clauses: [...sharedClauses, "create.status-kept", "create.int64-exact"],
    level: "spec",
    requests: 141,
    product: ofLetters.shape,
    examples: ofLetters.examples,
    cases: ofLetters.cases
  }),
  creation({
    id: "product.key",
    law: "An animal that is created with any key is returned and shown to that key as sent.",
    clauses: [...sharedClauses, "create.status-kept", "create.int64-exact"],
    level: "spec",
    // The law lets days pass, and the profile `core` must be provable without a clock.
    profile: "limits",
    needs: ["clock", "tinyPlan", "victimKey"],
    requests: 104,
    product: byKeys.shape,
    examples: byKeys.examples,
    cases: byKeys.cases
  }),
  creation({
    id: "product.names",
    law: "An accepted name is returned and shown as sent, even with private-use characters or markup.",
    clauses: sharedClauses,
    level: "design",
    requests: 140,
    product: ofSymbols.shape,
    examples: ofSymbols.examples,
    cases: ofSymbols.cases,
    holds: decideWith((name) => name)
  })
]
