/** Laws about the end of a run: the animals that its checks created still exist (contract §2, §4). */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, inapplicable, Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { text } from "../../http/Wire.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { REMOVAL_BEGINS } from "../../subjects/HttpCatalogue.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "../http/Creations.ts"
import * as Responses from "../http/Responses.ts"

/** Number of animals that are fetched from each part of a run: its beginning, its middle and its end. */
const EACH = 8

/** Maximum number of animals in a list, by the contract. */
const FULL = 100

/** Returns the first `EACH` animals, the last `EACH`, and `EACH` at equal distances in the whole list, each once. */
const sampled = (all: ReadonlyArray<Animal>): ReadonlyArray<Animal> => {
  const step = Math.max(1, Math.floor(all.length / (EACH + 1)))
  const middle = Array.from({ length: EACH }, (_, index) => all[(index + 1) * step])
  return [...new Set([...all.slice(0, EACH), ...middle, ...all.slice(-EACH)])].filter(
    (animal) => animal !== undefined
  )
}

const closing = family({ level: "spec", profile: "core", on: "http", isClosing: true })

/** Fetches a list and returns its animals; `undefined` for a full list, because it may omit matching animals. */
const listed = (http: Http, query: string): Effect.Effect<ReadonlyArray<Animal> | undefined, Failure> =>
  Effect.flatMap(http.send({ path: `/pets?limit=${FULL}${query}` }), ({ response }) =>
    Result.match(
      response.status === 200
        ? Result.flatMap(PetJson.parse(text(response.body)), PetJson.animals)
        : Result.fail(outcome(response)),
      {
        onSuccess: (animals) => Effect.succeed(animals.length < FULL ? animals : undefined),
        onFailure: (actual) => Effect.fail(new Violation({ expected: "200 with an array of Pet", actual }))
      }
    )
  )

export const checks: ReadonlyArray<Check> = [
  closing({
    id: "history.kept",
    law: "At the end of a run, the first, the last and some other animals of the run are returned by their ids.",
    clauses: ["get.found", "get.faithful", "resources.stable"],
    requests: 26,
    examples: [null],
    *holds(http, _given, trial) {
      if ((yield* http.now) >= REMOVAL_BEGINS) {
        return yield* inapplicable("by the server's time, getPet is removed: restart the server")
      }
      yield* Creations.own(http, trial)
      for (const animal of sampled(http.created())) {
        const shown = yield* Responses.pet(yield* http.send({ path: `/pets/${animal.id}` }), 200)
        const isSame = shown.name === animal.name && shown.categoryId === animal.categoryId
        yield* expect(isSame, PetJson.line(animal), PetJson.line(shown))
      }
    }
  }),
  closing({
    id: "history.kept-in-lists",
    law: "At the end of a run, each of its animals is in the list of all and the list with its status, and in no other.",
    clauses: ["list.complete", "list.sees-created", "list.status.filter"],
    requests: 5,
    examples: [null],
    *holds(http, _given, trial) {
      yield* Creations.own(http, trial, "pending")
      const created = http.created()
      const all = yield* listed(http, "")
      // The contract neither describes nor excludes changes of status, so the law uses the current status.
      const now = new Map(all?.map(({ id, status }) => [id, status]))
      let isAnyComplete = all !== undefined
      for (const animal of created) {
        if (all === undefined) break
        yield* expect(now.has(animal.id), `${PetJson.line(animal)} in the list of all`, "a list without it")
      }
      for (const status of PetStatus.all) {
        const animals = yield* listed(http, `&status=${status}`)
        const shown = new Set(animals?.map(({ id }) => id))
        isAnyComplete ||= animals !== undefined
        for (const animal of created) {
          const current = now.get(animal.id)
          if (animals === undefined || current === undefined) continue
          yield* expect(
            shown.has(animal.id) === (current === status),
            `${PetJson.line(animal)}, which is ${current}, ${current === status ? "in" : "not in"} the list with status ${status}`,
            shown.has(animal.id) ? "a list with it" : "a list without it"
          )
        }
      }
      if (!isAnyComplete) {
        return yield* inapplicable("every list is full, so it need not show all animals")
      }
    }
  })
]
