/** Defines faults that lose animals, change them, or show them late. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Pet } from "../../../core/domain/Pet.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes names, but only in lists with a status filter. */
const changesNamesInFilter = (change: (name: string) => string): Where =>
  Lists.changesAnimals((animals, request) =>
    Requests.parameters(request).has("status")
      ? animals.map((animal) => ({ ...animal, name: change(animal.name) }))
      : animals
  )

export const faults: ReadonlyArray<Fault> = [
  fault("catalogue.evicted", "Finds an animal by id only until 100 newer ones exist.")
    .breaks("resources.stable")
    .by(
      AtPort.pets((real) => {
        let newest = 0n
        return {
          ...real,
          insert: (pet) => Effect.tap(real.insert(pet), ({ id }) => Effect.sync(() => (newest = id))),
          find: (id) =>
            Effect.map(
              real.find(id),
              Option.filter((pet) => pet.id > newest - 100n)
            )
        }
      })
    ),
  fault(
    "catalogue.overwrites",
    "Lists only the newest animal, as if each creation overwrote the previous one."
  )
    .breaks("resources.stable")
    .by(
      AtHttp.pets(
        PetStores.replacingPage((query, real) =>
          Effect.flatMap(
            real.page(query),
            Effect.filter((pet) =>
              Effect.map(real.page({ ...PetStores.everything, after: pet.id }), (later) => later.length === 0)
            )
          )
        )
      )
    ),
  fault("catalogue.reuses-id", "Gives every third animal the id of the previous one.")
    .breaks("resources.id-unique")
    .by(
      AtPort.pets(
        PetStores.replacingInsert((pet, real) =>
          Effect.map(real.insert(pet), (stored) =>
            stored.id % 3n === 0n ? new Pet(stored.id - 1n, pet) : stored
          )
        )
      )
    ),
  fault("catalogue.name-quoted-in-filter", "Shows names with doubled quotes in lists with a status.")
    .breaks("list.faithful")
    .by(changesNamesInFilter((name) => name.replaceAll("'", "''"))),
  fault("list.first-page-cached", "Caches the first page for each status and limit, and never refreshes it.")
    .breaks("list.sees-created")
    .by(
      AtPort.pets((real) => {
        const cached = new Map<string, ReadonlyArray<Pet>>()
        return {
          ...real,
          page: (query) =>
            Effect.map(real.page(query), (pets) => {
              const key = `${query.status}/${query.limit}`
              if (!cached.has(key)) cached.set(key, pets)
              return cached.get(key) ?? pets
            })
        }
      })
    ),
  fault("list.seen-late", "Omits a new animal from the first list after its creation.")
    .breaks("list.sees-created")
    .by(
      AtHttp.pets((real) => {
        let visible = 0n
        return {
          ...real,
          page: (query) =>
            Effect.map(real.page(query), (pets) => {
              const shown = pets.filter(({ id }) => id <= visible)
              visible = pets.reduce((most, { id }) => (id > most ? id : most), visible)
              return shown
            })
        }
      })
    )
]
