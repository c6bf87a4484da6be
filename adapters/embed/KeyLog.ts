/** Logs the actions of administrators on keys: one line for each event that the key store records. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"

/** Wraps the key store in the context; a change without an event, such as a second revocation, is not logged. */
export const layer: Layer.Layer<ApiKeyStore, never, ApiKeyStore> = Layer.effect(
  ApiKeyStore,
  Effect.map(ApiKeyStore, (store): ApiKeyStore["Service"] => ({
    // Not a copy with `...`, which would lack the methods of a class.
    findByHash: (hash) => store.findByHash(hash),
    list: store.list,
    ...(store.find && { find: store.find.bind(store) }),
    ...(store.events && { events: store.events.bind(store) }),
    ...(store.markSeen && { markSeen: store.markSeen.bind(store) }),
    insert: (key, event) => Effect.tap(store.insert(key, event), () => logEvent(key, event)),
    insertFirst: (key, event) =>
      Effect.tap(store.insertFirst(key, event), (isFirst) => (isFirst ? logEvent(key, event) : Effect.void)),
    update: (id, change) =>
      Effect.suspend(() => {
        let logged: Effect.Effect<void> = Effect.void
        const updated = store.update(id, (key) => {
          const step = change(key)
          logged = logEvent(step[1], step[2])
          return step
        })
        return Effect.tap(updated, () => logged)
      })
  }))
)

const logEvent = ({ id, plan }: ApiKey, event: KeyEvent | undefined): Effect.Effect<void> =>
  event === undefined
    ? Effect.void
    : Effect.annotateLogs(Effect.logInfo(`key ${event.action}`), { key: id, plan })
