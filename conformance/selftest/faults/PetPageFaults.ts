/** Defines repositories with faulty pages of animals. */
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import { Pet } from "../../../core/domain/Pet.ts"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as PetStores from "../spoilers/PetStores.ts"

const changingQuery = flow(PetStores.changingQuery, AtPort.pets)
const changingPage = flow(PetStores.changingPage, AtPort.pets)
const replacingPage = flow(PetStores.replacingPage, AtPort.pets)

export const faults: ReadonlyArray<Fault> = [
  fault("pets.page-newest-first", "Lists the newest animals of the page first.")
    .breaks("pets.page.order", "pets.page-order", "next on the page")
    .by(changingPage((page) => page.toReversed())),
  fault("pets.page-by-status", "Lists animals by status and then by id.")
    .breaks("pets.page.order", "pets.page-order", "next on the page")
    .by(changingPage((page) => page.toSorted((a, b) => a.status.localeCompare(b.status)))),
  fault("pets.page-twice", "Lists the last animal of a page twice.")
    .breaks("pets.page.order", "pets.page-order", "next on the page")
    .by(changingPage((page) => [...page, ...page.slice(-1)])),
  fault("pets.after-inclusive", "Includes the animal with the id `after`.")
    .breaks("pets.page.after", "pets.page-after", "above 4 the id 4")
    .by(changingQuery(({ after }) => ({ after: after === undefined ? undefined : after - 1n }))),
  fault("pets.after-ignored", "Ignores `after`.")
    .breaks("pets.page.after", "pets.page-after", "above 4 the id 1")
    .by(changingQuery(() => ({ after: undefined }))),
  fault("pets.after-32-bits", "Truncates `after` to 32 bits.")
    .breaks("pets.page.after", "pets.page-after", "2147483648 the id 1")
    .by(
      changingQuery(({ after }) => ({ after: after === undefined ? undefined : BigInt.asIntN(32, after) }))
    ),
  fault("pets.after-huge-fails", "Fails when `after` is the greatest int64, because it adds one.")
    .breaks("pets.page.first", "pets.page-after", "StoreUnavailable")
    .by(
      replacingPage((query, real) =>
        query.after === 2n ** 63n - 1n
          ? Effect.fail(new StoreUnavailable({ retryable: false, cause: new Error("bigint out of range") }))
          : real.page(query)
      )
    ),
  fault("pets.after-skips-one", "Begins a page at the second animal after `after`.")
    .breaks("pets.page.first", "pets.page-first", "on the page: {id")
    .by(changingQuery(({ after }) => ({ after: after === undefined ? undefined : after + 1n }))),
  fault("pets.after-null", "Treats an absent `after` as 1, so that the first animal is missing.")
    .breaks("pets.page.undefined", "pets.page-first", "on the page: {id")
    .by(changingQuery(({ after = 1n }) => ({ after }))),
  fault("pets.limit-plus-one", "Lists one animal more than the limit.")
    .breaks("pets.page.limit", "pets.page-limit", "at most 1 animals 2 animals")
    .by(changingQuery(({ limit }) => ({ limit: limit + 1 }))),
  fault("pets.limit-ignored", "Ignores the limit when a status is given.")
    .breaks("pets.page.limit", "pets.page-limit", "at most 2 animals 3 animals")
    .by(
      changingQuery(({ limit, status }) => ({
        limit: status === undefined ? limit : PetStores.everything.limit
      }))
    ),
  fault("pets.limit-capped", "Lists at most 100 animals, so that the service cannot detect a page after 100.")
    .breaks("pets.page.full", "pets.page-first", "on the page: {id")
    .by(changingQuery(({ limit }) => ({ limit: Math.min(limit, 100) }))),
  fault("pets.limit-minus-one", "Lists one animal fewer than the limit.")
    .breaks("pets.page.full", "pets.page-first", "on the page: {id")
    .by(changingQuery(({ limit }) => ({ limit: limit - 1 }))),
  fault("pets.status-ignored-after", "Ignores the status when `after` is given.")
    .breaks("pets.page.status", "pets.page-status", "available one that is")
    .by(changingQuery(({ after, status }) => ({ status: after === undefined ? status : undefined }))),
  fault("pets.status-ignored", "Ignores the status.")
    .breaks("pets.page.status", "pets.page-status", "available one that is")
    .by(changingQuery(() => ({ status: undefined }))),
  fault("pets.status-up-to", "Includes animals whose status is alphabetically before the given one.")
    .breaks("pets.page.status", "pets.page-status", "pending one that is")
    .by(
      replacingPage(({ after, limit, status }, real) =>
        Effect.map(real.page({ ...PetStores.everything, after }), (page) =>
          page.filter((pet) => status === undefined || pet.status <= status).slice(0, limit)
        )
      )
    ),
  fault("pets.status-after-limit", "Applies the status after the limit.")
    .breaks("pets.page.full", "pets.page-first", "on the page: {id")
    .by(
      replacingPage(({ status, ...query }, real) =>
        Effect.map(real.page({ ...query, status: undefined }), (page) =>
          page.filter((pet) => status === undefined || pet.status === status)
        )
      )
    ),
  fault("pets.status-null", "Lists available animals when no status is given.")
    .breaks("pets.page.undefined", "pets.page-first", "on the page: {id")
    .by(changingQuery(({ status = "available" }) => ({ status }))),
  fault("pets.page-late", "Lists an animal only after the next insert.")
    .breaks("pets.page.sees-insert", "pets.page-first", "on the page: {id")
    .by(
      replacingPage((query, real) =>
        Effect.map(Effect.all([real.page(query), real.page(PetStores.everything)]), ([page, all]) =>
          page.filter(({ id }) => id !== all.at(-1)?.id)
        )
      )
    ),
  fault("pets.page-without-category", "Lists every animal with category 0.")
    .breaks("pets.page.exact", "pets.page-first", ", categoryId 0, available}")
    .by(changingPage((page) => page.map((pet) => new Pet(pet.id, { ...pet, categoryId: 0n })))),
  fault("pets.page-live", "Returns its own array, which later inserts change.")
    .breaks("pets.page.kept", "pets.page-kept", "as it was returned: none {id")
    .by(
      AtPort.pets((real) => {
        const live: Array<Pet> = []
        return {
          ...real,
          insert: (pet) => Effect.tap(real.insert(pet), (inserted) => Effect.sync(() => live.push(inserted))),
          page: (query) =>
            query.status === undefined && query.after === undefined && query.limit >= live.length
              ? Effect.succeed(live)
              : real.page(query)
        }
      })
    )
]
