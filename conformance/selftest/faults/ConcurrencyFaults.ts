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
    .breaks("pets.insert.concurrent", "concurrent.creations", "since it was created none")
    .by(AtPort.pets(lostUpdate(pause))),
  fault(
    "concurrent.lost-update-http",
    "Serves a store that writes all animals back, so that concurrent creations are lost."
  )
    .breaks("create.concurrent", "concurrent.creations", "since it was created none")
    .by(AtHttp.pets(lostUpdate(pause))),
  fault(
    "concurrent.lost-update-history",
    "Loses concurrent creations, so that no order explains what other clients read."
  )
    .breaks("pets.linearizable", "concurrent.history", "no order explains client")
    .by(AtPort.pets(lostUpdate(pause))),
  fault("concurrent.duplicate-id", "Gives concurrent creations the same id.")
    .breaks("pets.insert.concurrent", "concurrent.creations", "8 different ids 1:")
    .by(AtPort.pets(racyId(pause))),
  fault("concurrent.duplicate-id-http", "Serves a store that gives concurrent creations the same id.")
    .breaks("resources.id-unique", "concurrent.creations", "8 different ids 1:")
    .by(AtHttp.pets(racyId(pause))),
  fault("concurrent.overwrites", "Picks an id before a pause, so that one animal overwrites another.")
    .breaks("pets.insert.concurrent", "concurrent.creations", "8 different ids 1:")
    .by(
      AtPort.pets(() => {
        const byId = new Map<bigint, Pet>()
        return {
          ...readsFrom(() => [...byId.values()]),
          insert: Effect.fnUntraced(function* (pet) {
            const stored = new Pet(BigInt(byId.size + 1), pet)
            yield* pause
            byId.set(stored.id, stored)
            return stored
          })
        }
      })
    ),
  fault("concurrent.shared-buffer", "Holds a new animal in a buffer that the next creation overwrites.")
    .breaks("pets.insert.concurrent", "concurrent.creations", "to show the animal as it was created")
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
    .breaks("create.returns-created", "concurrent.creations", "the result of its creation")
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
    .breaks("pets.insert.concurrent", "concurrent.creations", "StoreUnavailable")
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
    .breaks("create.concurrent", "concurrent.creations", "201 with the created Pet 503")
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
  fault("concurrent.stale-reads", "Reads from a copy that is refreshed on every third read.")
    .breaks("pets.find.sees-insert", "concurrent.read-after-write", "since it was created none")
    .by(AtPort.pets(stale(3))),
  fault("concurrent.stale-reads-http", "Serves reads from a copy that is refreshed on every third read.")
    .breaks("list.sees-created", "concurrent.read-after-write", "since it was created none")
    .by(AtHttp.pets(stale(3))),
  fault("concurrent.stale-history", "Reads from a copy that is refreshed on every second read.")
    .breaks("pets.find.sees-insert", "concurrent.history", "no order explains client")
    .by(AtPort.pets(stale(2))),
  fault("concurrent.two-nodes", "Shows a new animal immediately only to clients of the same node.")
    .breaks("pets.find.sees-insert", "concurrent.read-after-write", "since it was created none")
    .by(AtPort.pets(twoNodes)),
  fault("concurrent.two-nodes-http", "Serves two nodes, each of which shows the animals of the other late.")
    .breaks("get.found", "concurrent.read-after-write", "since it was created none")
    .by(AtHttp.pets(twoNodes)),
  fault("concurrent.index-lags", "Finds a new animal by its id immediately, but omits it from two lists.")
    .breaks("list.sees-created", "concurrent.read-after-write", "animals, without {id")
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
  fault("concurrent.returned-before-stored", "Returns a new animal before it is stored.")
    .breaks("pets.find.sees-insert", "concurrent.read-after-write", "since it was created none")
    .by(
      AtPort.pets(() => {
        const all: Array<Pet> = []
        let ids = 0n
        return {
          ...readsFrom(() => all),
          insert: Effect.fnUntraced(function* (pet) {
            const stored = new Pet(++ids, pet)
            const store = Effect.sync(() => {
              all.push(stored)
            })
            yield* Effect.forkDetach(Effect.andThen(Effect.repeat(pause, { times: 8 }), store))
            return stored
          })
        }
      })
    ),
  fault("concurrent.half-written", "Shows an animal before its name is stored.")
    .breaks("pets.linearizable", "concurrent.history", 'name "", categoryId')
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
    "concurrent.uncommitted",
    "Shows a new animal, hides it, and shows it again before the creation returns."
  )
    .breaks("pets.linearizable", "concurrent.history", "no order explains client")
    .by(
      AtPort.pets(() => {
        let all: ReadonlyArray<Pet> = []
        let ids = 0n
        return {
          ...readsFrom(() => all),
          insert: Effect.fnUntraced(function* (pet) {
            const stored = new Pet(++ids, pet)
            all = [...all, stored]
            yield* Effect.repeat(pause, { times: 1 })
            all = all.filter((pet) => pet !== stored)
            yield* Effect.repeat(pause, { times: 2 })
            all = [...all, stored].toSorted((a, b) => Number(a.id - b.id))
            return stored
          })
        }
      })
    ),
  fault(
    "concurrent.torn-list",
    "Reads a list status by status, so that it can omit an animal but contain a later one."
  )
    .breaks("pets.linearizable", "concurrent.interleaving", "no order explains client")
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
    "concurrent.id-before-write",
    "Picks an id and stores the animal in two steps, without waiting between them."
  )
    .breaks("pets.linearizable", "concurrent.interleaving", "ids for 8")
    .by(AtPort.pets(racyId(step))),
  fault(
    "concurrent.write-back",
    "Reads all animals and writes them back with a new one in two steps, without waiting between them."
  )
    .breaks("pets.linearizable", "concurrent.interleaving", "no order explains client")
    .by(AtPort.pets(lostUpdate(step)))
]
