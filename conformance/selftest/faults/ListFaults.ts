/** Defines faults that list the wrong animals, or list them in the wrong form or order. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PageQuery } from "../../../core/domain/Page.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { header } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Filters the animals of some queries by another rule. */
const filtersSome = (
  isFaulty: (query: PageQuery) => boolean,
  isListed: (pet: Pet, query: PageQuery) => boolean
): Where =>
  AtPort.pets(
    PetStores.replacingPage((query, real) =>
      isFaulty(query)
        ? Effect.map(real.page(PetStores.everything), (pets) =>
            pets.filter((pet) => isListed(pet, query)).slice(0, query.limit)
          )
        : real.page(query)
    )
  )

const ifEmpty =
  (edit: Edit.Edit): Edit.Edit =>
  (response, ...sent) =>
    Edit.animalsOf(response)?.length === 0 ? edit(response, ...sent) : response

export const faults: ReadonlyArray<Fault> = [
  fault("list.filter-ignored", "Ignores the status filter.")
    .breaks("pets.page.status", "list.filter", "with that status one that is")
    .by(AtPort.pets(PetStores.changingQuery(() => ({ status: undefined })))),
  fault("list.filter-ignored-at-20", "Ignores the status filter when the limit is 20.")
    .breaks("list.status.filter", "list.filter", "with that status one that is")
    .by(
      AtHttp.requests(
        (request) => Requests.listParameter(request, "limit") === "20",
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault("list.filter-inverted", "Lists the animals that do not have the requested status.")
    .breaks("pets.page.status", "list.filter", "with that status one that is")
    .by(
      filtersSome(
        ({ status }) => status !== undefined,
        (pet, { status }) => pet.status !== status
      )
    ),
  fault("list.unfiltered-omits-sold", "Omits sold animals from lists without a filter.")
    .breaks("pets.page.undefined", "list.filter", "animals, without {id")
    .by(
      filtersSome(
        ({ status }) => status === undefined,
        ({ status }) => status !== "sold"
      )
    ),
  fault("list.filter-after-limit", "Applies the filter after the limit.")
    .breaks("pets.page.full", "list.limit", "at least 1 0 animals")
    .by(
      AtPort.pets(
        PetStores.replacingPage((query, real) =>
          Effect.map(real.page({ ...query, status: undefined }), (pets) =>
            pets.filter(({ status }) => query.status === undefined || status === query.status)
          )
        )
      )
    ),
  fault("list.filter-after-limit-http", "Applies the filter to the first page of all animals.")
    .breaks("list.status.before-limit", "list.limit", "at least 1 0 animals")
    .by(
      AtHttp.transport((real) => (request) => {
        const status = Requests.listParameter(request, "status")
        if (status === null || !PetStatus.is(status)) return real(request)
        return Effect.map(
          real(Requests.withParameter(request, "status", undefined)),
          Lists.edit((animals) => animals.filter((animal) => animal.status === status))
        )
      })
    ),
  fault("list.unknown-status-lists-all", "Lists all animals for an unknown status.")
    .breaks("list.status.filter", "list.status.others", "?status=lost {id")
    .by(Lists.readsStatus((status) => (PetStatus.is(status) || status === "" ? undefined : null))),
  fault("list.status-wildcards", "Compares the status with LIKE, so that % and _ are wildcards.")
    .breaks("list.status.filter", "list.status.others", "?status=sol%25 {id")
    .by(
      Lists.readsStatus((status) => {
        if (!/[%_]/.test(status) || /[^a-z%_]/.test(status)) return undefined
        const like = new RegExp(`^${status.replaceAll("%", ".*").replaceAll("_", ".")}$`)
        return PetStatus.all.find((known) => like.test(known))
      })
    ),
  fault(
    "list.status-injected",
    "Inserts the status into SQL without escaping, so that a quote ends the string."
  )
    .breaks("list.status.filter", "list.status.others", "'1'='1 {id")
    .by(Lists.readsStatus((status) => (/' or '/i.test(status) ? null : undefined))),
  fault("list.status-prefix", "Accepts the first letters of a status as that status.")
    .breaks("list.status.filter", "list.status.others", "?status=sol {id")
    .by(
      Lists.readsStatus((status) =>
        PetStatus.all.find((known) => status.length > 2 && known.startsWith(status))
      )
    ),
  fault("list.unknown-status-empty", "Returns an empty list for an unknown status.")
    .breaks("list.status.unknown", "list.status.unknown", "400 invalid_parameter to ?status=lost 200")
    .by(
      AtHttp.transport((real) => (request) => {
        const status = Requests.listParameter(request, "status")
        return status === null || status === "" || PetStatus.is(status)
          ? real(request)
          : Effect.map(
              real(Requests.withParameter(request, "status", "sold")),
              Lists.edit(() => [])
            )
      })
    ),
  fault("list.empty-status-lists-all", "Treats an empty status filter as absent.")
    .breaks("list.status.unknown", "list.status.unknown", "400 invalid_parameter to ?status= 200")
    .by(Lists.readsStatus((status) => (status === "" ? null : undefined))),
  fault("list.status-any-case", "Accepts a status in any letter case.")
    .breaks("list.status.exact", "list.status.unknown", "?status=SOLD 200")
    .by(Lists.readsStatus((status) => PetStatus.all.find((known) => known === status.toLowerCase()))),
  fault("list.status-trimmed", "Accepts a status with spaces around it.")
    .breaks("list.status.exact", "list.status.unknown", "?status=sold%20 200")
    .by(Lists.readsStatus((status) => PetStatus.all.find((known) => known === status.trim()))),
  fault("list.status-repeated", "Uses the first of several statuses.")
    .breaks("list.status.repeated", "list.status.repeated", "status=sold&status=sold 200")
    .by(Lists.readsStatus((status) => PetStatus.all.find((known) => known === status))),
  fault("list.empty-404", "Returns 404 when no animal matches.")
    .breaks("list.empty", "list.answered", "200 with an array of Pet 404")
    .by(AtHttp.responses({ to: Requests.isList }, ifEmpty(Edit.status(404)))),
  fault("list.empty-null", "Returns null when no animal matches.")
    .breaks("list.empty", "list.answered", "not a bare array: null")
    .by(Lists.changesAnimals((animals) => (animals.length === 0 ? null : animals))),
  fault("list.empty-204", "Returns 204 without a body when no animal matches.")
    .breaks("list.empty", "list.answered", "200 with an array of Pet 204")
    .by(AtHttp.responses({ to: Requests.isList }, ifEmpty(Edit.replace(204, "")))),
  fault("list.wrapped", "Wraps the array of a list in an object.")
    .breaks("list.array", "list.answered", 'not a bare array: {"pets":[')
    .by(Lists.changesAnimals((animals) => ({ pets: animals, total: animals.length }))),
  fault("list.single-unwrapped", "Returns an object instead of an array for a list of one animal.")
    .breaks("list.array", "list.limit.accepted", 'not a bare array: {"id":')
    .by(Lists.changesAnimals((animals) => (animals.length === 1 ? animals[0] : animals))),
  fault("list.omits-category", "Lists animals without their category.")
    .breaks("list.faithful", "catalogue.faithful", "categoryId is not an int64: absent")
    .by(Lists.changesAnimals((animals) => animals.map(({ id, name, status }) => ({ id, name, status })))),
  fault("list.partial-206", "Returns 206 for a list with a next page.")
    .breaks(
      "list.status-200",
      "list.limit.accepted",
      "200 with a bare array of animals to /v1/pets?limit=1 206"
    )
    .by(
      AtHttp.responses({ to: Requests.isList }, (response) =>
        header(response, "link") === undefined ? response : Edit.status(206)(response)
      )
    ),
  fault("list.digits-lost", "Converts categories to doubles in lists, so that large ones lose digits.")
    .breaks("create.int64-exact", "catalogue.category-exact", "categoryId 4611686018427387904")
    .by(
      Lists.changesAnimals((animals) =>
        animals.map((animal) => ({
          ...animal,
          categoryId: BigInt(Math.min(Number(animal.categoryId), 2 ** 62))
        }))
      )
    ),
  fault("list.duplicates", "Lists the first animal twice if the limit allows it.")
    .breaks("pets.page.order", "list.distinct", "in a list twice {id")
    .by(
      AtPort.pets(PetStores.changingPage((pets, { limit }) => [...pets.slice(0, 1), ...pets].slice(0, limit)))
    ),
  fault("list.joined-rows", "Lists each animal once for every animal of its category, as a wrong join does.")
    .breaks("list.distinct", "list.distinct", "in a list twice {id")
    .by(
      AtHttp.pets(
        PetStores.changingPage((pets, { limit }) =>
          pets
            .flatMap((pet) => pets.filter(({ categoryId }) => categoryId === pet.categoryId).map(() => pet))
            .slice(0, limit)
        )
      )
    ),
  fault("list.invents", "Adds an animal that was never created to a list that is shorter than its limit.")
    .breaks("pets.page.exact", "catalogue.model", 'name "Specimen"')
    .by(
      AtPort.pets(
        PetStores.changingPage((pets, { limit, status = "sold" }) =>
          pets.length < limit
            ? [...pets, new Pet(9_999n, { name: "Specimen", categoryId: 1n, status })]
            : pets
        )
      )
    ),
  fault("list.positions-for-ids", "Shows the position of an animal in the list instead of its id.")
    .breaks("pets.page.exact", "catalogue.model", "under its id 1 {id 100")
    .by(
      AtPort.pets(
        PetStores.changingPage((pets) => pets.map((pet, index) => new Pet(BigInt(index + 100), pet)))
      )
    ),
  fault("list.names-shifted", "Lists each animal with the name of the previous one.")
    .breaks("pets.page.exact", "catalogue.model", "a list to show the animal")
    .by(
      AtPort.pets(
        PetStores.changingPage((pets) =>
          pets.map((pet, index) => new Pet(pet.id, { ...pet, name: pets[index - 1]?.name ?? pet.name }))
        )
      )
    ),
  fault("list.stale-status", "Shows every animal as available in lists without a filter.")
    .breaks("resources.status-stable", "catalogue.status-kept", "to show it as pending available")
    .by(
      Lists.changesAnimals((animals, request) =>
        Requests.parameters(request).has("status")
          ? animals
          : animals.map((animal) => ({ ...animal, status: "available" }))
      )
    ),
  fault("list.retrieved-as-available", "Shows every animal as available when it is retrieved by id.")
    .breaks("pets.find.exact", "catalogue.status-kept", "to show it as pending available")
    .by(
      AtPort.pets(
        PetStores.changingFound(Option.map((pet) => new Pet(pet.id, { ...pet, status: "available" })))
      )
    ),
  fault("list.newest-first", "Lists the newest animal first.")
    .breaks("pets.page.order", "list.order", "ascending id ids 3, 2, 1")
    .by(AtPort.pets(PetStores.changingPage((pets) => pets.toReversed()))),
  fault("list.unstable-order", "Lists animals in a different order each time.")
    .breaks("list.order", "list.order", "by ascending id ids")
    .by(
      AtHttp.transport((real) => {
        let turn = 0
        const rotate = Lists.edit((animals) => {
          const at = turn++ % Math.max(animals.length, 1)
          return [...animals.slice(at), ...animals.slice(0, at)]
        })
        return (request) =>
          Effect.map(real(request), (response) => (Requests.isList(request) ? rotate(response) : response))
      })
    ),
  fault("list.ids-as-text", "Sorts ids as text, so that 10 comes before 9.")
    .breaks("pets.page.order", "list.order", "ascending id ids 1, 10, 2")
    .by(
      AtPort.pets(PetStores.changingPage((pets) => pets.toSorted((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1))))
    )
]
