/**
 * Implements the three ports with plain arrays and maps: slow, obvious, and independent of the adapters under test.
 * Faulty backends wrap these implementations.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Once from "../../core/idempotency/Once.ts"
import { step as countingStep, type State } from "../../core/limits/RateLimit.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { make as makeRateLimitStore, RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { SpoiledPorts } from "./Fault.ts"

/** Creates a repository that contains these animals, or none by default. */
export const petRepository = (initialPets: ReadonlyArray<NewPet> = []): PetRepository["Service"] => {
  const pets = initialPets.map((newPet, index) => new Pet(BigInt(index + 1), newPet))
  const records: Array<Once.Once & { readonly pet: Pet }> = []
  const store = (newPet: NewPet): Pet => {
    const pet = new Pet(BigInt(pets.length + 1), newPet)
    pets.push(pet)
    return pet
  }
  return {
    insert: (newPet) => Effect.sync(() => store(newPet)),
    insertOnce: (newPet, once) =>
      Effect.sync(() => {
        const previous = records.findLast(
          ({ caller, key, now }) =>
            caller === once.caller && key === once.key && now + Once.RETENTION_MS > once.now
        )
        if (previous === undefined) {
          const pet = store(newPet)
          records.push({ ...once, pet })
          return { _tag: "Inserted", pet }
        }
        return previous.fingerprint === once.fingerprint
          ? { _tag: "Replayed", pet: previous.pet }
          : { _tag: "Mismatch" }
      }),
    find: (id) => Effect.sync(() => Option.fromUndefinedOr(pets.find((pet) => pet.id === id))),
    page: ({ after, limit, status }) =>
      Effect.sync(() => {
        const page: Array<Pet> = []
        for (const pet of pets) {
          if (page.length === limit) break
          if (status !== undefined && pet.status !== status) continue
          if (after === undefined || pet.id > after) page.push(pet)
        }
        return page
      })
  }
}

/** Creates an empty store of rate limits. */
export const rateLimitStore = (): RateLimitStore["Service"] => {
  const states = new Map<string, State>()
  const modify: RateLimitStore["Service"]["modify"] = (key, step) =>
    Effect.sync(() => {
      const [result, state] = step(states.get(key))
      states.set(key, state)
      return result
    })
  return makeRateLimitStore({
    modify,
    consumeMany: (key, now, policy, cost) => modify(key, (state) => countingStep(state, now, policy, cost)),
    read: (keys, now) =>
      Effect.sync(() => {
        const stored = [...states].filter(([key]) => keys.includes(key))
        return { at: now, states: new Map(stored) }
      }),
    rehearse: Effect.void
  })
}

/** Creates an empty store of API keys. */
export const apiKeyStore = (): ApiKeyStore["Service"] => {
  const keys: Array<ApiKey> = []
  const recorded: Array<KeyEvent> = []
  const record = (event: KeyEvent | undefined): void => {
    if (event !== undefined) recorded.push(event)
  }
  const insert = (key: ApiKey, event: KeyEvent | undefined): boolean => {
    keys.push(key)
    record(event)
    return true
  }
  return {
    findByHash: (hash) =>
      Effect.sync(() =>
        Option.fromUndefinedOr(keys.find((key) => key.secrets.some((secret) => secret.hash === hash)))
      ),
    insert: (key, event) => Effect.sync(() => void insert(key, event)),
    insertFirst: (key, event) => Effect.sync(() => keys.length === 0 && insert(key, event)),
    update: (id, change) =>
      Effect.sync(() => {
        const index = keys.findIndex((key) => key.id === id)
        const before = keys[index]
        if (before === undefined) return Option.none()
        const [result, after, event] = change(before)
        keys[index] = after
        record(event)
        return Option.some(result)
      }),
    list: Effect.sync(() => [...keys]),
    find: (id) => Effect.sync(() => Option.fromUndefinedOr(keys.find((key) => key.id === id))),
    events: (id) => Effect.sync(() => recorded.filter(({ keyId }) => id === undefined || keyId === id)),
    markSeen: (ids, day) =>
      Effect.sync(() => {
        for (const [index, key] of keys.entries()) {
          if (ids.includes(key.id)) keys[index] = { ...key, lastSeenDay: Math.max(key.lastSeenDay ?? 0, day) }
        }
      })
  }
}

/** Provides all three ports, empty each time the layer is built. */
export const layer: Layer.Layer<PetRepository | RateLimitStore | ApiKeyStore> = Layer.mergeAll(
  Layer.sync(PetRepository, () => petRepository()),
  Layer.sync(RateLimitStore, rateLimitStore),
  Layer.sync(ApiKeyStore, apiKeyStore)
)

/** Provides the three ports with calls that all fail as unavailable; `keys`, `limits` and `pets` can add a fault. */
export const outOfReach = ({
  keys = (port) => port,
  limits = (port) => port,
  pets = (port) => port
}: SpoiledPorts): Layer.Layer<PetRepository | RateLimitStore | ApiKeyStore> => {
  const unavailable = Effect.fail(
    new StoreUnavailable({ retryable: true, cause: new Error("connection refused") })
  )
  return Layer.mergeAll(
    Layer.sync(PetRepository, () =>
      pets({ insert: () => unavailable, find: () => unavailable, page: () => unavailable })
    ),
    Layer.sync(RateLimitStore, () =>
      makeRateLimitStore(limits(makeRateLimitStore({ modify: () => unavailable })))
    ),
    Layer.sync(ApiKeyStore, () =>
      keys({
        findByHash: () => unavailable,
        insert: () => unavailable,
        insertFirst: () => unavailable,
        update: () => unavailable,
        list: unavailable
      })
    )
  )
}
