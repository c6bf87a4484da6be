/** Caches API keys in memory for a short time, so that most requests need no query to authenticate. */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"

const CAPACITY = 10_000

/** A cached key and the monotonic time of its query. */
interface Known {
  readonly key: Option.Option<ApiKey>
  readonly askedAt: bigint
}

/**
 * A cache in front of the store in the context. A key is queried at most once in `keepMs` milliseconds; 0 disables the
 * cache. Unknown hashes are not cached: a new key works at once, and invented keys cannot fill the cache. A change made
 * by this node takes effect here at once, and on other nodes after `keepMs`.
 */
export const layer = (keepMs: number): Layer.Layer<ApiKeyStore, never, ApiKeyStore> =>
  Layer.effect(
    ApiKeyStore,
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      if (keepMs === 0) return store
      const clock = yield* Clock.Clock
      const keepNanos = BigInt(keepMs) * 1_000_000n
      // By hash, the most recently used last.
      let kept = new Map<string, Known>()

      const keep = (hash: string, known: Known): void => {
        kept.delete(hash)
        kept.set(hash, known)
        if (kept.size <= CAPACITY) return
        const [oldest = hash] = kept.keys()
        kept.delete(oldest)
      }
      const ask = (hash: string): Effect.Effect<Option.Option<ApiKey>, StoreUnavailable> =>
        Effect.suspend(() => {
          const askedAt = clock.monotonicTimeNanosUnsafe()
          const before = kept
          return Effect.map(store.findByHash(hash), (key) => {
            // A key that was read before a change is not cached after it.
            if (Option.isSome(key) && kept === before) keep(hash, { key, askedAt })
            return key
          })
        })
      // Concurrent queries of one hash share a result; cached keys are in `kept`.
      const asking = yield* Cache.make({ lookup: ask, capacity: CAPACITY, timeToLive: 0 })
      const forget = Effect.suspend(() => {
        kept = new Map()
        return Cache.invalidateAll(asking)
      })
      return {
        ...store,
        findByHash: (hash) =>
          Effect.suspend(() => {
            const known = kept.get(hash)
            if (known === undefined || clock.monotonicTimeNanosUnsafe() - known.askedAt >= keepNanos) {
              return Cache.get(asking, hash)
            }
            keep(hash, known)
            return Effect.succeed(known.key)
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
              Exit.isSuccess(exit) && (isUnchanged || Option.isNone(exit.value)) ? Effect.void : forget
            )
          })
      }
    })
  )
