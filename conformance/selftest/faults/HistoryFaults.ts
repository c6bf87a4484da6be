/** Defines faults that affect one key, begin late in a run, or occur only in every n-th response. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes every n-th successful response to a request with the main key. */
const onEveryNth = (nth: number, edit: Edit.Edit): Where =>
  AtHttp.transport((real, world) => {
    let count = 0
    return (request) =>
      Effect.map(real(request), (response) =>
        Requests.hasKey(request, world.keys.main) && response.status < 300 && ++count % nth === 0
          ? edit(response, request, world)
          : response
      )
  })

/** A faulty store loses an animal after this many newer ones. */
const CAPACITY = 60n

/**
 * Lists of sold animals omit an animal after this many newer ones. The number exceeds 100, the maximum length of a list,
 * so that lists without a filter do not reveal the fault.
 */
const SOLD_CAPACITY = 130n

type Pets = PetRepository["Service"]

/** Changes methods of a repository; `differences` gets the id of the newest animal. */
const withNewestId = (differences: (real: Pets, newest: () => bigint) => Partial<Pets>) =>
  AtHttp.pets((real) => {
    let newest = 0n
    return {
      ...real,
      insert: (pet) =>
        Effect.tap(real.insert(pet), ({ id }) =>
          Effect.sync(() => {
            newest = id
          })
        ),
      ...differences(real, () => newest)
    }
  })

export const faults: ReadonlyArray<Fault> = [
  fault("history.ids-again", "Reuses ids after 90 creations.")
    .breaks("resources.id-unique")
    .by(
      AtHttp.responses(
        { to: Requests.isCreation, status: 201 },
        Edit.members((pet) => ({
          ...pet,
          id: typeof pet.id === "bigint" && pet.id > 90n ? pet.id - 90n : pet.id
        }))
      )
    ),
  fault("history.loses-first-by-id", "Does not find the first animal by id after 30 creations.")
    .breaks("get.found")
    .by(
      withNewestId((real, newest) => ({
        find: (id) => (id === 1n && newest() > 30n ? Effect.succeed(Option.none()) : real.find(id))
      }))
    ),
  fault("history.holds-sixty", "Finds only the newest 60 animals by id, like a cache.")
    .breaks("get.found")
    .by(
      withNewestId((real, newest) => ({
        find: (id) => (id <= newest() - CAPACITY ? Effect.succeed(Option.none()) : real.find(id))
      }))
    ),
  fault(
    "history.loses-from-list-of-sold",
    `Omits all but the newest ${SOLD_CAPACITY} animals from lists with the status sold.`
  )
    .breaks("list.status.filter")
    .by(
      withNewestId((real, newest) => ({
        page: (query) => {
          const first = newest() - SOLD_CAPACITY
          const isCut = query.status === "sold" && first > 0n
          const after = query.after === undefined || query.after < first ? first : query.after
          return real.page(isCut ? { ...query, after } : query)
        }
      }))
    ),
  fault("history.loses-from-lists", "Lists only the newest 60 animals.")
    .breaks("list.complete")
    .by(
      withNewestId((real, newest) => ({
        page: (query) => {
          const first = newest() - CAPACITY
          const after = query.after === undefined || query.after < first ? first : query.after
          return real.page(first > 0n ? { ...query, after } : query)
        }
      }))
    ),
  fault("history.denies-now-and-then", "Denies every 40th request of a key that has requests left.")
    .breaks("limits.remaining-truth")
    .by(
      onEveryNth(40, (response) =>
        Edit.header(
          "Retry-After",
          "1"
        )(Edit.header("X-RateLimit-Remaining", "0")(Edit.error(429, "rate_limit_exceeded")(response)))
      )
    )
]
