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
  fault("pets.page-by-status", "Lists animals by status and then by id.")
    .breaks("pets.page.order")
    .by(changingPage((page) => page.toSorted((a, b) => a.status.localeCompare(b.status)))),
  fault("pets.after-inclusive", "Includes the animal with the id `after`.")
    .breaks("pets.page.after")
    .by(changingQuery(({ after }) => ({ after: after === undefined ? undefined : after - 1n }))),
  fault("pets.after-32-bits", "Truncates `after` to 32 bits.")
    .breaks("pets.page.after")
    .by(
      changingQuery(({ after }) => ({ after: after === undefined ? undefined : BigInt.asIntN(32, after) }))
    ),
  fault("pets.after-huge-fails", "Fails when `after` is the greatest int64, because it adds one.")
    .breaks("pets.page.after")
    .by(
      replacingPage((query, real) =>
        query.after === 2n ** 63n - 1n
          ? Effect.fail(new StoreUnavailable({ retryable: false, cause: new Error("bigint out of range") }))
          : real.page(query)
      )
    ),
  fault("pets.after-null", "Treats an absent `after` as 1, so that the first animal is missing.")
    .breaks("pets.page.undefined")
    .by(changingQuery(({ after = 1n }) => ({ after }))),
  fault("pets.limit-ignored", "Ignores the limit when a status is given.")
    .breaks("pets.page.limit")
    .by(
      changingQuery(({ limit, status }) => ({
        limit: status === undefined ? limit : PetStores.everything.limit
      }))
    ),
  fault("pets.limit-capped", "Lists at most 100 animals, so that the service cannot detect a page after 100.")
    .breaks("pets.page.full")
    .by(changingQuery(({ limit }) => ({ limit: Math.min(limit, 100) }))),
  fault("pets.status-ignored-after", "Ignores the status when `after` is given.")
    .breaks("pets.page.status")
    .by(changingQuery(({ after, status }) => ({ status: after === undefined ? status : undefined }))),
  fault("pets.status-null", "Lists available animals when no status is given.")
    .breaks("pets.page.undefined")
    .by(changingQuery(({ status = "available" }) => ({ status }))),
  fault("pets.page-without-category", "Lists every animal with category 0.")
    .breaks("pets.page.exact")
    .by(changingPage((page) => page.map((pet) => new Pet(pet.id, { ...pet, categoryId: 0n })))),
  fault("pets.page-live", "Returns its own array, which later inserts change.")
    .breaks("pets.page.kept")
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
