/** An in-memory `ApiKeyStore`. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"

/** Creates an empty store; changes are visible at once. */
export const layer: Layer.Layer<ApiKeyStore> = Layer.sync(ApiKeyStore, () => {
  const keys = new Map<string, ApiKey>()
  const byHash = new Map<string, ApiKey>()

  const put = (key: ApiKey): void => {
    for (const { hash } of keys.get(key.id)?.secrets ?? []) byHash.delete(hash)
    for (const { hash } of key.secrets) byHash.set(hash, key)
    keys.set(key.id, key)
  }

  return {
    findByHash: (hash) => Effect.sync(() => Option.fromUndefinedOr(byHash.get(hash))),
    insert: (key) => Effect.sync(() => put(key)),
    insertFirst: (key) =>
      Effect.sync(() => {
        if (keys.size > 0) return false
        put(key)
        return true
      }),
    update: (id, change) =>
      Effect.sync(() => {
        const key = keys.get(id)
        if (key === undefined) return Option.none()
        const [result, changed] = change(key)
        put(changed)
        return Option.some(result)
      }),
    list: Effect.sync(() => [...keys.values()])
  }
})
