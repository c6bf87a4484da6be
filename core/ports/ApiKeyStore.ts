/** Port: storage of API key records. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ApiKey } from "../access/ApiKey.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/** A store of API keys. */
export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /**
     * Returns the key that has a secret with this hash, even if it is revoked or expired. Sees every acknowledged
     * `insert` and `update`, within the staleness that the adapter documents.
     */
    readonly findByHash: (hash: string) => Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>

    /** Adds a key; the caller guarantees that its id and hashes are new. */
    readonly insert: (key: ApiKey) => Effect.Effect<void, StoreUnavailable>

    /**
     * Adds a key if the store is empty; returns whether it did. Atomic: only one of several concurrent calls succeeds.
     */
    readonly insertFirst: (key: ApiKey) => Effect.Effect<boolean, StoreUnavailable>

    /**
     * Replaces the key `id` with the key that `change` returns, and returns the result of `change`; `None` if the key
     * does not exist. Atomic: no other `update` of the key runs between the read and the write.
     */
    readonly update: <A>(
      id: string,
      change: (key: ApiKey) => readonly [result: A, key: ApiKey]
    ) => Effect.Effect<Option.Option<A>, StoreUnavailable>

    /** Returns all keys, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
  }
>()("animal-store/core/ports/ApiKeyStore") {}
