/** Implements `ApiKeyStore` in memory. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import { AdminTokenStore } from "../../core/ports/AdminTokenStore.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"

/** Creates an empty store of API keys and one of admin tokens; changes are visible immediately. */
export const layer: Layer.Layer<ApiKeyStore> = Layer.suspend(() =>
  Layer.merge(Layer.succeed(ApiKeyStore, make()), Layer.succeed(AdminTokenStore, make()))
)

const make = (): ApiKeyStore["Service"] => {
  const keys = new Map<string, ApiKey>()
  const byHash = new Map<string, ApiKey>()
  const recorded: Array<KeyEvent> = []

  const put = (key: ApiKey, event?: KeyEvent): void => {
    for (const { hash } of keys.get(key.id)?.secrets ?? []) byHash.delete(hash)
    for (const { hash } of key.secrets) byHash.set(hash, key)
    keys.set(key.id, key)
    if (event !== undefined) recorded.push(event)
  }

  return {
    findByHash: (hash) => Effect.sync(() => Option.fromUndefinedOr(byHash.get(hash))),
    insert: (key, event) => Effect.sync(() => put(key, event)),
    insertFirst: (key, event) =>
      Effect.sync(() => {
        if (keys.size > 0) return false
        put(key, event)
        return true
      }),
    update: (id, change) =>
      Effect.sync(() => {
        const key = keys.get(id)
        if (key === undefined) return Option.none()
        const [result, changed, event] = change(key)
        put(changed, event)
        return Option.some(result)
      }),
    list: Effect.sync(() => [...keys.values()]),
    find: (id) => Effect.sync(() => Option.fromUndefinedOr(keys.get(id))),
    events: (id) => Effect.sync(() => recorded.filter(({ keyId }) => id === undefined || keyId === id)),
    markSeen: (ids, day) =>
      Effect.sync(() => {
        for (const id of ids) {
          const key = keys.get(id)
          if (key !== undefined && (key.lastSeenDay ?? -1) < day) put({ ...key, lastSeenDay: day })
        }
      })
  }
}
