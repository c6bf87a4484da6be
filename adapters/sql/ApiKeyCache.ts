/** Keeps API keys in memory for moments, so that a request need not ask the database who sends it. */
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

/** What the store below answered, and when it was asked, by the monotonic clock. */
interface Known {
  readonly key: Option.Option<ApiKey>
  readonly askedAt: bigint
}

const keyOf = Effect.map(({ key }: Known) => key)

/**
 * The store below, asked for each hash once in `keepMs` milliseconds (0 asks each time). Unknown
 * hashes are not kept: a new key works at once, and made-up ones do not fill it. A change that is made here is
 * seen here at once, on other nodes after `keepMs`.
 */
export const layer = (keepMs: number): Layer.Layer<ApiKeyStore, never, ApiKeyStore> =>
  Layer.effect(
    ApiKeyStore,
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      if (keepMs === 0) return store
      const ask = (hash: string): Effect.Effect<Known, StoreUnavailable> =>
        Effect.flatMap(Clock.monotonicTimeNanos, (askedAt) =>
          Effect.map(store.findByHash(hash), (key) => ({ key, askedAt }))
        )
      const cache = yield* Cache.makeWith(ask, {
        capacity: CAPACITY,
        timeToLive: (exit) => (Exit.isSuccess(exit) && Option.isSome(exit.value.key) ? keepMs : 0)
      })
      const keepNanos = BigInt(keepMs) * 1_000_000n
      return {
        ...store,
        findByHash: (hash) =>
          Effect.clockWith((clock) =>
            Effect.flatMap(Cache.getSuccess(cache, hash), (kept) => {
              if (Option.isNone(kept)) return keyOf(Cache.get(cache, hash))
              // The cache counts from the answer, by a clock that may be put back.
              return clock.monotonicTimeNanosUnsafe() - kept.value.askedAt < keepNanos
                ? Effect.succeed(kept.value.key)
                : keyOf(Effect.andThen(Cache.invalidate(cache, hash), Cache.get(cache, hash)))
            })
          ),
        update: (id, change) => Effect.ensuring(store.update(id, change), Cache.invalidateAll(cache))
      }
    })
  )
