/** A law about the first request of a key (contract §4). */
import * as Effect from "effect/Effect"
import { expect, inapplicable, type Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { REMOVAL_BEGINS } from "../../subjects/HttpCatalogue.ts"
import { type Check, family } from "../Check.ts"
import { isDenied } from "../product/SmallKeys.ts"
import * as Creations from "./Creations.ts"
import * as Lists from "./Lists.ts"
import * as Responses from "./Responses.ts"

/** The request that a key sends first, and sends again. */
interface First {
  readonly key: "tiny" | "victim"
  /** Once getPet is removed, a list is requested instead. */
  readonly operation: "list" | "get"
}

const spec = family({ level: "spec", on: "http" })

/** Must run before other checks that use the small keys; otherwise the request is not the key's first. */
export const checks: ReadonlyArray<Check> = [
  spec<First>({
    id: "limits.first-request",
    profile: "limits",
    law: "A key's first request and an immediate repetition get the same status and the same animals.",
    clauses: ["list.status-200", "list.faithful", "get.found", "get.faithful"],
    needs: ["tinyPlan", "victimKey"],
    requests: 5,
    examples: [
      { key: "tiny", operation: "list" },
      { key: "victim", operation: "get" }
    ],
    *holds(http, { key, operation }, trial) {
      if (key === "tiny" && !http.facts.hasClock) {
        return yield* inapplicable("without a clock, the tiny key has too few requests: other laws need them")
      }
      const isGet = operation === "get" && (yield* http.now) < REMOVAL_BEGINS - 60_000
      const animal = isGet
        ? (http.created()[0] ?? (yield* Creations.createOwn(http, trial, "sold")))
        : undefined
      const path = animal === undefined ? "/pets?status=sold&limit=2" : `/pets/${animal.id}`
      const first = yield* http.send({ path, key })
      const again = yield* http.send({ path, key })
      if (isDenied(first) || isDenied(again)) {
        return yield* inapplicable("the key is denied, perhaps because of requests before this run")
      }
      yield* expect(
        first.response.status === again.response.status,
        `the same status for both requests GET ${path} with the key ${key}: ${outcome(again.response)}`,
        `first ${outcome(first.response)}`
      )
      // A server may give each key its own catalogue.
      if (isGet && first.response.status === 404) {
        return yield* inapplicable("the key cannot retrieve the animals of the main key")
      }
      const read = (exchange: typeof first): Effect.Effect<ReadonlyArray<Animal>, Violation> =>
        isGet ? Effect.map(Responses.petOf(exchange, 200), (pet) => [pet]) : Lists.listOf(exchange)
      const [shown, later] = [yield* read(first), yield* read(again)]
      const clause = isGet ? "get.faithful" : "list.faithful"
      yield* Lists.expectAgreement(shown, http.created(), `the first response to GET ${path}`, clause)
      yield* Lists.expectAgreement(later, shown, `the second response to GET ${path}`, clause)
      yield* expect(
        animal === undefined || shown[0]?.id === animal.id,
        `the animal with id ${animal?.id}`,
        shown.map(PetJson.line).join(),
        "get.faithful"
      )
    }
  })
]
