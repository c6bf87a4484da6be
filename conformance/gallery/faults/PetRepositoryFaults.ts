/** Backends with a fault in: PetRepository. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { NewPet } from "../../../core/domain/NewPet.ts"
import type { PageQuery } from "../../../core/domain/Page.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import type { Fault, Spoil } from "../Fault.ts"
import * as LeakyLock from "./LeakyLock.ts"

type Pets = PetRepository["Service"]

const everything = { limit: Number.MAX_SAFE_INTEGER, status: undefined, after: undefined } as const

/** Stores something else than it was given, and says so. */
const storing =
  (change: (pet: NewPet) => Partial<NewPet>): Spoil<Pets> =>
  (real) => ({ ...real, insert: (pet) => real.insert({ ...pet, ...change(pet) }) })

/** Asks for another page than it was asked for. */
const asking =
  (change: (query: PageQuery) => Partial<PageQuery>): Spoil<Pets> =>
  (real) => ({ ...real, page: (query) => real.page({ ...query, ...change(query) }) })

/** Answers with another page than there is. */
const answering =
  (change: (page: ReadonlyArray<Pet>, query: PageQuery) => ReadonlyArray<Pet>): Spoil<Pets> =>
  (real) => ({
    ...real,
    page: (query) => Effect.map(real.page(query), (page) => change(page, query))
  })

/** Looks for another id than it was asked for. */
const looking =
  (change: (id: bigint) => bigint): Spoil<Pets> =>
  (real) => ({ ...real, find: (id) => real.find(change(id)) })

