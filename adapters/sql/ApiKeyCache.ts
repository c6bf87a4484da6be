/** Caches API keys in memory for a short time, so that most requests need no query to authenticate. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"

const CAPACITY = 10_000

/** A cached key, and the monotonic time of its query in nanoseconds. */
interface CachedKey {
  readonly key: Option.Option<ApiKey>
  readonly queriedAt: bigint
}

/**
 * Adds a cache to the store in the context. A cached key is used for `cacheMs` milliseconds after its query; 0 disables
 * the cache. Unknown hashes are not cached: a new key works immediately, and invented keys cannot fill the cache. A
 * change made by this node takes effect here immediately, and on other nodes within `cacheMs`.
 */
export const layer = (cacheMs: number): Layer.Layer<ApiKeyStore, never, ApiKeyStore> =>
  Layer.effect(
    ApiKeyStore,
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      if (cacheMs === 0) return store
      const clock = yield* Clock.Clock
      const cacheNanos = BigInt(cacheMs) * 1_000_000n
      // The cached keys by hash, in the order in which their queries ended.
      let cached = new Map<string, CachedKey>()

      const put = (hash: string, entry: CachedKey): void => {
        const known = cached.get(hash)
        // Of two concurrent queries, the one that started first may have read an older key.
        if (known !== undefined && known.queriedAt > entry.queriedAt) return
        cached.delete(hash)
        cached.set(hash, entry)
        if (cached.size <= CAPACITY) return
        const [oldest = hash] = cached.keys()
        cached.delete(oldest)
      }
      const query = (hash: string): Effect.Effect<Option.Option<ApiKey>, StoreUnavailable> => {
        const queriedAt = clock.monotonicTimeNanosUnsafe()
        const before = cached
        return Effect.map(store.findByHash(hash), (key) => {
          // A key that was read before a change is not cached after it.
          if (Option.isSome(key) && cached === before) put(hash, { key, queriedAt })
          return key
        })
      }
      const clear = Effect.sync(() => {
        cached = new Map()
      })
      return {
        ...store,
        findByHash: (hash) =>
          Effect.suspend(() => {
            const entry = cached.get(hash)
            return entry === undefined || clock.monotonicTimeNanosUnsafe() - entry.queriedAt >= cacheNanos
              ? query(hash)
              : Effect.succeed(entry.key)
          }),
        update: (id, change) =>
          Effect.suspend(() => {
            let isUnchanged = false
            const update = store.update(id, (key) => {
              const next = change(key)
              isUnchanged = next[1] === key
              return next
            })
            // After a failure it is unknown whether the change was stored.
            return Effect.onExit(update, (exit) =>
              Exit.isSuccess(exit) && (isUnchanged || Option.isNone(exit.value)) ? Effect.void : clear
            )
          })
      }
    })
  )
