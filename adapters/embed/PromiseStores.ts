/** Turns stores whose methods return promises into the stores of the core. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import type { Pet } from "../../core/domain/Pet.ts"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { Once, Outcome } from "../../core/idempotency/Once.ts"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import { ApiKeyStore, type KeyUpdate } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as RateLimitStore from "../../core/ports/RateLimitStore.ts"
import { type Claim, type Methods, ResponseStore } from "../../core/ports/ResponseStore.ts"
import * as BoundedCall from "../storage/BoundedCall.ts"
import * as StorageOptions from "../storage/StorageOptions.ts"

type Pets = PetRepository["Service"]
type Limits = RateLimitStore.RateLimitStore["Service"]
type Keys = ApiKeyStore["Service"]

/**
 * A store whose methods return promises. Each method has the law of the method of the port with the same name. It
 * rejects with `StoreUnavailable` if the store could not complete the call; another rejection is a bug.
 */
export interface PromiseStores {
  /** The methods of `PetRepository`. */
  readonly pets: {
    readonly insert: (pet: NewPet) => Promise<Pet>
    readonly insertOnce?: ((pet: NewPet, once: Once) => Promise<Outcome>) | undefined
    /** Resolves to `undefined` or `null` if there is no animal with this id. */
    readonly find: (id: bigint) => Promise<Pet | null | undefined>
    readonly page: (query: PageQuery) => Promise<ReadonlyArray<Pet>>
  }
  /** The methods of `RateLimitStore`. */
  readonly limits: {
    readonly modify: <A>(key: string, step: RateLimitStore.Step<A>) => Promise<A>
  }
  /** The methods of `ApiKeyStore`. */
  readonly keys: {
    /** Resolves to `undefined` or `null` if no key has this hash. */
    readonly findByHash: (hash: string) => Promise<ApiKey | null | undefined>
    readonly insert: (key: ApiKey, event?: KeyEvent) => Promise<unknown>
    readonly insertFirst: (key: ApiKey, event?: KeyEvent) => Promise<boolean>
    /** Resolves to the result of `change`, or to `undefined` if the key does not exist. */
    readonly update: <A extends object>(id: string, change: KeyUpdate<A>) => Promise<A | undefined>
    readonly list: () => Promise<ReadonlyArray<ApiKey>>
    /** Resolves to `undefined` or `null` if no key has this id. */
    readonly find?: ((id: string) => Promise<ApiKey | null | undefined>) | undefined
    readonly events?: ((id?: string) => Promise<ReadonlyArray<KeyEvent>>) | undefined
    readonly markSeen?: ((ids: ReadonlyArray<string>, day: number) => Promise<unknown>) | undefined
  }
  /**
   * The methods of `ResponseStore`, for operations that are `idempotent`; without them, these ignore `Idempotency-Key`.
   */
  readonly responses?:
    | {
        readonly claim: (once: Once) => Promise<Claim>
        readonly settle: (once: Once, result: string | undefined) => Promise<unknown>
      }
    | undefined
  /** Closes the store, after the last call. */
  readonly close?: (() => Promise<unknown>) | undefined
}

/** Options of `fromPromises`. */
export interface FromPromisesOptions {
  /** Timeout of a call in milliseconds, 1000 by default; after the timeout, the response is 503. */
  readonly timeoutMs?: number | undefined
}

/**
 * Returns stores for the option `database` of `openAnimalStore`, and for the conformance suite, which needs empty stores
 * each time: if `given` is a function, it is called each time that the stores are opened. Throws `InvalidOption`.
 */
export const fromPromises = (
  given: PromiseStores | (() => PromiseStores | Promise<PromiseStores>),
  options?: FromPromisesOptions
): Layer.Layer<PetRepository | RateLimitStore.RateLimitStore | ApiKeyStore> => {
  const { timeoutMs } = orThrow(OptionTable.resolve<{ readonly timeoutMs: number }>(table, options))
  return Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(async () => (typeof given === "function" ? given() : given)),
        (opened) => Effect.promise(async () => opened.close?.())
      ),
      ({ keys, limits, pets, responses }) => {
        const call = callWith(timeoutMs)
        return Layer.mergeAll(
          Layer.succeed(PetRepository, toPets(pets, call)),
          Layer.succeed(RateLimitStore.RateLimitStore, toLimits(limits, call)),
          Layer.succeed(ApiKeyStore, toKeys(keys, call)),
          Layer.succeed(ResponseStore, responses && toResponses(responses, call))
        )
      }
    )
  )
}

const table = { timeoutMs: StorageOptions.callTable.timeoutMs }

const orThrow = Result.getOrThrowWith((invalid: InvalidOption) => invalid)

type Call = <A>(start: () => Promise<A>) => Effect.Effect<A, StoreUnavailable>

const callWith = (timeoutMs: number): Call => {
  const bounded = BoundedCall.make<unknown>(timeoutMs, (error) =>
    error instanceof StoreUnavailable ? Effect.fail(error) : Effect.die(error)
  )
  return (start) => bounded.run(Effect.tryPromise({ try: start, catch: (error) => error }))
}

const toPets = (pets: PromiseStores["pets"], call: Call): Pets => {
  const { insertOnce } = pets
  return {
    insert: (pet) => call(() => pets.insert(pet)),
    find: (id) =>
      Effect.map(
        call(() => pets.find(id)),
        Option.fromNullishOr
      ),
    page: (query) => call(() => pets.page(query)),
    ...(insertOnce === undefined
      ? {}
      : { insertOnce: (pet, once) => call(() => insertOnce.call(pets, pet, once)) })
  }
}

const toLimits = (limits: PromiseStores["limits"], call: Call): Limits =>
  RateLimitStore.make({ modify: (key, step) => call(() => limits.modify(key, step)) })

const toResponses = (responses: NonNullable<PromiseStores["responses"]>, call: Call): Methods => ({
  claim: (once) => call(() => responses.claim(once)),
  settle: (once, result) => Effect.asVoid(call(() => responses.settle(once, result)))
})

const toKeys = (keys: PromiseStores["keys"], call: Call): Keys => {
  const { events, find, markSeen } = keys
  return {
    findByHash: (hash) =>
      Effect.map(
        call(() => keys.findByHash(hash)),
        Option.fromNullishOr
      ),
    insert: (key, event) => Effect.asVoid(call(() => keys.insert(key, event))),
    insertFirst: (key, event) => call(() => keys.insertFirst(key, event)),
    update: <A>(id: string, change: KeyUpdate<A>) =>
      Effect.map(
        // In an object, because the result itself may be undefined.
        call(() =>
          keys.update(id, (key) => {
            const [result, changed, event] = change(key)
            return [{ result }, changed, event]
          })
        ),
        (found) => Option.map(Option.fromUndefinedOr(found), ({ result }) => result)
      ),
    list: call(() => keys.list()),
    ...(find === undefined
      ? {}
      : {
          find: (id) =>
            Effect.map(
              call(() => find.call(keys, id)),
              Option.fromNullishOr
            )
        }),
    ...(events === undefined ? {} : { events: (id) => call(() => events.call(keys, id)) }),
    ...(markSeen === undefined
      ? {}
      : { markSeen: (ids, day) => Effect.asVoid(call(() => markSeen.call(keys, ids, day))) })
  }
}