/** Gives other ids. */
const numbering =
  (outside: (id: bigint) => bigint, inside: (id: bigint) => bigint): Spoil<Pets> =>
  (real) => {
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

/** Counts the animals, and only later inserts one under the next number. */
const counting =
  (pause: Effect.Effect<void>): Spoil<Pets> =>
  (real) => ({
    ...real,
    insert: (pet) =>
      Effect.gen(function* () {
        const before = yield* real.page(everything)
        yield* pause
        yield* real.insert(pet)
        return new Pet(BigInt(before.length + 1), pet)
      })
  })

/** Inserts an animal without its name, which comes a moment later. */
const inTwoSteps: Spoil<Pets> = (real) => {
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

const refusing =
  (isRefused: (pet: NewPet) => boolean, refusal: Effect.Effect<never, StoreUnavailable>): Spoil<Pets> =>
  (real) => ({ ...real, insert: (pet) => (isRefused(pet) ? refusal : real.insert(pet)) })

const port = (
  id: string,
  does: string,
  breaks: Fault["breaks"],
  killedBy: string,
  words: string,
  pets: Spoil<Pets>
): Fault => ({ id, does, breaks, killedBy, words, where: { at: "port", pets } })

export const faults: ReadonlyArray<Fault> = [
  // what is stored
  port(
    "pets.name-lower-case",
    "Stores names in lower case.",
    "pets.insert.names",
    "pets.insert",
    'name "rex", categoryId 0, pending',
    storing(({ name }) => ({ name: name.toLowerCase() }))
  ),
  port(
    "pets.name-trimmed",
    "Takes spaces off the end of names.",
    "pets.insert.names",
    "pets.insert",
    'name "rex", categoryId 1, sold',
    storing(({ name }) => ({ name: name.replace(/ +$/, "") }))
  ),
  port(
    "pets.name-without-emoji",
    "Replaces characters beyond 16 bits by a question mark.",
    "pets.insert.names",
    "pets.insert",
    'name "?", categoryId 0, available',
    storing(({ name }) => ({ name: name.replace(/[\u{10000}-\u{10ffff}]/gu, "?") }))
  ),
  port(
    "pets.name-normalised",
    "Stores names in Unicode's composed form.",
    "pets.insert.names",
    "pets.insert",
    "the animal as given",
    storing(({ name }) => ({ name: name.normalize("NFC") }))
  ),
  port(
    "pets.name-cut",
    "Cuts names after 255 UTF-16 units, in the middle of a character.",
    "pets.insert.names",
    "pets.insert",
    "the animal as given",
    storing(({ name }) => ({ name: name.slice(0, 255) }))
  ),
  port(
    "pets.name-unescaped",
    "Doubles the backslashes of names.",
    "pets.insert.names",
    "pets.insert",
    "the animal as given",
    storing(({ name }) => ({ name: name.replaceAll("\\", "\\\\") }))
  ),
  port(
    "pets.category-rounded",
    "Keeps categories as floating point numbers.",
    "pets.insert.int64",
    "pets.insert",
    "categoryId 9007199254740992",
    storing(({ categoryId }) => ({ categoryId: BigInt(Number(categoryId)) }))
  ),
  port(
    "pets.category-32-bits",
    "Keeps categories in 32 bits.",
    "pets.insert.int64",
    "pets.insert",
    "categoryId -2147483648",
    storing(({ categoryId }) => ({ categoryId: BigInt.asIntN(32, categoryId) }))
  ),
  port(
    "pets.category-unsigned",
    "Loses the sign of categories.",
    "pets.insert.int64",
    "pets.insert",
    "categoryId 1, available",
    storing(({ categoryId }) => ({ categoryId: categoryId < 0n ? -categoryId : categoryId }))
  ),
  port(
    "pets.status-dropped",
    "Stores every animal as available.",
    "pets.insert.exact",
    "pets.insert",
    "categoryId 0, available",
    storing(() => ({ status: "available" }))
  ),
  port(
    "pets.stored-otherwise",
    "Answers with the animal as given, but keeps its name in upper case.",
    "pets.find.exact",
    "pets.find",
    'name "REX"',
    (real) => ({
      ...real,
      insert: (pet) =>
        Effect.map(real.insert({ ...pet, name: pet.name.toUpperCase() }), ({ id }) => new Pet(id, pet))
    })
  ),
  port(
    "pets.overwritten",
    "Keeps the latest animal under each of 30 ids and answers with it instead of older ones.",
    "pets.find.exact",
    "pets.find",
    "categoryId -1, available} {id",
    (real) => ({
      ...real,
      find: (id) =>
        Effect.gen(function* () {
          const all = yield* real.page(everything)
          const slot = all.filter((pet) => pet.id % 30n === id % 30n)
          return all.some((pet) => pet.id === id) ? Option.fromUndefinedOr(slot.at(-1)) : Option.none()
        })
    })
  ),
  port(
    "pets.quote-dies",
    "Puts names into its statements as they are: a quote is a syntax error, and a defect.",
    "pets.insert.names",
    "pets.insert",
    "a defect: Error: syntax error",
    refusing(({ name }) => name.includes("'"), Effect.die(new Error("syntax error at end of input")))
  ),
  port(
    "pets.emoji-refused",
    "Fails for names with characters beyond 16 bits.",
    "pets.insert.names",
    "pets.insert",
    "StoreUnavailable",
    refusing(
      ({ name }) => /[\u{10000}-\u{10ffff}]/u.test(name),
      Effect.fail(new StoreUnavailable({ retryable: false, cause: new Error("incorrect string value") }))
    )
  ),
  port(
    "pets.throws-at-once",
    "Throws when it is called with a category that its driver cannot bind, instead of failing.",
    "pets.insert.int64",
    "pets.insert",
    "a defect: RangeError: BigInt",
    (real) => ({
      ...real,
      insert: (pet) => {
        if (!Number.isSafeInteger(Number(pet.categoryId)))
          throw new RangeError("BigInt value is too large to bind")
        return real.insert(pet)
      }
    })
  ),

  // ids
  port(
    "pets.id-reused",
    "Gives the ids 1 to 7 over and over again.",
    "pets.insert.id-never-reused",
    "pets.ids",
    "the id 1",
    numbering(
      (id) => ((id - 1n) % 7n) + 1n,
      (id) => id
    )
  ),
  port(
    "pets.id-decreasing",
    "Counts ids down from a million.",
    "pets.insert.id-increasing",
    "pets.ids",
    "the id 999998",
    numbering(
      (id) => 1_000_000n - id,
      (id) => 1_000_000n - id
    )
  ),
  port(
    "pets.id-zero",
    "Counts ids from 0.",
    "pets.insert.id-positive",
    "pets.ids",
    "a positive id the id 0",
    numbering(
      (id) => id - 1n,
      (id) => id + 1n
    )
  ),
  port(
    "pets.id-wraps",
    "Lets ids run over the end of int64.",
    "pets.insert.id-increasing",
    "pets.ids",
    "the id -9223372036854775808",
    numbering(
      (id) => BigInt.asIntN(64, 2n ** 63n - 5n + id),
      (id) => BigInt.asIntN(64, id - 2n ** 63n + 5n)
    )
  ),
  port(
    "pets.id-raced",
    "Counts its animals, gives way, and inserts under the next number: two get the same id.",
    "pets.insert.concurrent",
    "pets.insert-at-once",
    "300 different ids 1",
    counting(Effect.yieldNow)
  ),
  port(
    "pets.id-raced-in-parallel",
    "Counts its animals, gives way, and inserts under the next number: answers that no order explains.",
    "pets.linearizable",
    "pets.parallel",
    "explains none for",
    counting(Effect.yieldNow)
  ),
  port(
    "pets.id-raced-closely",
    "Counts its animals and inserts under the next number in a second step, without giving way between.",
    "pets.linearizable",
    "pets.interleaved",
    "explains none for",
    counting(Effect.void)
  ),

  // find
  port(
    "pets.find-late",
    "Finds an animal only once another was inserted after it.",
    "pets.find.sees-insert",
    "pets.find",
    "available} none",
    (real) => ({
      ...real,
      find: (id) =>
        Effect.map(Effect.all([real.find(id), real.page(everything)]), ([found, all]) =>
          Option.filter(found, () => id !== all.at(-1)?.id)
        )
    })
  ),
  port(
    "pets.find-remembers-none",
    "Remembers that an id was not found.",
    "pets.find.sees-insert",
    "pets.find",
    "pending} none",
    (real) => {
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
    }
  ),
  port(
    "pets.find-by-category",
    "Looks for the id among the categories.",
    "pets.find.exact",
    "pets.find",
    "available} none",
    (real) => ({
      ...real,
      find: (id) =>
        Effect.map(real.page(everything), (all) =>
          Option.fromUndefinedOr(all.find(({ categoryId }) => categoryId === id))
        )
    })
  ),
  port(
    "pets.find-unsigned",
    "Loses the sign of the id that it looks for.",
    "pets.find.none",
    "pets.find-none",
    "the id -1: none {id 1",
    looking((id) => (id < 0n ? -id : id))
  ),
  port(
    "pets.find-32-bits",
    "Looks for the lower 32 bits of an id.",
    "pets.find.none",
    "pets.find-none",
    "4294967297: none {id",
    looking((id) => BigInt.asIntN(32, id))
  ),
  port(
    "pets.find-nearest",
    "Finds the first animal for ids below the first.",
    "pets.find.none",
    "pets.find-none",
    "the id -1: none {id",
    looking((id) => (id < 1n ? 1n : id))
  ),
  port(
    "pets.find-huge-dies",
    "Dies on ids that its driver cannot bind.",
    "pets.find.none",
    "pets.find-none",
    "a defect: RangeError: integer out of range",
    (real) => ({
      ...real,
      find: (id) =>
        Number.isSafeInteger(Number(id)) ? real.find(id) : Effect.die(new RangeError("integer out of range"))
    })
  ),

  // page
  port(
    "pets.page-newest-first",
    "Lists the newest animals of the page first.",
    "pets.page.order",
    "pets.page-order",
    "next on the page",
    answering((page) => page.toReversed())
  ),
  port(
    "pets.page-by-status",
    "Lists animals by status and then by id.",
    "pets.page.order",
    "pets.page-order",
    "next on the page",
    answering((page) => page.toSorted((one, other) => one.status.localeCompare(other.status)))
  ),
  port(
    "pets.page-twice",
    "Lists the last animal of a page twice.",
    "pets.page.order",
    "pets.page-order",
    "next on the page",
    answering((page) => [...page, ...page.slice(-1)])
  ),
  port(
    "pets.after-inclusive",
    "Lists the animal with the id `after`, too.",
    "pets.page.after",
    "pets.page-after",
    "above 4 the id 4",
    asking(({ after }) => ({ after: after === undefined ? undefined : after - 1n }))
  ),
  port(
    "pets.after-ignored",
    "Does not look at `after`.",
    "pets.page.after",
    "pets.page-after",
    "above 4 the id 1",
    asking(() => ({ after: undefined }))
  ),
  port(
    "pets.after-32-bits",
    "Looks at the lower 32 bits of `after`.",
    "pets.page.after",
    "pets.page-after",
    "2147483648 the id 1",
    asking(({ after }) => ({ after: after === undefined ? undefined : BigInt.asIntN(32, after) }))
  ),
  port(
    "pets.after-huge-refused",
    "Fails when `after` is the greatest int64, to which it adds one.",
    "pets.page.after",
    "pets.page-after",
    "StoreUnavailable",
    (real) => ({
      ...real,
      page: (query) =>
        query.after === 2n ** 63n - 1n
          ? Effect.fail(new StoreUnavailable({ retryable: false, cause: new Error("bigint out of range") }))
          : real.page(query)
    })
  ),
  port(
    "pets.after-skips-one",
    "Begins a page at the second animal after `after`.",
    "pets.page.first",
    "pets.page-first",
    "on the page: {id",
    asking(({ after }) => ({ after: after === undefined ? undefined : after + 1n }))
  ),
  port(
    "pets.after-null",
    "Takes an absent `after` for the first id.",
    "pets.page.undefined",
    "pets.page-first",
    "on the page: {id",
    asking(({ after = 1n }) => ({ after }))
  ),
  port(
    "pets.limit-plus-one",
    "Lists one animal more than the limit.",
    "pets.page.limit",
    "pets.page-limit",
    "at most 1 animals 2 animals",
    asking(({ limit }) => ({ limit: limit + 1 }))
  ),
  port(
    "pets.limit-ignored",
    "Does not look at the limit when a status is given.",
    "pets.page.limit",
    "pets.page-limit",
    "at most 2 animals 3 animals",
    asking(({ limit, status }) => ({ limit: status === undefined ? limit : everything.limit }))
  ),
  port(
    "pets.limit-capped",
    "Lists 100 animals at most, so that nobody learns whether there are more.",
    "pets.page.full",
    "pets.page-first",
    "on the page: {id",
    asking(({ limit }) => ({ limit: Math.min(limit, 100) }))
  ),
  port(
    "pets.limit-minus-one",
    "Lists one animal fewer than the limit.",
    "pets.page.full",
    "pets.page-first",
    "on the page: {id",
    asking(({ limit }) => ({ limit: limit - 1 }))
  ),
  port(
    "pets.status-ignored-after",
    "Does not look at the status when `after` is given.",
    "pets.page.status",
    "pets.page-status",
    "available one that is",
    asking(({ after, status }) => ({ status: after === undefined ? status : undefined }))
  ),
  port(
    "pets.status-ignored",
    "Does not look at the status.",
    "pets.page.status",
    "pets.page-status",
    "available one that is",
    asking(() => ({ status: undefined }))
  ),
  port(
    "pets.status-up-to",
    "Lists animals whose status comes before the given one in the alphabet, too, for the sake of an index.",
    "pets.page.status",
    "pets.page-status",
    "pending one that is",
    (real) => ({
      ...real,
      page: ({ after, limit, status }) =>
        Effect.map(real.page({ ...everything, after }), (page) =>
          page.filter((pet) => status === undefined || pet.status <= status).slice(0, limit)
        )
    })
  ),
  port(
    "pets.status-after-limit",
    "Takes animals of other statuses away once the page is full.",
    "pets.page.first",
    "pets.page-first",
    "on the page: {id",
    (real) => ({
      ...real,
      page: ({ status, ...query }) =>
        Effect.map(real.page({ ...query, status: undefined }), (page) =>
          page.filter((pet) => status === undefined || pet.status === status)
        )
    })
  ),
  port(
    "pets.status-null",
    "Lists available animals when no status is given.",
    "pets.page.undefined",
    "pets.page-first",
    "on the page: {id",
    asking(({ status = "available" }) => ({ status }))
  ),
  port(
    "pets.page-late",
    "Lists an animal only once another was inserted after it.",
    "pets.page.sees-insert",
    "pets.page-first",
    "on the page: {id",
    (real) => ({
      ...real,
      page: (query) =>
        Effect.map(Effect.all([real.page(query), real.page(everything)]), ([page, all]) =>
          page.filter(({ id }) => id !== all.at(-1)?.id)
        )
    })
  ),
  port(
    "pets.page-without-category",
    "Lists animals with the category 0.",
    "pets.page.exact",
    "pets.page-first",
    ", categoryId 0, available}",
    answering((page) => page.map((pet) => new Pet(pet.id, { ...pet, categoryId: 0n })))
  ),
  port(
    "pets.page-live",
    "Answers with its own array, which goes on growing.",
    "pets.page.kept",
    "pets.page-kept",
    "as it was answered: none {id",
    (real) => {
      const live: Array<Pet> = []
      return {
        ...real,
        insert: (pet) => Effect.tap(real.insert(pet), (inserted) => Effect.sync(() => live.push(inserted))),
        page: (query) =>
          query.status === undefined && query.after === undefined && query.limit >= live.length
            ? Effect.succeed(live)
            : real.page(query)
      }
    }
  ),
  port(
    "pets.case-folded-lookup",
    "Takes a name that differs in case only for the same animal and answers with the older one.",
    "pets.insert.exact",
    "pets.history",
    'pending} {id 1, name "rex"',
    (real) => ({
      ...real,
      insert: (pet) =>
        Effect.gen(function* () {
          const all = yield* real.page(everything)
          const same = all.find(({ name }) => name.toLowerCase() === pet.name.toLowerCase())
          return same ?? (yield* real.insert(pet))
        })
    })
  ),
  port(
    "pets.page-across",
    "Reads the animals of each status by themselves, one status after the other, and gives way between them.",
    "pets.linearizable",
    "pets.parallel",
    "explains none for",
    (real) => ({
      ...real,
      page: (query) =>
        Effect.gen(function* () {
          if (query.status !== undefined) return yield* real.page(query)
          const found: Array<Pet> = []
          for (const status of PetStatus.all) {
            found.push(...(yield* real.page({ ...query, status })))
            yield* Effect.yieldNow
          }
          return found.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, query.limit)
        })
    })
  ),
  port(
    "pets.half-inserted",
    "Inserts an animal in two steps: for a moment it is there without its name.",
    "pets.linearizable",
    "pets.parallel",
    'name "?", categoryId',
    inTwoSteps
  ),

  // interruption
  port(
    "pets.interrupted-half",
    "Inserts an animal in two steps: who is interrupted between them leaves it without its name.",
    "pets.interruption",
    "pets.interrupted",
    'name "?", categoryId',
    inTwoSteps
  ),
  port(
    "pets.interrupted-locked",
    "Keeps its lock when an insert is interrupted.",
    "pets.interruption",
    "pets.interrupted",
    "database is locked",
    (real) => {
      const guarded = LeakyLock.make()
      return { ...real, insert: (pet) => guarded(real.insert(pet)) }
    }
  ),
  port(
    "pets.interrupted-lost",
    "Acknowledges an insert before it is done, and forgets those that others were interrupted beside.",
    "pets.interruption",
    "pets.interrupted",
    "insert was acknowledged: {id",
    (real) => {
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
    }
  ),

  // outage
  port(
    "pets.outage-dies",
    "Dies when its backend does not answer.",
    "pets.fails-typed",
    "pets.outage",
    "a defect: StoreUnavailable",
    (real) => ({ ...real, find: (id) => Effect.orDie(real.find(id)) })
  ),
  port(
    "pets.outage-empty",
    "Lists nothing when its backend does not answer.",
    "pets.fails-typed",
    "pets.outage",
    "as if nothing were wrong",
    (real) => ({
      ...real,
      page: (query) => Effect.catch(real.page(query), () => Effect.succeed([]))
    })
  ),
  port(
    "pets.outage-none",
    "Finds nothing when its backend does not answer.",
    "pets.fails-typed",
    "pets.outage",
    "as if nothing were wrong",
    (real) => ({
      ...real,
      find: (id) => Effect.catch(real.find(id), () => Effect.succeed(Option.none()))
    })
  ),
  port(
    "pets.outage-raw",
    "Fails with the error of its driver when its backend does not answer.",
    "pets.fails-typed",
    "pets.outage",
    "no StoreUnavailable",
    (real) => ({
      ...real,
      // The type forbids it, which is why nobody notices in a language without types.
      insert: (pet) => Effect.mapError(real.insert(pet), () => new Error("ECONNREFUSED") as never)
    })
  ),
  port(
    "pets.outage-throws",
    "Throws when it is called while its backend does not answer.",
    "pets.fails-typed",
    "pets.outage",
    "a defect: Error: ECONNREFUSED",
    (real) => ({
      ...real,
      page: (query) =>
        Effect.catch(real.page(query), () => {
          throw new Error("ECONNREFUSED")
        })
    })
  ),
  port(
    "pets.outage-interrupts",
    "Interrupts who asks when its backend does not answer.",
    "pets.fails-typed",
    "pets.outage",
    "an interruption",
    (real) => ({ ...real, insert: (pet) => Effect.catch(real.insert(pet), () => Effect.interrupt) })
  )
]
