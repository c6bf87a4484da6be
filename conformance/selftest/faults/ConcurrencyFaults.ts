/** Defines faults that occur only when several clients send requests at the same time. */
import * as Effect from "effect/Effect"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as Edit from "../spoilers/Edit.ts"
import { lostUpdate, racyId, readsFrom, stale, twoNodes } from "../spoilers/RacyStores.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Suspends the store, so that another client can run. */
const pause = Effect.yieldNow

/** Does not wait: another client runs here only if the suite interleaves after each operation. */
const step = Effect.sync(() => {})

export const faults: ReadonlyArray<Fault> = [
  fault(
    "concurrent.lost-update",
    "Reads all animals and writes them back with the new one, so that concurrent creations are lost."
  )
    .breaks("create.concurrent")
    .by(AtPort.pets(lostUpdate(pause))),
  fault(
    "concurrent.lost-update-http",
    "Serves a store that writes all animals back, so that concurrent creations are lost."
  )
    .breaks("create.concurrent")
    .by(AtHttp.pets(lostUpdate(pause))),
  fault("concurrent.duplicate-id", "Gives concurrent creations the same id.")
    .breaks("resources.id-unique")
    .by(AtPort.pets(racyId(pause))),
  fault("concurrent.duplicate-id-http", "Serves a store that gives concurrent creations the same id.")
    .breaks("resources.id-unique")
    .by(AtHttp.pets(racyId(pause))),
  fault("concurrent.shared-buffer", "Holds a new animal in a buffer that the next creation overwrites.")
    .breaks("create.concurrent")
    .by(
      AtPort.pets((real) => {
        let buffer: NewPet | undefined
        return {
          ...real,
          insert: Effect.fnUntraced(function* (pet) {
            buffer = pet
            yield* pause
            return yield* real.insert(buffer)
          })
        }
      })
    ),
  fault(
    "concurrent.swapped-responses",
    "Returns the animal of another concurrent creation, but stores each one correctly."
  )
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
  fault("concurrent.one-writer", "Fails when creations overlap.")
    .breaks("create.concurrent")
    .by(
      AtPort.pets((real) => {
        let isBusy = false
        return {
          ...real,
          insert: Effect.fnUntraced(function* (pet) {
            if (isBusy) return yield* new StoreUnavailable({ retryable: true, cause: new Error("locked") })
            isBusy = true
            yield* pause
            isBusy = false
            return yield* real.insert(pet)
          })
        }
      })
    ),
  fault("concurrent.one-writer-http", "Returns 503 for a creation while it handles another request.")
    .breaks("create.concurrent")
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
  fault("concurrent.stale-reads-http", "Serves reads from a copy that is refreshed on every third read.")
    .breaks("list.sees-created")
    .by(AtHttp.pets(stale(3))),
  fault("concurrent.stale-history", "Reads from a copy that is refreshed on every second read.")
    .breaks("list.sees-created")
    .by(AtPort.pets(stale(2))),
  fault("concurrent.two-nodes", "Shows a new animal immediately only to clients of the same node.")
    .breaks("get.found")
    .by(AtPort.pets(twoNodes)),
  fault("concurrent.two-nodes-http", "Serves two nodes, each of which shows the animals of the other late.")
    .breaks("get.found")
    .by(AtHttp.pets(twoNodes)),
  fault("concurrent.index-lags", "Finds a new animal by its id immediately, but omits it from two lists.")
    .breaks("list.sees-created")
    .by(
      AtHttp.pets((real) => {
        let waiting = 0
        return {
          ...real,
          insert: (pet) => Effect.tap(real.insert(pet), () => Effect.sync(() => (waiting = 2))),
          page: (query) => Effect.map(real.page(query), (pets) => (waiting-- > 0 ? pets.slice(0, -1) : pets))
        }
      })
    ),
  fault("concurrent.half-written", "Shows an animal before its name is stored.")
    .breaks("list.faithful")
    .by(
      AtPort.pets(() => {
        const all: Array<Pet> = []
        return {
          ...readsFrom(() => all),
          insert: Effect.fnUntraced(function* (pet) {
            const at = all.length
            const stored = new Pet(BigInt(at + 1), pet)
            all.push(new Pet(stored.id, { ...pet, name: "" }))
            yield* pause
            all[at] = stored
            return stored
          })
        }
      })
    ),
  fault(
    "concurrent.torn-list",
    "Reads a list status by status, so that it can omit an animal but contain a later one."
  )
    .breaks("pets.linearizable")
    .by(
      AtPort.pets((real) => ({
        ...real,
        page: (query) =>
          query.status !== undefined
            ? real.page(query)
            : Effect.map(
                Effect.forEach(PetStatus.all, (status) => Effect.tap(real.page({ ...query, status }), pause)),
                (parts) =>
                  parts
                    .flat()
                    .sort((a, b) => Number(a.id - b.id))
                    .slice(0, query.limit)
              )
      }))
    ),
  fault(
    "concurrent.write-back",
    "Reads all animals and writes them back with a new one in two steps, without waiting between them."
  )
    .breaks("pets.linearizable")
    .by(AtPort.pets(lostUpdate(step)))
]
