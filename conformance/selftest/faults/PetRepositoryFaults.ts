/** Faulty repositories, at least one for each law of the port. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import type { PageQuery } from "../../../core/domain/Page.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import { lostUpdate, type Pets, stale } from "../spoilers/RacyStores.ts"

/** Changes fields of an animal before it is stored and returned. */
const changingInserted = (change: (pet: NewPet) => Partial<NewPet>): Where =>
  AtPort.pets((real) => ({ insert: (pet) => real.insert({ ...pet, ...change(pet) }) }))

const replacingFind = (find: (id: bigint, real: Pets) => ReturnType<Pets["find"]>): Where =>
  AtPort.pets((real) => ({ find: (id) => find(id, real) }))

/** Changes the query of a page. */
const changingQuery = (change: (query: PageQuery) => Partial<PageQuery>): Where =>
  AtPort.pets((real) => ({ page: (query) => real.page({ ...query, ...change(query) }) }))

const changingPage = (change: (pets: ReadonlyArray<Pet>) => ReadonlyArray<Pet>): Where =>
  AtPort.pets((real) => ({ page: (query) => Effect.map(real.page(query), change) }))

/** Renumbers animals with `outside`; `inside` maps their ids back. */
const renumbering = (outside: (id: bigint) => bigint, inside: (id: bigint) => bigint): Where => ({
  at: "port",
  pets: (real) => {
    const renumbered = (pet: Pet): Pet => new Pet(outside(pet.id), pet)
    return {
      insert: (pet) => Effect.map(real.insert(pet), renumbered),
      find: (id) => Effect.map(real.find(inside(id)), Option.map(renumbered)),
      page: ({ after, ...query }) =>
        Effect.map(real.page({ ...query, after: after === undefined ? undefined : inside(after) }), (page) =>
          page.map(renumbered)
        )
    }
  }
})

export const faults: ReadonlyArray<Fault> = [
  fault("pets.name-normalized", "Normalizes the name of an inserted animal to Unicode NFC.")
    .breaks("pets.insert.names")
    .by(changingInserted(({ name }) => ({ name: name.normalize("NFC") }))),
  fault("pets.category-rounded", "Rounds the category of an inserted animal to a double.")
    .breaks("pets.insert.int64")
    .by(changingInserted(({ categoryId }) => ({ categoryId: BigInt(Number(categoryId)) }))),
  fault("pets.status-dropped", "Stores every inserted animal as available.")
    .breaks("pets.insert.exact")
    .by(changingInserted(() => ({ status: "available" }))),
  fault(
    "pets.overwritten",
    "Stores animals in 30 slots, and finds the latest animal of a slot instead of an older one."
  )
    .breaks("pets.find.exact")
    .by(
      replacingFind((id, real) =>
        Effect.map(
          real.page({ limit: Number.MAX_SAFE_INTEGER, status: undefined, after: undefined }),
          (all) => {
            const slot = all.filter((pet) => pet.id % 30n === id % 30n)
            return all.some((pet) => pet.id === id) ? Option.fromUndefinedOr(slot.at(-1)) : Option.none()
          }
        )
      )
    ),
  fault("pets.quote-dies", "Inserts names into SQL without escaping, so that a quote causes a defect.")
    .breaks("pets.insert.exact")
    .by(
      AtPort.pets((real) => ({
        insert: (pet) =>
          pet.name.includes("'") ? Effect.die(new Error("syntax error at end of input")) : real.insert(pet)
      }))
    ),
  fault("pets.id-reused", "Assigns the ids 1 to 7 repeatedly.")
    .breaks("pets.insert.id-never-reused")
    .by(
      renumbering(
        (id) => ((id - 1n) % 7n) + 1n,
        (id) => id
      )
    ),
  fault("pets.id-decreasing", "Assigns ids downwards from a million.")
    .breaks("pets.insert.id-increasing")
    .by(
      renumbering(
        (id) => 1_000_000n - id,
        (id) => 1_000_000n - id
      )
    ),
  fault("pets.find-unsigned", "Drops the sign of the id in a lookup.")
    .breaks("pets.find.none")
    .by(replacingFind((id, real) => real.find(id < 0n ? -id : id))),
  fault("pets.find-huge-dies", "Dies on ids that its driver cannot bind.")
    .breaks("pets.find.none")
    .by(
      replacingFind((id, real) =>
        Number.isSafeInteger(Number(id)) ? real.find(id) : Effect.die(new RangeError("integer out of range"))
      )
    ),
  fault("pets.interrupted-locked", "Does not release its lock when an insert is interrupted.")
    .breaks("pets.interruption")
    .by(
      AtPort.pets((real) => {
        const guarded = AtPort.leakyLock()
        return { insert: (pet) => guarded(real.insert(pet)) }
      })
    ),
  fault("pets.outage-dies", "Dies in `find` when its backend does not respond.")
    .breaks("pets.fails-typed")
    .by(replacingFind((id, real) => Effect.orDie(real.find(id)))),
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
  fault("pets.after-null", "Treats an absent `after` as 1, so that the first animal is missing.")
    .breaks("pets.page.undefined")
    .by(changingQuery(({ after = 1n }) => ({ after }))),
  fault("pets.limit-capped", "Lists at most 100 animals, so that the service cannot detect a page after 100.")
    .breaks("pets.page.full")
    .by(changingQuery(({ limit }) => ({ limit: Math.min(limit, 100) }))),
  fault("pets.status-ignored-after", "Ignores the status when `after` is given.")
    .breaks("pets.page.status")
    .by(changingQuery(({ after, status }) => ({ status: after === undefined ? status : undefined }))),
  fault("pets.page-without-category", "Lists every animal with category 0.")
    .breaks("pets.page.exact")
    .by(changingPage((page) => page.map((pet) => new Pet(pet.id, { ...pet, categoryId: 0n })))),
  fault("pets.once-always", "Ignores the idempotency key, and inserts an animal for each request.")
    .breaks("pets.once")
    .by(
      AtPort.pets((real) => ({
        insertOnce: (pet) => Effect.map(real.insert(pet), (stored) => ({ _tag: "Inserted", pet: stored }))
      }))
    ),
  fault("pets.lost-update", "Reads all animals and writes them back with the new one, so that one is lost.")
    .breaks("pets.insert.concurrent")
    .by({ at: "port", pets: lostUpdate(Effect.yieldNow) }),
  fault("pets.write-back", "Reads all animals and writes them back in a second step, without yielding.")
    .breaks("pets.insert.concurrent")
    // Effect runs `Effect.void` without a step of its own.
    .by({ at: "port", pets: lostUpdate(Effect.sync(() => {})) }),
  fault("pets.stale", "Reads from a copy that is refreshed on every second read.")
    .breaks("pets.page.sees-insert")
    .by({ at: "port", pets: stale(2) })
]
