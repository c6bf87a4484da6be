/** Port: where API key records live. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ApiKey } from "../access/ApiKey.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/** What a store of API keys promises, method by method. */
export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /**
     * The key one of whose secrets has this hash, revoked and expired ones included; it sees every acknowledged
     * `insert` and `update`, within the staleness that the adapter documents.
     */
    readonly findByHash: (hash: string) => Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>

    /** Adds a key; its id and its hashes are new. */
    readonly insert: (key: ApiKey) => Effect.Effect<void, StoreUnavailable>

    /** Adds a key if the store has none; says whether it did. Atomic: of several at once, one adds its key. */
    readonly insertFirst: (key: ApiKey) => Effect.Effect<boolean, StoreUnavailable>

    /**
     * Replaces the key `id` by what `change` makes of it and answers with the other value that `change` returns;
     * `None` when there is no such key. Atomic: no other `update` of that key comes between reading and writing.
     */
    readonly update: <A>(
      id: string,
      change: (key: ApiKey) => readonly [answer: A, key: ApiKey]
    ) => Effect.Effect<Option.Option<A>, StoreUnavailable>

    /** All keys, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
  }
>()("animal-store/core/ports/ApiKeyStore") {}
