import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import {
  type ApiKey,
  ApiKeyStore,
  makeRateLimitStore,
  Pet,
  PetRepository,
  type RateLimit,
  RateLimitStore
} from "../core/index.ts"

const petRepository = Layer.sync(PetRepository, () => {
  const pets: Array<Pet> = []
  return {
    insert: (newPet) =>
      Effect.sync(() => {
        const pet = new Pet(BigInt(pets.length + 1), newPet)
        pets.push(pet)
        return pet
      }),
    find: (id) => Effect.sync(() => Option.fromUndefinedOr(pets.find((pet) => pet.id === id))),
    page: ({ after = 0n, limit, status }) =>
      Effect.sync(() =>
        pets
          .filter((pet) => pet.id > after && (status === undefined || pet.status === status))
          .slice(0, limit)
      )
  }
})

const rateLimitStore = Layer.sync(RateLimitStore, () => {
  const states = new Map<string, RateLimit.State>()
  return makeRateLimitStore({
    modify: (key, step) =>
      Effect.sync(() => {
        const [result, state] = step(states.get(key))
        states.set(key, state)
        return result
      })
  })
})

const apiKeyStore = Layer.sync(ApiKeyStore, () => {
  const keys = new Map<string, ApiKey>()
  return {
    findByHash: (hash) =>
      Effect.sync(() => {
        const hasHash = ({ secrets }: ApiKey) => secrets.some((secret) => secret.hash === hash)
        return Option.fromUndefinedOr([...keys.values()].find(hasHash))
      }),
    insert: (key) => Effect.sync(() => void keys.set(key.id, key)),
    insertFirst: (key) =>
      Effect.sync(() => {
        if (keys.size > 0) return false
        keys.set(key.id, key)
        return true
      }),
    update: (id, change) =>
      Effect.sync(() => {
        const key = keys.get(id)
        if (key === undefined) return Option.none()
        const [result, changed] = change(key)
        keys.set(id, changed)
        return Option.some(result)
      }),
    list: Effect.sync(() => [...keys.values()])
  }
})

export const layer = Layer.mergeAll(petRepository, rateLimitStore, apiKeyStore)
