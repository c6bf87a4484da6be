/** Defines repositories with faults in inserts, ids, lookups or failures. */
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Option from "effect/Option"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import type { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import { type Fault, fault, type Spoil, type Where } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as LeakyLock from "../spoilers/LeakyLock.ts"
import * as PetStores from "../spoilers/PetStores.ts"

const changingInserted = flow(PetStores.changingInserted, AtPort.pets)
const replacingInsert = flow(PetStores.replacingInsert, AtPort.pets)
const replacingFind = flow(PetStores.replacingFind, AtPort.pets)
/** Changes the id before the lookup. */
const changingId = (change: (id: bigint) => bigint): Where =>
  replacingFind((id, real) => real.find(change(id)))

/** Renumbers animals with `outside`; `inside` maps their ids back. */
const renumbering = (outside: (id: bigint) => bigint, inside: (id: bigint) => bigint): Where =>
  AtPort.pets((real) => {
    const renumbered = (pet: Pet): Pet => new Pet(outside(pet.id), pet)
    return {
      insert: (pet) => Effect.map(real.insert(pet), renumbered),
      find: (id) => Effect.map(real.find(inside(id)), Option.map(renumbered)),
      page: ({ after, ...query }) =>
        Effect.map(real.page({ ...query, after: after === undefined ? undefined : inside(after) }), (page) =>
          page.map(renumbered)
        )
    }
  })

/** Inserts an animal with a placeholder for its name, and sets the name in a second step. */
const insertsInTwoSteps: Spoil<PetStores.Pets> = (real) => {
  const complete = new Map<bigint, Pet>()
  const seen = (pet: Pet): Pet => complete.get(pet.id) ?? pet
  return {
    insert: (pet) =>
      Effect.gen(function* () {
        const { id } = yield* real.insert({ ...pet, name: "?" })
        yield* Effect.yieldNow
        const whole = new Pet(id, pet)
        complete.set(id, whole)
        return whole
      }),
    find: (id) => Effect.map(real.find(id), Option.map(seen)),
    page: (query) => Effect.map(real.page(query), (page) => page.map(seen))
  }
}

/** Runs `failure` instead of inserting some animals. */
const failingFor = (
  isAffected: (pet: NewPet) => boolean,
  failure: Effect.Effect<never, StoreUnavailable>
): Where => replacingInsert((pet, real) => (isAffected(pet) ? failure : real.insert(pet)))

export const faults: ReadonlyArray<Fault> = [
  fault(
    "pets.name-without-emoji",
    "Replaces characters above U+FFFF in an inserted name with a question mark."
  )
    .breaks("pets.insert.names")
    .by(changingInserted(({ name }) => ({ name: name.replace(/[\u{10000}-\u{10ffff}]/gu, "?") }))),
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
        Effect.map(real.page(PetStores.everything), (all) => {
          const slot = all.filter((pet) => pet.id % 30n === id % 30n)
          return all.some((pet) => pet.id === id) ? Option.fromUndefinedOr(slot.at(-1)) : Option.none()
        })
      )
    ),
  fault("pets.quote-dies", "Inserts names into SQL without escaping, so that a quote causes a defect.")
    .breaks("pets.insert.names")
    .by(failingFor(({ name }) => name.includes("'"), Effect.die(new Error("syntax error at end of input")))),
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
  fault("pets.id-zero", "Assigns ids from 0.")
    .breaks("pets.insert.id-positive")
    .by(
      renumbering(
        (id) => id - 1n,
        (id) => id + 1n
      )
    ),
  fault("pets.find-late", "Finds an animal only after the next insert.")
    .breaks("pets.find.sees-insert")
    .by(
      replacingFind((id, real) =>
        Effect.map(Effect.all([real.find(id), real.page(PetStores.everything)]), ([found, all]) =>
          Option.filter(found, () => id !== all.at(-1)?.id)
        )
      )
    ),
  fault("pets.find-caches-misses", "Caches that an id was not found.")
    .breaks("pets.find.sees-insert")
    .by(
      AtPort.pets((real) => {
        const missing = new Set<bigint>()
        return {
          ...real,
          find: (id) =>
            missing.has(id)
              ? Effect.succeed(Option.none())
              : Effect.tap(real.find(id), (found) =>
                  Effect.sync(() => (Option.isNone(found) ? missing.add(id) : undefined))
                )
        }
      })
    ),
  fault("pets.find-unsigned", "Drops the sign of the id in a lookup.")
    .breaks("pets.find.none")
    .by(changingId((id) => (id < 0n ? -id : id))),
  fault("pets.find-huge-dies", "Dies on ids that its driver cannot bind.")
    .breaks("pets.find.none")
    .by(
      replacingFind((id, real) =>
        Number.isSafeInteger(Number(id)) ? real.find(id) : Effect.die(new RangeError("integer out of range"))
      )
    ),
  fault(
    "pets.interrupted-half",
    "Inserts an animal in two steps; an interruption between them loses its name."
  )
    .breaks("pets.interruption")
    .by(AtPort.pets(insertsInTwoSteps)),
  fault("pets.interrupted-locked", "Does not release its lock when an insert is interrupted.")
    .breaks("pets.interruption")
    .by(
      AtPort.pets((real) => {
        const guarded = LeakyLock.make()
        return { ...real, insert: (pet) => guarded(real.insert(pet)) }
      })
    ),
  fault("pets.outage-dies", "Dies in `find` when its backend does not respond.")
    .breaks("pets.fails-typed")
    .by(replacingFind((id, real) => Effect.orDie(real.find(id)))),
  fault("pets.outage-raw", "Fails with the error of its driver when its backend does not respond.")
    .breaks("pets.fails-typed")
    .by(
      // TypeScript rejects this error, but an adapter in JavaScript can fail with it.
      replacingInsert((pet, real) =>
        Effect.mapError(real.insert(pet), () => new Error("ECONNREFUSED") as never)
      )
    )
]
