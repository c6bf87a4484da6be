/** Defines faults that affect one key, begin late in a run, or occur only in every n-th response. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the lists that the key with the small plan gets; other checks use this key only to test limits. */
const changesListsOfTiny = (edit: Edit.Edit): Where =>
  AtHttp.responses(
    {
      to: (request, { keys }) => Requests.isList(request) && Requests.hasKey(request, keys.tiny),
      status: 200
    },
    edit
  )

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
  fault("history.names-for-tiny", "Returns names in upper case in lists for keys with a small plan.")
    .breaks("list.faithful", "history.unchanged", "categoryId")
    .by(
      changesListsOfTiny(
        Edit.rewritten((body) =>
          body.replace(/"name":"[^"]*"/g, (member) => member.toUpperCase().replace("NAME", "name"))
        )
      )
    ),
  fault(
    "history.status-for-victim",
    "Returns the status available for every animal that a frequently banned key retrieves."
  )
    .breaks("resources.status-stable", "history.status-unchanged", ", available}")
    .by(
      AtHttp.responses(
        {
          to: (request, { keys }) => Requests.isGet(request) && Requests.hasKey(request, keys.victim),
          status: 200
        },
        Edit.members((pet) => ({ ...pet, status: "available" }))
      )
    ),
  fault("history.first-doubled", "Doubles the category of the first creation with each key.")
    .breaks("create.returns-created", "every.creation-as-sent", "categoryId -18014398509481990")
    .by(
      AtHttp.firstResponses(Requests.isCreation, (response) =>
        response.status === 201
          ? Edit.members((pet) => ({ ...pet, categoryId: BigInt(String(pet.categoryId)) * 2n }))(response)
          : response
      )
    ),
  fault("history.keyless-201", "Sends 201 instead of 401 to the first creation without a key.")
    .breaks("auth.required", "every.key-required", "no success without a key 201")
    .by(
      AtHttp.firstResponses(
        (request) => Requests.isCreation(request) && Requests.credentials(request).length === 0,
        Edit.status(201)
      )
    ),
  fault("history.object-for-tiny", "Wraps lists in an object for keys with a small plan.")
    .breaks("list.array", "history.lists", "an array of Pet")
    .by(changesListsOfTiny(Edit.rewritten((body) => `{"items":${body}}`))),
  fault("history.more-for-tiny", "Lists every animal twice for keys with a small plan.")
    .breaks("list.limit.maximum-returned", "history.lists", "at most 2 animals")
    .by(changesListsOfTiny(Edit.rewritten((body) => `[${body.slice(1, -1)},${body.slice(1)}`))),
  fault("history.null-when-empty", "Returns null instead of an empty list.")
    .breaks("list.empty", "history.lists", "not a bare array: null")
    .by(
      AtHttp.responses(
        { to: Requests.isList, status: 200 },
        Edit.rewritten((body) => (body === "[]" ? "null" : body))
      )
    ),
  fault("history.last-twice", "Lists the newest sold animal twice in lists without a limit parameter.")
    .breaks("list.distinct", "history.lists-distinct", "twice {id")
    .by(
      AtHttp.responses(
        {
          to: (request) =>
            Requests.listParameter(request, "limit") === null &&
            Requests.listParameter(request, "status") === "sold",
          status: 200
        },
        Edit.rewritten((body) => body.replace(/,\{[^{}]*\}\]$/, (last) => `${last.slice(0, -1)}${last}`))
      )
    ),
  fault("history.ids-again", "Reuses ids after 90 creations.")
    .breaks("resources.id-unique", "history.ids-unique", "an id other than")
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
    .breaks("get.found", "history.found", "which the run created 404")
    .by(
      withNewestId((real, newest) => ({
        find: (id) => (id === 1n && newest() > 30n ? Effect.succeed(Option.none()) : real.find(id))
      }))
    ),
  fault("history.holds-sixty", "Finds only the newest 60 animals by id, like a cache.")
    .breaks("get.found", "history.kept", "200 with the Pet 404")
    .by(
      withNewestId((real, newest) => ({
        find: (id) => (id <= newest() - CAPACITY ? Effect.succeed(Option.none()) : real.find(id))
      }))
    ),
  fault(
    "history.loses-from-list-of-sold",
    `Omits all but the newest ${SOLD_CAPACITY} animals from lists with the status sold.`
  )
    .breaks("list.status.filter", "history.kept-in-lists", "in the list with status sold")
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
    .breaks("list.complete", "history.kept-in-lists", "a list without it")
    .by(
      withNewestId((real, newest) => ({
        page: (query) => {
          const first = newest() - CAPACITY
          const after = query.after === undefined || query.after < first ? first : query.after
          return real.page(first > 0n ? { ...query, after } : query)
        }
      }))
    ),
  fault("history.creations-free", "Does not count creations.")
    .breaks("limits.remaining-bound", "history.each-costs-one", "more successful requests in a row")
    .by(RateLimits.withoutCost(Requests.isCreation)),
  fault("history.retrievals-free", "Does not count retrievals by id.")
    .breaks("limits.remaining-bound", "history.each-costs-one", "more successful requests in a row")
    .by(RateLimits.withoutCost(Requests.isGet)),
  fault("history.denies-now-and-then", "Denies every 40th request of a key that has requests left.")
    .breaks("limits.remaining-truth", "history.admitted-while-remaining", "429 by the per-minute limit")
    .by(
      onEveryNth(40, (response) =>
        Edit.header(
          "Retry-After",
          "1"
        )(Edit.header("X-RateLimit-Remaining", "0")(Edit.error(429, "rate_limit_exceeded")(response)))
      )
    ),
  fault("history.limit-now-and-then", "Shows the limit of another plan in every 40th response.")
    .breaks("limits.plan-in-force", "history.limits-of-key", "as before for this key")
    .by(
      AtHttp.transport((real, world) => {
        let count = 0
        return (request) =>
          Effect.map(real(request), (response) => {
            const isNth =
              Requests.hasKey(request, world.keys.main) && response.status < 300 && ++count % 40 === 0
            return isNth ? Edit.header("X-RateLimit-Limit", String(200_000 + count))(response) : response
          })
      })
    )
]
