/** Defines the port for the storage of API keys. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ApiKey } from "../access/ApiKey.ts"
import type { KeyEvent } from "../access/KeyEvent.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/** A pure function that changes a key: returns a result, the key to store, and the event to record, if any. */
export type KeyUpdate<A> = (key: ApiKey) => readonly [result: A, key: ApiKey, event?: KeyEvent | undefined]

/** Stores API keys, and optionally the events of their changes. */
export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /**
     * Returns the key that has a secret with this hash, even if it is revoked or expired. The result includes every
     * acknowledged `insert` and `update`, within the staleness that the adapter documents.
     */
    readonly findByHash: (hash: string) => Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>

    /** Adds a key; the caller guarantees that its id and hashes are new. A store with `events` records `event`. */
    readonly insert: (key: ApiKey, event?: KeyEvent) => Effect.Effect<void, StoreUnavailable>

    /**
     * Adds a key if the store is empty; returns whether the key was added. Atomic: only one of several concurrent calls
     * adds a key. A store with `events` records `event` if the key was added.
     */
    readonly insertFirst: (key: ApiKey, event?: KeyEvent) => Effect.Effect<boolean, StoreUnavailable>

    /**
     * Replaces the key `id` with the key that `change` returns, and returns the result of `change`; `None` if the key
     * does not exist. Atomic: no other `update` of the key runs between the read and the write. A store with `events`
     * records the event of `change` in the same transaction.
     */
    readonly update: <A>(
      id: string,
      change: KeyUpdate<A>
    ) => Effect.Effect<Option.Option<A>, StoreUnavailable>

    /** Returns all keys, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>

    /** Returns the key `id` as it is stored now. Optional: without it, one key is found in the list of all keys. */
    readonly find?: (id: string) => Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>

    /** Returns the recorded events of all keys, or of the key `id`, in the order in which they were recorded. */
    readonly events?: (id?: string) => Effect.Effect<ReadonlyArray<KeyEvent>, StoreUnavailable>

    /**
     * Sets `lastSeenDay` of these keys to `day` (days since 1970-01-01 UTC), unless it is already later; ids without a
     * key are ignored. Optional: without it, the store does not record when keys were last used.
     */
    readonly markSeen?: (ids: ReadonlyArray<string>, day: number) => Effect.Effect<void, StoreUnavailable>
  }
>()("animal-store/core/ports/ApiKeyStore") {}
