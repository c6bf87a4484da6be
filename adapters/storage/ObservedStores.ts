/** Wraps stores so that the `CallObserver` in the context, if there is one, observes their calls. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { CallObserver, type DatabaseOperation, type DatabaseSystem, type Observe } from "./CallObserver.ts"

type ObserveOperation = (operation: DatabaseOperation) => Observe

const observeStore =
  <Id, Store>(
    port: Context.Key<Id, Store>,
    layerOf: (make: Effect.Effect<Store, never, Id>) => Layer.Layer<Id, never, Id>,
    observed: (store: Store, observe: ObserveOperation) => Store
  ) =>
  (system: DatabaseSystem) =>
  <E, R>(layer: Layer.Layer<Id, E, R>): Layer.Layer<Id, E, R> =>
    layerOf(
      Effect.gen(function* () {
        const store = yield* port
        const observer = yield* CallObserver
        if (observer === undefined) return store
        return observed(store, (operation) => observer.observe(system, operation))
      })
    ).pipe(Layer.provide(layer))

/** Observes a store of animals. */
export const petRepository = observeStore(PetRepository, Layer.effect(PetRepository), (store, observe) => {
  const insert = observe("insert_pet")
  const find = observe("find_pet")
  const { insertOnce } = store
  const page = observe("page_pets")
  return {
    ...store,
    insert: (pet) => insert(store.insert(pet)),
    ...(insertOnce === undefined ? {} : { insertOnce: (pet, once) => insert(insertOnce(pet, once)) }),
    find: (id) => find(store.find(id)),
    page: (query) => page(store.page(query))
  }
})

/** Observes a store of rate-limit states. */
export const rateLimitStore = observeStore(RateLimitStore, Layer.effect(RateLimitStore), (store, observe) => {
  const count = observe("count_request")
  const { consume } = store
  return {
    ...store,
    modify: (key, step) => count(store.modify(key, step)),
    ...(consume === undefined ? {} : { consume: (key, now, policy) => count(consume(key, now, policy)) })
  }
})

/** Observes a store of API keys. */
export const apiKeyStore = observeStore(ApiKeyStore, Layer.effect(ApiKeyStore), (store, observe) => {
  const find = observe("find_api_key")
  const insert = observe("insert_api_key")
  const update = observe("update_api_key")
  return {
    ...store,
    findByHash: (hash) => find(store.findByHash(hash)),
    insert: (key, event) => insert(store.insert(key, event)),
    insertFirst: (key, event) => insert(store.insertFirst(key, event)),
    update: (id, change) => update(store.update(id, change)),
    list: observe("list_api_keys")(store.list)
  }
})
