/** `ApiKeyStore` in the memory of this process. */
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import * as Immediate from "../../core/ports/Immediate.ts"

/** An empty store; changes are seen at once. */
export const layer: Layer.Layer<ApiKeyStore> = Layer.sync(ApiKeyStore, () => {
  const keys = new Map<string, ApiKey>()
  const byHash = new Map<string, ApiKey>()

  const put = (key: ApiKey): void => {
    for (const { hash } of keys.get(key.id)?.secrets ?? []) byHash.delete(hash)
    for (const { hash } of key.secrets) byHash.set(hash, key)
    keys.set(key.id, key)
  }

  return {
    findByHash: (hash) => Immediate.sync(() => Option.fromUndefinedOr(byHash.get(hash))),
    insert: (key) => Immediate.sync(() => put(key)),
    insertFirst: (key) =>
      Immediate.sync(() => {
        if (keys.size > 0) return false
        put(key)
        return true
      }),
    update: (id, change) =>
      Immediate.sync(() => {
        const key = keys.get(id)
        if (key === undefined) return Option.none()
        const [answer, changed] = change(key)
        put(changed)
        return Option.some(answer)
      }),
    list: Immediate.sync(() => [...keys.values()])
  }
})
