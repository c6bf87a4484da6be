/** Defines faults that list the wrong animals, or list them in the wrong form or order. */
import * as Effect from "effect/Effect"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

const ifEmpty =
  (edit: Edit.Edit): Edit.Edit =>
  (response, ...sent) =>
    Edit.animalsOf(response)?.length === 0 ? edit(response, ...sent) : response

export const faults: ReadonlyArray<Fault> = [
  fault("list.filter-after-limit", "Applies the filter after the limit.")
    .breaks("list.status.before-limit")
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
    .breaks("list.status.before-limit")
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
    .breaks("list.status.filter")
    .by(Lists.readsStatus((status) => (PetStatus.is(status) || status === "" ? undefined : null))),
  fault("list.status-wildcards", "Compares the status with LIKE, so that % and _ are wildcards.")
    .breaks("list.status.filter")
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
    .breaks("list.status.filter")
    .by(Lists.readsStatus((status) => (/' or '/i.test(status) ? null : undefined))),
  fault("list.empty-404", "Returns 404 when no animal matches.")
    .breaks("list.empty")
    .by(AtHttp.responses({ to: Requests.isList }, ifEmpty(Edit.status(404)))),
  fault("list.joined-rows", "Lists each animal once for every animal of its category, as a wrong join does.")
    .breaks("list.distinct")
    .by(
      AtHttp.pets(
        PetStores.changingPage((pets, { limit }) =>
          pets
            .flatMap((pet) => pets.filter(({ categoryId }) => categoryId === pet.categoryId).map(() => pet))
            .slice(0, limit)
        )
      )
    ),
  fault("list.unstable-order", "Lists animals in a different order each time.")
    .breaks("list.order")
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
    )
]
