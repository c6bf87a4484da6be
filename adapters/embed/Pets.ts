/** Provides the animals of a store as functions that return promises, without a key and without a count. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Int64 from "../../core/domain/Int64.ts"
import * as NewPet from "../../core/domain/NewPet.ts"
import * as Page from "../../core/domain/Page.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as PetFields from "../../core/domain/PetFields.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"

/** Selects animals by status and id. */
export interface ListOptions {
  /** Only animals with this status. */
  readonly status?: PetStatus.PetStatus | undefined
  /** Only animals with an id above this one. */
  readonly after?: bigint | undefined
  /** Maximum number of animals, from 1 to 100; 20 by default. */
  readonly limit?: number | undefined
}

/**
 * The animals of a store. No method needs a key or counts as a request. All methods reject with `InvalidOption` if a
 * value breaks the rules of the HTTP interface, and with `StoreUnavailable` if the database is unavailable.
 */
export interface Pets {
  /** Stores an animal and returns it with its id; without a `status` it is available. */
  readonly create: (pet: NewPet.Given) => Promise<Pet>
  /** Returns the animal with this id, or `undefined`. */
  readonly get: (id: bigint) => Promise<Pet | undefined>
  /** Returns one page of animals, by ascending id; the next page begins after the last id. */
  readonly list: (options?: ListOptions) => Promise<ReadonlyArray<Pet>>
  /** Returns all animals, by ascending id, and reads them in pages. */
  readonly all: () => AsyncIterable<Pet>
}

/** Creates a rule with the condition and the messages of a schema. */
const ruleOf = <A>(schema: Schema.Decoder<A>): Rule.Rule<A> => {
  const decode = Schema.decodeUnknownResult(schema)
  return {
    isValid: (value): value is A => Result.isSuccess(decode(value)),
    reasonFor: (value) => {
      const decoded = decode(value)
      const reason = Result.isFailure(decoded) ? decoded.failure.message : ""
      // An integer in JSON is a `bigint` in programs, so that it is exact.
      return typeof value === "number" && reason === Int64.message ? `${reason}, as a bigint` : reason
    }
  }
}

const int64 = ruleOf(Int64.Int64)

const petRules = Object.fromEntries(
  PetFields.names.map((name) => [name, ruleOf<unknown>(PetFields.schemas[name])])
) as unknown as Options.Rules<NewPet.Given> // one rule for each field

const listRules: Options.Rules<ListOptions> = {
  status: ruleOf(PetStatus.PetStatus),
  after: int64,
  limit: Rule.integer(Page.limit)
}

const decodePet = Schema.decodeUnknownSync(NewPet.NewPet)

const ofCreate = (given: unknown): Result.Result<NewPet.NewPet, InvalidOption> =>
  Result.map(Options.check(petRules, given, PetFields.required), decodePet)

/** Copies an animal: a store in memory returns its own object, which a program could change. */
const copy = (pet: Pet): Pet => new Pet(pet.id, pet)

/** Creates the functions. `run` runs an Effect program with the repository of the store. */
export const make = (run: <A, E>(program: Effect.Effect<A, E, PetRepository>) => Promise<A>): Pets => {
  const page = (options: Options.Present<ListOptions>): Promise<ReadonlyArray<Pet>> =>
    run(
      PetRepository.use((pets) =>
        Effect.map(
          pets.page({ status: undefined, after: undefined, limit: Page.limit.default, ...options }),
          (found) => found.map(copy)
        )
      )
    )
  return {
    create: (given) =>
      run(
        Effect.flatMap(Effect.fromResult(ofCreate(given)), (pet) =>
          PetRepository.use((pets) => Effect.map(pets.insert(pet), copy))
        )
      ),
    get: (given) =>
      run(
        Effect.flatMap(Effect.fromResult(Options.check({ id: int64 }, { id: given }, ["id"])), ({ id }) =>
          PetRepository.use((pets) =>
            Effect.map(pets.find(id), (found) => Option.getOrUndefined(Option.map(found, copy)))
          )
        )
      ),
    list: async (given) => page(Result.getOrThrowWith(Options.check(listRules, given), (invalid) => invalid)),
    all: async function* () {
      let after: bigint | undefined = 0n
      while (after !== undefined) {
        const pets: ReadonlyArray<Pet> = await page({ after, limit: Page.limit.max })
        yield* pets
        after = pets.length < Page.limit.max ? undefined : pets.at(-1)?.id
      }
    }
  }
}
