/** A law about the first request of a key (contract §4). */
import * as Effect from "effect/Effect"
import { expect, inapplicable, type Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { type Check, family } from "../Check.ts"
import { isDenied } from "../product/SmallKeys.ts"
import * as Creations from "./Creations.ts"
import * as Lists from "./Lists.ts"
import * as Responses from "./Responses.ts"

/** The first request with a key, which is then repeated. */
interface FirstRequest {
  readonly key: "tiny" | "victim"
  /** After the removal of getPet, `get` requests a list instead. */
  readonly operation: "list" | "get"
}

/** Time in ms before the removal of getPet from which on a list is requested: the repetition may arrive later. */
const MARGIN_MS = 60_000

const spec = family({ level: "spec", on: "http" })

/** Runs before all other checks that use the keys `tiny` and `victim`, so that its request is their first one. */
export const checks: ReadonlyArray<Check> = [
  spec<FirstRequest>({
    id: "limits.first-request",
    profile: "limits",
    law: "If the first request that the checks send with a key is repeated, the status and the content of each animal are the same.",
    clauses: ["list.status-200", "list.faithful", "get.found", "get.faithful"],
    needs: ["tinyPlan", "victimKey"],
    requests: 5,
    examples: [
      { key: "tiny", operation: "list" },
      { key: "victim", operation: "get" }
    ],
    *holds(http, { key, operation }, trial) {
      if (key === "tiny" && !http.facts.hasClock) {
        return yield* inapplicable(
          "without a clock, all requests of the tiny key are reserved for other laws"
        )
      }
      const isGet = operation === "get" && (yield* http.now) < REMOVAL_BEGINS - MARGIN_MS
      const animal = isGet
        ? (http.created()[0] ?? (yield* Creations.createOwn(http, trial, "sold")))
        : undefined
      const path = animal === undefined ? "/pets?status=sold&limit=2" : `/pets/${animal.id}`
      const first = yield* http.send({ path, key })
      const repeated = yield* http.send({ path, key })
      if (isDenied(first) || isDenied(repeated)) {
        return yield* inapplicable("the key is denied, perhaps because of requests before this run")
      }
      yield* expect(
        first.response.status === repeated.response.status,
        `the same status for two requests GET ${path} with the key ${key}`,
        `first ${outcome(first.response)}, then ${outcome(repeated.response)}`
      )
      // A server may give each key its own catalogue.
      if (isGet && first.response.status === 404) {
        return yield* inapplicable("the key cannot retrieve the animals of the main key")
      }
      const read = (exchange: Exchange): Effect.Effect<ReadonlyArray<Animal>, Violation> =>
        isGet ? Effect.map(Responses.petOf(exchange, 200), (pet) => [pet]) : Lists.listOf(exchange)
      const [firstAnimals, repeatedAnimals] = [yield* read(first), yield* read(repeated)]
      const clause = isGet ? "get.faithful" : "list.faithful"
      const { mark } = trial
      yield* Lists.expectAgreement(
        firstAnimals,
        { animals: http.created(), mark },
        `the first response to GET ${path}`,
        clause
      )
      yield* Lists.expectAgreement(
        repeatedAnimals,
        { animals: [...firstAnimals, ...http.created()], mark },
        `the second response to GET ${path}`,
        clause
      )
      yield* expect(
        animal === undefined || firstAnimals[0]?.id === animal.id,
        `the animal with id ${animal?.id}`,
        firstAnimals.map(PetJson.line).join(),
        "get.faithful"
      )
    }
  })
]
