/** Implements `ApiKeyStore` in memory. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { AdminToken } from "../../core/access/AdminToken.ts"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"

/** Creates an empty store; changes are visible immediately. */
export const layer: Layer.Layer<ApiKeyStore> = Layer.sync(ApiKeyStore, () => {
  const keys = new Map<string, ApiKey>()
  const byHash = new Map<string, ApiKey>()
  const recorded: Array<KeyEvent> = []
  const tokens = new Map<string, AdminToken>()

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
      }),
    adminTokens: {
      insert: (token) => Effect.sync(() => void tokens.set(token.id, token)),
      list: Effect.sync(() => [...tokens.values()]),
      revoke: (id, at) =>
        Effect.sync(() => {
          const token = tokens.get(id)
          if (token !== undefined) tokens.set(id, { ...token, revokedAt: token.revokedAt ?? at })
        })
    }
  }
})
