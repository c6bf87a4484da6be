/** Keeps API keys in memory for moments, so that a request need not ask the database who sends it. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"

/** Longest time in milliseconds that a key may be kept: so long a revocation may take to reach every node. */
export const maxKeepMs = 5_000

const CAPACITY = 10_000

/**
 * The store below, asked for each hash once in `keepMs` milliseconds (0 to `maxKeepMs`; 0 asks each time). Unknown
 * hashes are not kept: a new key works at once, and made-up ones push no real one out. A change that is made here is
 * seen here at once, on other nodes after `keepMs`.
 */
export const layer = (keepMs: number): Layer.Layer<ApiKeyStore, never, ApiKeyStore> =>
  Layer.effect(
    ApiKeyStore,
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      if (keepMs === 0) return store
      const cache = yield* Cache.makeWith(store.findByHash, {
        capacity: CAPACITY,
        timeToLive: (exit) => (Exit.isSuccess(exit) && Option.isSome(exit.value) ? keepMs : 0)
      })
      return {
        ...store,
        findByHash: (hash) => Cache.get(cache, hash),
        update: (id, change) => Effect.ensuring(store.update(id, change), Cache.invalidateAll(cache))
      }
    })
  )
