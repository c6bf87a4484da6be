/** Provides unusual animals, recorded calls, and expected results for the laws of `PetRepository`. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as Int64 from "../../../core/domain/Int64.ts"
import { identity, type NewPet } from "../../../core/domain/NewPet.ts"
import type { PageQuery } from "../../../core/domain/Page.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import * as PetFields from "../../../core/domain/PetFields.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import { expect, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import * as PetJson from "../../http/PetJson.ts"
import { portCall } from "../../subjects/PortCall.ts"
import * as Texts from "./Texts.ts"

export type Pets = PetRepository["Service"]

const around = (boundary: bigint): ReadonlyArray<bigint> => [boundary - 1n, boundary, boundary + 1n]

/** The ends of int64, and integers that drivers may round, wrap or reject. */
export const boundaries: ReadonlyArray<bigint> = [
  ...[0n, 2n ** 31n, -(2n ** 31n), 2n ** 32n, 2n ** 53n, -(2n ** 53n)].flatMap(around),
  Int64.min,
  Int64.min + 1n,
  Int64.max - 1n,
  Int64.max
]

export const int64: fc.Arbitrary<bigint> = fc.oneof(
  fc.constantFrom(...boundaries),
  fc.bigInt({ min: Int64.min, max: Int64.max })
)

export const status: fc.Arbitrary<PetStatus.PetStatus> = fc.constantFrom(...PetStatus.all)

/** Generators of fields for which the examples of `PetFields` are not enough. */
const generators: { readonly [field in keyof NewPet]?: fc.Arbitrary<NewPet[field]> } = {
  name: Texts.text,
  categoryId: int64,
  status
}

export const newPet = fc.record(
  Object.fromEntries(
    PetFields.names.map((name) => [
      name,
      generators[name] ?? fc.constantFrom(...PetFields.fields[name].examples)
    ])
  ),
  { noNullPrototype: true }
) as fc.Arbitrary<NewPet> // one generator for each field

/** Returns a status for each index: all statuses in order, then again from the first. */
export const statusAt = (index: number): PetStatus.PetStatus =>
  PetStatus.all[index % PetStatus.all.length] ?? PetStatus.initial

/** Nine statuses: each of the three occurs three times. */
export const nine: ReadonlyArray<PetStatus.PetStatus> = Array.from({ length: 9 }, (_, at) => statusAt(at))

/** Generates at most twelve statuses, because short lists reveal more violations. */
export const statuses = fc.array(status, { maxLength: 12 })

/** The query for the first 100 animals of any status. */
export const whole = { limit: 100, status: undefined, after: undefined } as const

/** Animals that together have every unusual name, every boundary of int64 and every status. */
export const awkward: ReadonlyArray<NewPet> = Texts.awkward.map((name, index) => ({
  name,
  categoryId: boundaries[index % boundaries.length] ?? 0n,
  status: statusAt(index)
}))

/** Returns an ordinary animal with a unique name. */
export const plain = (trial: Trial, wanted: PetStatus.PetStatus = PetStatus.initial): NewPet => ({
  name: trial.name(),
  categoryId: 1n,
  status: wanted
})

/** An id, or an offset (`plus`) from the id of the inserted animal with the index `nth`. */
export type Id = bigint | { readonly nth: number; readonly plus: bigint }

export const id: fc.Arbitrary<Id> = fc.oneof(
  { weight: 1, arbitrary: int64 },
  {
    weight: 3,
    arbitrary: fc.record(
      { nth: fc.nat(20), plus: fc.bigInt({ min: -1n, max: 1n }) },
      { noNullPrototype: true }
    )
  }
)

/** Returns an id as it is, or computes it from the animals inserted so far; after the last one, `nth` wraps around. */
export const idOf = (wanted: Id, inserted: ReadonlyArray<Pet>): bigint =>
  typeof wanted === "bigint"
    ? wanted
    : BigInt.asIntN(64, (inserted[wanted.nth % Math.max(inserted.length, 1)]?.id ?? 0n) + wanted.plus)

/** A `PageQuery` whose `after` may be relative to the id of an inserted animal. */
export interface Query extends Omit<PageQuery, "after"> {
  readonly after: Id | undefined
}

export const query: fc.Arbitrary<Query> = fc.record(
  {
    limit: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 101 })),
    status: fc.option(status, { nil: undefined }),
    after: fc.option(id, { nil: undefined })
  },
  { noNullPrototype: true }
)

export const insert = (pets: Pets, pet: NewPet, trial: Trial) =>
  portCall(trial, `insert ${PetJson.draft(pet)}`, () => pets.insert(pet), PetJson.line)

export const find = (pets: Pets, wanted: bigint, trial: Trial) =>
  portCall(
    trial,
    `find ${wanted}`,
    () => pets.find(wanted),
    (found) => Option.match(found, { onNone: () => "none", onSome: PetJson.line })
  )

export const page = (pets: Pets, wanted: PageQuery, trial: Trial) =>
  portCall(trial, describe(wanted), () => pets.page(wanted), lines)

/** Inserts animals in sequence. */
export const insertAll = (
  pets: Pets,
  all: ReadonlyArray<NewPet>,
  trial: Trial
): Effect.Effect<ReadonlyArray<Pet>, Violation> => Effect.forEach(all, (pet) => insert(pets, pet, trial))

/** Describes a page for messages. */
export const describe = ({ after, limit, status: wanted }: PageQuery): string =>
  `page of ${limit}${wanted === undefined ? "" : ` ${wanted}`}${after === undefined ? "" : ` after ${after}`}`

/** Describes animals for messages. */
export const lines = (all: ReadonlyArray<Pet>): string =>
  all.length === 0 ? "none" : all.map(PetJson.line).join(", ")

/** Whether two animals are the same in every field. */
export const isSame = (a: Pet, b: Pet): boolean => a.id === b.id && identity(a) === identity(b)

/** Fails unless these are the expected animals, in this order. */
export const expectAll = (actual: ReadonlyArray<Pet>, expected: ReadonlyArray<Pet>, what: string) =>
  expect(
    actual.length === expected.length &&
      actual.every((pet, index) => {
        const wanted = expected[index]
        return wanted !== undefined && isSame(pet, wanted)
      }),
    `${what}: ${lines(expected)}`,
    lines(actual)
  )

/** Returns the animal that `insert` must return, with the id that it assigned. */
export const stored = ({ id: given }: Pick<Pet, "id">, pet: NewPet): Pet => new Pet(given, pet)

/** Returns what `page` must return for these animals, which must be ordered by ascending id. */
export const pageOf = (
  all: ReadonlyArray<Pet>,
  { after, limit, status: wanted }: PageQuery
): ReadonlyArray<Pet> =>
  all
    .filter((pet) => wanted === undefined || pet.status === wanted)
    .filter((pet) => after === undefined || pet.id > after)
    .slice(0, limit)
