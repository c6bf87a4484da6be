/** Defines faults that lose animals, change them, or show them late. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Pet } from "../../../core/domain/Pet.ts"
import { type Fault, fault, type Spoil, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as Edit from "../spoilers/Edit.ts"
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

/** Changes the animal in the response to its creation. */
const changesCreated = (change: (pet: { readonly [name: string]: unknown }) => unknown): Where =>
  AtHttp.responses({ to: Requests.isCreation, status: 201 }, Edit.members(change))

/** Hides the animals for which `isVisible` is false from lookups and lists. */
const hidesUnless =
  (isVisible: (pet: Pet) => boolean): Spoil<PetStores.Pets> =>
  (real) => ({
    ...real,
    find: (id) => Effect.map(real.find(id), Option.filter(isVisible)),
    page: (query) => Effect.map(real.page(query), (pets) => pets.filter(isVisible))
  })

const withCutName = (pet: Pet): Pet => new Pet(pet.id, { ...pet, name: pet.name.slice(0, 50) })

const TO_SHOW_THE_NAME = "to show the name that its creation returned"

export const faults: ReadonlyArray<Fault> = [
  fault("catalogue.not-listed", "Never lists pending animals.")
    .breaks("pets.page.undefined", "list.filter", "0 animals, without {id")
    .by(AtPort.pets(PetStores.changingPage((pets) => pets.filter(({ status }) => status !== "pending")))),
  fault("catalogue.lost-after-fifty", "Stores only the first 50 animals.")
    .breaks("pets.find.sees-insert", "catalogue.kept", "50 animals, without {id")
    .by(AtPort.pets(hidesUnless(({ id }) => id <= 50n))),
  fault("catalogue.evicted", "Finds an animal by id only until 100 newer ones exist.")
    .breaks("pets.find.sees-insert", "catalogue.kept", "since it was created none")
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
  fault("catalogue.stores-nothing", "Assigns an id to a new animal, but never stores it.")
    .breaks("pets.find.sees-insert", "catalogue.model", "0 animals, without {id")
    .by(
      AtPort.pets((real) => {
        let id = 0n
        return { ...real, insert: (pet) => Effect.sync(() => new Pet(++id, pet)) }
      })
    ),
  fault(
    "catalogue.overwrites",
    "Lists only the newest animal, as if each creation overwrote the previous one."
  )
    .breaks("resources.stable", "catalogue.kept", "1 animals, without")
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
    .breaks("pets.insert.id-never-reused", "catalogue.ids-unique", ', the id of "')
    .by(
      AtPort.pets(
        PetStores.replacingInsert((pet, real) =>
          Effect.map(real.insert(pet), (stored) =>
            stored.id % 3n === 0n ? new Pet(stored.id - 1n, pet) : stored
          )
        )
      )
    ),
  fault("catalogue.constant-id", "Returns id 1 for every creation.")
    .breaks("resources.id-unique", "catalogue.ids-unique", ', the id of "')
    .by(changesCreated((pet) => ({ ...pet, id: 1n }))),
  fault("catalogue.anything-found", "Finds a made-up animal under every unknown id.")
    .breaks("pets.find.none", "catalogue.unknown-id", 'name "Nobody"')
    .by(
      AtPort.pets(
        PetStores.changingFound((pet, id) =>
          Option.orElseSome(pet, () => new Pet(id, { name: "Nobody", categoryId: 1n, status: "sold" }))
        )
      )
    ),
  fault("catalogue.anything-found-http", "Returns a made-up animal without a status for an unknown id.")
    .breaks("get.not-found", "catalogue.unknown-id", ', name "", categoryId 0}')
    .by(
      AtHttp.responses({ to: Requests.isGet, status: 404 }, (response, { target }) => {
        const id = /\/(-?[0-9]+)$/.exec(target)?.[1]
        return id === undefined
          ? response
          : Edit.replace(200, `{"id":${id},"name":"","categoryId":0}`)(response)
      })
    ),
  fault(
    "catalogue.nearest-found",
    "Finds the animal with the next id for an unknown id, like an index seek without a comparison."
  )
    .breaks("pets.find.none", "catalogue.unknown-id", "no animal with id 0 {id 1")
    .by(
      AtPort.pets(
        PetStores.replacingFind((id, real) =>
          Effect.map(real.page({ ...PetStores.everything, limit: 1, after: id - 1n }), ([pet]) =>
            Option.fromUndefinedOr(pet)
          )
        )
      )
    ),
  fault("catalogue.category-32-bits", "Truncates categories to 32 bits before it stores them.")
    .breaks("pets.insert.int64", "catalogue.category-exact", "categoryId -1, pending")
    .by(
      AtPort.pets(
        PetStores.changingInserted(({ categoryId }) => ({ categoryId: BigInt.asIntN(32, categoryId) }))
      )
    ),
  fault("catalogue.category-doubles", "Stores categories as doubles.")
    .breaks("create.int64-exact", "catalogue.category-exact", "categoryId -9223372036854775808, pending")
    .by(
      AtHttp.pets(
        PetStores.changingInserted(({ categoryId }) => ({
          categoryId: BigInt.asIntN(64, BigInt(Number(categoryId)))
        }))
      )
    ),
  fault("catalogue.name-trimmed", "Removes white space around names before it stores them.")
    .breaks("pets.insert.names", "catalogue.name-exact", '"categoryId":1} {id')
    .by(AtPort.pets(PetStores.changingInserted(({ name }) => ({ name: name.trim() })))),
  fault("catalogue.name-normalized", "Normalizes names to Unicode NFC before it stores them.")
    .breaks("create.name-exact", "catalogue.name-exact", "to show the animal as it was created")
    .by(AtHttp.pets(PetStores.changingInserted(({ name }) => ({ name: name.normalize("NFC") })))),
  fault("catalogue.name-basic-plane", "Stores a question mark for each character above U+FFFF.")
    .breaks("pets.insert.names", "catalogue.name-exact", '?", categoryId 1, available')
    .by(
      AtPort.pets(
        PetStores.changingInserted(({ name }) => ({ name: name.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "?") }))
      )
    ),
  fault("catalogue.name-cut", "Truncates names to 100 UTF-16 code units.")
    .breaks("pets.insert.names", "catalogue.name-exact", "💩\\ud83d")
    .by(AtPort.pets(PetStores.changingInserted(({ name }) => ({ name: name.slice(0, 100) })))),
  fault("catalogue.name-decoded", "Percent-decodes names before it stores them.")
    .breaks("create.name-exact", "catalogue.name-exact", "to show the animal as it was created")
    .by(AtHttp.pets(PetStores.changingInserted(({ name }) => ({ name: name.replaceAll("%41", "A") })))),
  fault("catalogue.name-normalized-in-filter", "Shows names in Unicode NFC in lists with a status.")
    .breaks("create.name-exact", "catalogue.name-exact", "a list to show the animal as it was created")
    .by(changesNamesInFilter((name) => name.normalize("NFC"))),
  fault("catalogue.name-trimmed-in-filter", "Shows names without trailing spaces in lists with a status.")
    .breaks("list.faithful", "catalogue.name-consistent", `a list with a status ${TO_SHOW_THE_NAME}`)
    .by(changesNamesInFilter((name) => name.trimEnd())),
  fault("catalogue.name-quoted-in-filter", "Shows names with doubled quotes in lists with a status.")
    .breaks("list.faithful", "catalogue.name-consistent", `a list with a status ${TO_SHOW_THE_NAME}`)
    .by(changesNamesInFilter((name) => name.replaceAll("'", "''"))),
  fault("catalogue.name-decoded-in-filter", "Shows names percent-decoded in lists with a status.")
    .breaks("list.faithful", "catalogue.name-consistent", `a list with a status ${TO_SHOW_THE_NAME}`)
    .by(changesNamesInFilter((name) => name.replaceAll("%41", "A"))),
  fault("catalogue.name-cut-in-filter", "Shows only 50 characters of a name in lists with a status.")
    .breaks("list.faithful", "catalogue.name-consistent", `a list with a status ${TO_SHOW_THE_NAME}`)
    .by(changesNamesInFilter((name) => name.slice(0, 50))),
  fault("catalogue.name-cut-in-lists", "Shows only 50 characters of a name in lists.")
    .breaks("pets.page.exact", "catalogue.name-consistent", `a list without status ${TO_SHOW_THE_NAME}`)
    .by(AtPort.pets(PetStores.changingPage((pets) => pets.map(withCutName)))),
  fault("catalogue.name-cut-by-id", "Shows only 50 characters of a name when the animal is retrieved by id.")
    .breaks("get.faithful", "catalogue.name-consistent", `its id ${TO_SHOW_THE_NAME}`)
    .by(AtHttp.pets(PetStores.changingFound(Option.map(withCutName)))),
  fault(
    "catalogue.returned-as-available",
    "Returns every new animal as available, but stores the status that was sent."
  )
    .breaks("create.status-kept", "catalogue.faithful", "to be returned with that status {id")
    .by(changesCreated((pet) => ({ ...pet, status: "available" }))),
  fault("list.queue", "Omits animals that an earlier list contained, like a queue.")
    .breaks("pets.page.full", "list.pure", "a list without {id")
    .by(
      AtPort.pets((real) => {
        const seen = new Set<bigint>()
        const isNew = ({ id }: Pet) => {
          const isFirst = !seen.has(id)
          seen.add(id)
          return isFirst
        }
        return { ...real, page: (query) => Effect.map(real.page(query), (pets) => pets.filter(isNew)) }
      })
    ),
  fault("list.first-page-cached", "Caches the first page for each status and limit, and never refreshes it.")
    .breaks("pets.page.sees-insert", "list.complete", "animals, without {id")
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
    .breaks("list.sees-created", "list.complete", "animals, without {id")
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
