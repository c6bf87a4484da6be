/** Stores whose calls pass through the `CallObserver` in the context, if there is one. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { CallObserver, type DatabaseOperation, type DatabaseSystem } from "./CallObserver.ts"

type Around = <A>(
  operation: DatabaseOperation,
  call: Effect.Effect<A, StoreUnavailable>
) => Effect.Effect<A, StoreUnavailable>

const observing =
  <Id, Store>(
    port: Context.Key<Id, Store>,
    layerOf: (make: Effect.Effect<Store, never, Id>) => Layer.Layer<Id, never, Id>,
    observed: (store: Store, around: Around) => Store
  ) =>
  (system: DatabaseSystem) =>
  <E, R>(layer: Layer.Layer<Id, E, R>): Layer.Layer<Id, E, R> =>
    layerOf(
      Effect.gen(function* () {
        const store = yield* port
        const observer = yield* CallObserver
        if (observer === undefined) return store
        return observed(store, (operation, call) => observer.around(system, operation, call))
      })
    ).pipe(Layer.provide(layer))

/** Observes a store of animals. */
export const petRepository = observing(PetRepository, Layer.effect(PetRepository), (store, around) => ({
  ...store,
  insert: (pet) => around("insert_pet", store.insert(pet)),
  find: (id) => around("find_pet", store.find(id)),
  page: (query) => around("page_pets", store.page(query))
}))

/** Observes a store of rate-limit states. */
export const rateLimitStore = observing(RateLimitStore, Layer.effect(RateLimitStore), (store, around) => {
  const { consume } = store
  return {
    ...store,
    modify: (key, step) => around("count_request", store.modify(key, step)),
    ...(consume === undefined
      ? {}
      : { consume: (key, now, policy) => around("count_request", consume(key, now, policy)) })
  }
})

/** Observes a store of API keys. */
export const apiKeyStore = observing(ApiKeyStore, Layer.effect(ApiKeyStore), (store, around) => ({
  ...store,
  findByHash: (hash) => around("find_api_key", store.findByHash(hash)),
  insert: (key, event) => around("insert_api_key", store.insert(key, event)),
  insertFirst: (key, event) => around("insert_api_key", store.insertFirst(key, event)),
  update: (id, change) => around("update_api_key", store.update(id, change)),
  list: around("list_api_keys", store.list)
}))
