/** Keeps API keys in memory for moments, so that a request need not ask the database who sends it. */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import * as Immediate from "../../core/ports/Immediate.ts"

const CAPACITY = 10_000

/** What the store below answered, and when it was asked, by the monotonic clock. */
interface Known {
  readonly key: Option.Option<ApiKey>
  readonly askedAt: bigint
}

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
      const clock = yield* Clock.Clock
      const keepNanos = BigInt(keepMs) * 1_000_000n
      // By hash, the one asked for last at the end.
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
            // What was read before a change is not kept after it.
            if (Option.isSome(key) && kept === before) keep(hash, { key, askedAt })
            return key
          })
        })
      // Whoever asks while another asks shares the answer; it is kept here, where a look needs no fiber.
      const asking = yield* Cache.make({ lookup: ask, capacity: CAPACITY, timeToLive: 0 })
      const forget = Effect.suspend(() => {
        kept = new Map()
        return Cache.invalidateAll(asking)
      })
      return {
        ...store,
        findByHash: (hash) =>
          new Immediate.Immediate(() => {
            const known = kept.get(hash)
            if (known === undefined || clock.monotonicTimeNanosUnsafe() - known.askedAt >= keepNanos) {
              return Cache.get(asking, hash)
            }
            keep(hash, known)
            return Effect.succeed(known.key)
          }),
        update: (id, change) => Effect.ensuring(store.update(id, change), forget)
      }
    })
  )
