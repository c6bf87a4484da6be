/** Defines repositories with faults in inserts, ids, lookups or failures. */
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Option from "effect/Option"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import { type Fault, fault, type Spoil, type Where } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as LeakyLock from "../spoilers/LeakyLock.ts"
import * as PetStores from "../spoilers/PetStores.ts"

const changingInserted = flow(PetStores.changingInserted, AtPort.pets)
const replacingInsert = flow(PetStores.replacingInsert, AtPort.pets)
const replacingFind = flow(PetStores.replacingFind, AtPort.pets)
const replacingPage = flow(PetStores.replacingPage, AtPort.pets)

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

/** Counts the animals, and after a pause inserts one; the returned id is the count plus one. */
const countThenInsert = (pause: Effect.Effect<void>): Where =>
  replacingInsert((pet, real) =>
    Effect.gen(function* () {
      const before = yield* real.page(PetStores.everything)
      yield* pause
      yield* real.insert(pet)
      return new Pet(BigInt(before.length + 1), pet)
    })
  )

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
  fault("pets.name-lower-case", "Stores the name of an inserted animal in lower case.")
    .breaks("pets.insert.names", "pets.insert", 'name "rex", categoryId 0, pending')
    .by(changingInserted(({ name }) => ({ name: name.toLowerCase() }))),
  fault("pets.name-trimmed", "Removes trailing spaces from names.")
    .breaks("pets.insert.names", "pets.insert", 'name "rex", categoryId 1, sold')
    .by(changingInserted(({ name }) => ({ name: name.replace(/ +$/, "") }))),
  fault(
    "pets.name-without-emoji",
    "Replaces characters above U+FFFF in an inserted name with a question mark."
  )
    .breaks("pets.insert.names", "pets.insert", 'name "?", categoryId 0, available')
    .by(changingInserted(({ name }) => ({ name: name.replace(/[\u{10000}-\u{10ffff}]/gu, "?") }))),
  fault("pets.name-normalized", "Normalizes the name of an inserted animal to Unicode NFC.")
    .breaks("pets.insert.names", "pets.insert", "the animal as given")
    .by(changingInserted(({ name }) => ({ name: name.normalize("NFC") }))),
  fault("pets.name-cut", "Truncates names to 255 UTF-16 code units, which can split a character.")
    .breaks("pets.insert.names", "pets.insert", "the animal as given")
    .by(changingInserted(({ name }) => ({ name: name.slice(0, 255) }))),
  fault("pets.name-unescaped", "Doubles the backslashes of names.")
    .breaks("pets.insert.names", "pets.insert", "the animal as given")
    .by(changingInserted(({ name }) => ({ name: name.replaceAll("\\", "\\\\") }))),
  fault("pets.category-rounded", "Rounds the category of an inserted animal to a double.")
    .breaks("pets.insert.int64", "pets.insert", "categoryId 9007199254740992")
    .by(changingInserted(({ categoryId }) => ({ categoryId: BigInt(Number(categoryId)) }))),
  fault("pets.category-32-bits", "Truncates the category of an inserted animal to 32 bits.")
    .breaks("pets.insert.int64", "pets.insert", "categoryId -2147483648")
    .by(changingInserted(({ categoryId }) => ({ categoryId: BigInt.asIntN(32, categoryId) }))),
  fault("pets.category-unsigned", "Drops the sign of categories.")
    .breaks("pets.insert.int64", "pets.insert", "categoryId 1, available")
    .by(changingInserted(({ categoryId }) => ({ categoryId: categoryId < 0n ? -categoryId : categoryId }))),
  fault("pets.status-dropped", "Stores every inserted animal as available.")
    .breaks("pets.insert.exact", "pets.insert", "categoryId 0, available")
    .by(changingInserted(() => ({ status: "available" }))),
  fault("pets.stored-otherwise", "Returns the animal as given, but stores its name in upper case.")
    .breaks("pets.find.exact", "pets.find", 'name "REX"')
    .by(
      replacingInsert((pet, real) =>
        Effect.map(real.insert({ ...pet, name: pet.name.toUpperCase() }), ({ id }) => new Pet(id, pet))
      )
    ),
  fault(
    "pets.overwritten",
    "Stores animals in 30 slots, and finds the latest animal of a slot instead of an older one."
  )
    .breaks("pets.find.exact", "pets.find", "categoryId -1, available} {id")
    .by(
      replacingFind((id, real) =>
        Effect.map(real.page(PetStores.everything), (all) => {
          const slot = all.filter((pet) => pet.id % 30n === id % 30n)
          return all.some((pet) => pet.id === id) ? Option.fromUndefinedOr(slot.at(-1)) : Option.none()
        })
      )
    ),
  fault("pets.quote-dies", "Inserts names into SQL without escaping, so that a quote causes a defect.")
    .breaks("pets.insert.exact", "pets.insert", "a defect: Error: syntax error")
    .by(failingFor(({ name }) => name.includes("'"), Effect.die(new Error("syntax error at end of input")))),
  fault("pets.emoji-fails", "Fails for names with characters above U+FFFF.")
    .breaks("pets.insert.exact", "pets.insert", "StoreUnavailable")
    .by(
      failingFor(
        ({ name }) => /[\u{10000}-\u{10ffff}]/u.test(name),
        Effect.fail(new StoreUnavailable({ retryable: false, cause: new Error("incorrect string value") }))
      )
    ),
  fault("pets.throws-at-once", "Throws, instead of failing, for a category that its driver cannot bind.")
    .breaks("pets.insert.exact", "pets.insert", "a defect: RangeError: BigInt")
    .by(
      replacingInsert((pet, real) => {
        if (Number.isSafeInteger(Number(pet.categoryId))) return real.insert(pet)
        throw new RangeError("BigInt value is too large to bind")
      })
    ),
  fault("pets.id-reused", "Assigns the ids 1 to 7 repeatedly.")
    .breaks("pets.insert.id-never-reused", "pets.ids", "the id 1")
    .by(
      renumbering(
        (id) => ((id - 1n) % 7n) + 1n,
        (id) => id
      )
    ),
  fault("pets.id-decreasing", "Assigns ids downwards from a million.")
    .breaks("pets.insert.id-increasing", "pets.ids", "the id 999998")
    .by(
      renumbering(
        (id) => 1_000_000n - id,
        (id) => 1_000_000n - id
      )
    ),
  fault("pets.id-zero", "Assigns ids from 0.")
    .breaks("pets.insert.id-positive", "pets.ids", "a positive id the id 0")
    .by(
      renumbering(
        (id) => id - 1n,
        (id) => id + 1n
      )
    ),
  fault("pets.id-wraps", "Wraps ids past the end of int64.")
    .breaks("pets.insert.id-positive", "pets.ids", "the id -9223372036854775808")
    .by(
      renumbering(
        (id) => BigInt.asIntN(64, 2n ** 63n - 5n + id),
        (id) => BigInt.asIntN(64, id - 2n ** 63n + 5n)
      )
    ),
  fault(
    "pets.id-raced",
    "Counts its animals, yields, and returns the next number as the id, so that two inserts get the same id."
  )
    .breaks("pets.insert.concurrent", "pets.insert-at-once", "300 different ids 1")
    .by(countThenInsert(Effect.yieldNow)),
  fault(
    "pets.id-raced-in-parallel",
    "Counts its animals, yields, and inserts one, so that the results of parallel calls conflict."
  )
    .breaks("pets.linearizable", "pets.parallel", "no order of the calls explains")
    .by(countThenInsert(Effect.yieldNow)),
  fault(
    "pets.id-raced-closely",
    "Counts its animals and inserts one in a second step, without yielding between them."
  )
    .breaks("pets.linearizable", "pets.interleaved", "no order of the calls explains")
    .by(countThenInsert(Effect.void)),
  fault("pets.find-late", "Finds an animal only after the next insert.")
    .breaks("pets.find.sees-insert", "pets.find", "available} none")
    .by(
      replacingFind((id, real) =>
        Effect.map(Effect.all([real.find(id), real.page(PetStores.everything)]), ([found, all]) =>
          Option.filter(found, () => id !== all.at(-1)?.id)
        )
      )
    ),
  fault("pets.find-caches-misses", "Caches that an id was not found.")
    .breaks("pets.find.sees-insert", "pets.find", "pending} none")
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
  fault("pets.find-by-category", "Finds an animal by its category instead of its id.")
    .breaks("pets.find.exact", "pets.find", "available} none")
    .by(
      replacingFind((id, real) =>
        Effect.map(real.page(PetStores.everything), (all) =>
          Option.fromUndefinedOr(all.find(({ categoryId }) => categoryId === id))
        )
      )
    ),
  fault("pets.find-unsigned", "Drops the sign of the id in a lookup.")
    .breaks("pets.find.none", "pets.find-none", "the id -1: none {id 1")
    .by(changingId((id) => (id < 0n ? -id : id))),
  fault("pets.find-32-bits", "Searches for the lower 32 bits of an id.")
    .breaks("pets.find.none", "pets.find-none", "4294967297: none {id")
    .by(changingId((id) => BigInt.asIntN(32, id))),
  fault("pets.find-nearest", "Finds the first animal for ids below the first.")
    .breaks("pets.find.none", "pets.find-none", "the id -1: none {id")
    .by(changingId((id) => (id < 1n ? 1n : id))),
  fault("pets.find-huge-dies", "Dies on ids that its driver cannot bind.")
    .breaks("pets.find.none", "pets.find-none", "a defect: RangeError: integer out of range")
    .by(
      replacingFind((id, real) =>
        Number.isSafeInteger(Number(id)) ? real.find(id) : Effect.die(new RangeError("integer out of range"))
      )
    ),
  fault(
    "pets.case-folded-lookup",
    "Returns an older animal with the same name, in any letter case, instead of inserting a new one."
  )
    .breaks("pets.insert.exact", "pets.history", 'pending} {id 1, name "rex"')
    .by(
      replacingInsert((pet, real) =>
        Effect.flatMap(real.page(PetStores.everything), (all) => {
          const same = all.find(({ name }) => name.toLowerCase() === pet.name.toLowerCase())
          return same === undefined ? real.insert(pet) : Effect.succeed(same)
        })
      )
    ),
  fault("pets.page-across", "Reads the animals of each status separately, and yields between them.")
    .breaks("pets.linearizable", "pets.parallel", "no order of the calls explains")
    .by(
      replacingPage((query, real) =>
        Effect.gen(function* () {
          if (query.status !== undefined) return yield* real.page(query)
          const found: Array<Pet> = []
          for (const status of PetStatus.all) {
            found.push(...(yield* real.page({ ...query, status })))
            yield* Effect.yieldNow
          }
          return found.sort((a, b) => Number(a.id - b.id)).slice(0, query.limit)
        })
      )
    ),
  fault(
    "pets.half-inserted",
    "Inserts an animal in two steps; a read between them returns a placeholder for its name."
  )
    .breaks("pets.linearizable", "pets.parallel", 'name "?", categoryId')
    .by(AtPort.pets(insertsInTwoSteps)),
  fault(
    "pets.interrupted-half",
    "Inserts an animal in two steps; an interruption between them loses its name."
  )
    .breaks("pets.interruption", "pets.interrupted", 'name "?", categoryId')
    .by(AtPort.pets(insertsInTwoSteps)),
  fault("pets.interrupted-locked", "Does not release its lock when an insert is interrupted.")
    .breaks("pets.interruption", "pets.interrupted", "database is locked")
    .by(
      AtPort.pets((real) => {
        const guarded = LeakyLock.make()
        return { ...real, insert: (pet) => guarded(real.insert(pet)) }
      })
    ),
  fault("pets.interrupted-lost", "Loses the newest acknowledged animal when another insert is interrupted.")
    .breaks("pets.interruption", "pets.interrupted", "insert was acknowledged: {id")
    .by(
      AtPort.pets((real) => {
        const lost = new Set<bigint>()
        let newest = 0n
        return {
          ...real,
          insert: (pet) =>
            Effect.yieldNow.pipe(
              Effect.andThen(real.insert(pet)),
              Effect.tap(({ id }) => Effect.sync(() => (newest = id))),
              Effect.onInterrupt(() => Effect.sync(() => lost.add(newest)))
            ),
          page: (query) => Effect.map(real.page(query), (page) => page.filter(({ id }) => !lost.has(id)))
        }
      })
    ),
  fault("pets.outage-dies", "Dies in `find` when its backend does not respond.")
    .breaks("pets.fails-typed", "pets.outage", "a defect: StoreUnavailable")
    .by(replacingFind((id, real) => Effect.orDie(real.find(id)))),
  fault("pets.outage-empty", "Lists no animals when its backend does not respond.")
    .breaks("pets.fails-typed", "pets.outage", "as if nothing were wrong")
    .by(replacingPage((query, real) => Effect.catch(real.page(query), () => Effect.succeed([])))),
  fault("pets.outage-none", "Finds no animal when its backend does not respond.")
    .breaks("pets.fails-typed", "pets.outage", "as if nothing were wrong")
    .by(replacingFind((id, real) => Effect.catch(real.find(id), () => Effect.succeed(Option.none())))),
  fault("pets.outage-raw", "Fails with the error of its driver when its backend does not respond.")
    .breaks("pets.fails-typed", "pets.outage", "not StoreUnavailable")
    .by(
      // TypeScript rejects this error, but an adapter in JavaScript can fail with it.
      replacingInsert((pet, real) =>
        Effect.mapError(real.insert(pet), () => new Error("ECONNREFUSED") as never)
      )
    ),
  fault("pets.outage-throws", "Throws when its backend does not respond.")
    .breaks("pets.fails-typed", "pets.outage", "a defect: Error: ECONNREFUSED")
    .by(
      replacingPage((query, real) =>
        Effect.catch(real.page(query), () => {
          throw new Error("ECONNREFUSED")
        })
      )
    ),
  fault("pets.outage-interrupts", "Interrupts the caller when its backend does not respond.")
    .breaks("pets.fails-typed", "pets.outage", "an interruption")
    .by(replacingInsert((pet, real) => Effect.catch(real.insert(pet), () => Effect.interrupt)))
]
