import { type ApiKey, type Pet, Stores } from "../adapters/embed/index.ts"
import type { RateLimit } from "../core/index.ts"

export const stores = Stores.fromPromises(() => {
  const pets: Array<Pet> = []
  const states = new Map<string, RateLimit.State>()
  const keys = new Map<string, ApiKey>()
  return {
    pets: {
      insert: async (newPet) => {
        const pet = { ...newPet, id: BigInt(pets.length + 1) }
        pets.push(pet)
        return pet
      },
      find: async (id) => pets.find((pet) => pet.id === id),
      page: async ({ after = 0n, limit, status }) =>
        pets
          .filter((pet) => pet.id > after && (status === undefined || pet.status === status))
          .slice(0, limit)
    },
    limits: {
      modify: async (key, step) => {
        const [result, state] = step(states.get(key))
        states.set(key, state)
        return result
      }
    },
    keys: {
      findByHash: async (hash) =>
        [...keys.values()].find(({ secrets }) => secrets.some((secret) => secret.hash === hash)),
      insert: async (key) => keys.set(key.id, key),
      insertFirst: async (key) => {
        if (keys.size > 0) return false
        keys.set(key.id, key)
        return true
      },
      update: async (id, change) => {
        const key = keys.get(id)
        if (key === undefined) return undefined
        const [result, changed] = change(key)
        keys.set(id, changed)
        return result
      },
      list: async () => [...keys.values()]
    }
  }
})
