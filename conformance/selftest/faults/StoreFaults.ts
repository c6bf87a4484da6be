/** Faults of the stores behind a server: lost, late, doubled and mixed up animals, which one response does not show. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Pet } from "../../../core/domain/Pet.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import { lostUpdate, type Pets, racyId, stale } from "../spoilers/RacyStores.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Suspends the store, so that another client can run. */
const pause = Effect.yieldNow

/** Changes methods of a repository; `differences` gets the id of the newest animal. */
const withNewestId = (differences: (real: Pets, newest: () => bigint) => Partial<Pets>) =>
  AtHttp.pets((real) => {
    let newest = 0n
    return {
      ...real,
      insert: (pet) => Effect.tap(real.insert(pet), ({ id }) => Effect.sync(() => (newest = id))),
      ...differences(real, () => newest)
    }
  })

/** Lists only the newest animals with some statuses. */
const listsNewest = (count: bigint, isCut: (status: string | undefined) => boolean) =>
  withNewestId((real, newest) => ({
    page: (query) => {
      const first = newest() - count
      const after = query.after === undefined || query.after < first ? first : query.after
      return real.page(isCut(query.status) && first > 0n ? { ...query, after } : query)
    }
  }))

export const faults: ReadonlyArray<Fault> = [
  fault("store.lost-update", "Writes all animals back, so that concurrent creations are lost.")
    .breaks("create.concurrent")
    .by(AtHttp.pets(lostUpdate(pause))),
  fault("store.duplicate-id", "Gives concurrent creations the same id.")
    .breaks("resources.id-unique")
    .by(AtHttp.pets(racyId(pause))),
  fault("store.swapped-responses", "Returns the animal of another concurrent creation, but stores each one.")
    .breaks("create.returns-created")
    .by(
      AtHttp.pets((real) => {
        let latest: Pet | undefined
        return {
          ...real,
          insert: Effect.fnUntraced(function* (pet) {
            latest = yield* real.insert(pet)
            yield* pause
            return latest
          })
        }
      })
    ),
  fault("store.one-writer", "Returns 503 for a creation while it handles another request.")
    .breaks("errors.no-5xx")
    .by(
      AtHttp.transport((real) => {
        let active = 0
        return (request) =>
          Effect.suspend(() => {
            const isBusy = Requests.isCreation(request) && active > 0
            active++
            return pause.pipe(
              Effect.andThen(real(isBusy ? { ...request, method: "GET" } : request)),
              Effect.map((response) => (isBusy ? Edit.status(503)(response) : response)),
              Effect.ensuring(Effect.sync(() => active--))
            )
          })
      })
    ),
  fault("store.stale-reads", "Serves reads from a copy that is refreshed on every third read.")
    .breaks("list.sees-created")
    .by(AtHttp.pets(stale(3))),
  fault("store.holds-sixty", "Finds only the newest 60 animals by id, like a cache.")
    .breaks("get.found")
    .by(
      withNewestId((real, newest) => ({
        find: (id) => (id <= newest() - 60n ? Effect.succeed(Option.none()) : real.find(id))
      }))
    ),
  // More than 100, the longest list, so that lists without a filter do not show the fault.
  fault("store.lists-newest-sold", "Lists only the newest 130 animals with the status sold.")
    .breaks("list.sees-created")
    .by(listsNewest(130n, (status) => status === "sold")),
  fault("store.lists-newest", "Lists only the newest 60 animals.")
    .breaks("list.sees-created")
    .by(listsNewest(60n, () => true)),
  fault("store.ids-again", "Reuses ids after 90 creations.")
    .breaks("resources.id-unique")
    .by(
      AtHttp.responses(
        { status: 201 },
        Edit.members((pet) => ({
          ...pet,
          id: typeof pet.id === "bigint" && pet.id > 90n ? pet.id - 90n : pet.id
        }))
      )
    )
]
