/** Wraps stores so that the `CallObserver` in the context, if there is one, observes their calls. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { ResponseStore } from "../../core/ports/ResponseStore.ts"
import {
  CallObserver,
  type DatabaseOperation,
  type DatabaseSystem,
  type Observe,
  operations
} from "./CallObserver.ts"

/** The name of each method that is observed. */
type Names<Store> = { readonly [method in keyof NonNullable<Store>]-?: DatabaseOperation | undefined }

type Call = Effect.Effect<unknown, StoreUnavailable>
type Member = Call | ((...given: ReadonlyArray<unknown>) => Call)

const observeStore =
  <Id, Store extends object | undefined>(
    port: Context.Key<Id, Store>,
    layerOf: (make: Effect.Effect<Store, never, Id>) => Layer.Layer<Id, never, Id>,
    names: Names<Store>
  ) =>
  (system: DatabaseSystem) =>
  <E, R>(layer: Layer.Layer<Id, E, R>): Layer.Layer<Id, E, R> =>
    layerOf(
      Effect.gen(function* () {
        const store = yield* port
        const observer = yield* CallObserver
        if (observer === undefined || store === undefined) return store
        return observed(store, names, (operation) => observer.observe(system, operation))
      })
    ).pipe(Layer.provide(layer))

const observed = <Store extends object>(
  store: Store,
  names: { readonly [method: string]: DatabaseOperation | undefined },
  observe: (operation: DatabaseOperation) => Observe
): Store => {
  // The cast is safe: ports have only effects and functions that return effects.
  const members = Object.entries(store as { readonly [method: string]: Member | undefined })
  const wrapped = members.map(([method, member]) => {
    const name = names[method]
    if (name === undefined || member === undefined) return [method, member] as const
    const wrap = observe(name)
    return [
      method,
      typeof member === "function"
        ? (...given: ReadonlyArray<unknown>) => wrap(Reflect.apply(member, store, given))
        : wrap(member)
    ] as const
  })
  return Object.fromEntries(wrapped) as Store // the same methods with the same types
}

/** Observes a store of animals. */
export const petRepository = observeStore(PetRepository, Layer.effect(PetRepository), operations.pets)

/** Observes a store of rate-limit states. */
export const rateLimitStore = observeStore(RateLimitStore, Layer.effect(RateLimitStore), operations.limits)

/** Observes a store of API keys. */
export const apiKeyStore = observeStore(ApiKeyStore, Layer.effect(ApiKeyStore), operations.keys)

/** Observes a store of responses. */
export const responseStore = observeStore(ResponseStore, Layer.effect(ResponseStore), operations.responses)
