/** Makes faulty stores of API keys, which store, find, list or change the wrong data. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey, StoredSecret } from "../../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../../core/access/KeyEvent.ts"
import type { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import type { ApiKeyStore, KeyUpdate } from "../../../core/ports/ApiKeyStore.ts"
import type { Where } from "../Fault.ts"
import * as AtPort from "./AtPort.ts"

type Keys = ApiKeyStore["Service"]

/** A store whose `insert` always records this event. */
const recording = (real: Keys, event: KeyEvent | undefined): Keys => ({
  ...real,
  insert: (key) => real.insert(key, event)
})

/** Replaces `insert`. */
export const replacingInsert = (insert: (key: ApiKey, real: Keys) => ReturnType<Keys["insert"]>): Where =>
  AtPort.keys((real) => ({ ...real, insert: (key, event) => insert(key, recording(real, event)) }))

/** Replaces `insertFirst`. */
export const replacingInsertFirst = (
  insertFirst: (key: ApiKey, real: Keys) => ReturnType<Keys["insertFirst"]>
): Where =>
  AtPort.keys((real) => ({ ...real, insertFirst: (key, event) => insertFirst(key, recording(real, event)) }))

/** Replaces `findByHash`. */
export const replacingFind = (find: (hash: string, real: Keys) => ReturnType<Keys["findByHash"]>): Where =>
  AtPort.keys((real) => ({ ...real, findByHash: (hash) => find(hash, real) }))

/** Replaces `update`. */
export const replacingUpdate = (
  update: <A>(
    id: string,
    change: KeyUpdate<A>,
    real: Keys
  ) => Effect.Effect<Option.Option<A>, StoreUnavailable>
): Where => AtPort.keys((real) => ({ ...real, update: (id, change) => update(id, change, real) }))

/** Changes the listed keys or their order. */
export const changingList = (change: (all: ReadonlyArray<ApiKey>) => ReadonlyArray<ApiKey>): Where =>
  AtPort.keys((real) => ({ ...real, list: Effect.map(real.list, change) }))

/** Changes fields of a key before it is stored. */
export const changingInserted = (change: (key: ApiKey) => Partial<ApiKey>): Where =>
  replacingInsert((key, real) => real.insert({ ...key, ...change(key) }))

/** Replaces the condition of `findByHash`: finds the first listed key with a secret for which `isFound` is true. */
export const findingWhere = (
  isFound: (secret: StoredSecret, hash: string, key: ApiKey, index: number) => boolean
): Where =>
  replacingFind((hash, real) =>
    Effect.map(real.list, (all) =>
      Option.fromUndefinedOr(
        all.find((key) => key.secrets.some((secret, index) => isFound(secret, hash, key, index)))
      )
    )
  )

/** Changes the returned events; `change` gets the events of all keys. */
export const changingEvents = (
  change: (events: ReadonlyArray<KeyEvent>, id: string | undefined) => ReadonlyArray<KeyEvent>
): Where =>
  AtPort.keys((real) => ({
    ...real,
    events: (id) =>
      Effect.map(real.events === undefined ? Effect.succeed([]) : real.events(), (all) => change(all, id))
  }))

/** Updates keys without a lock: reads a key, and writes it after a pause. */
export const readThenWrite = (pause: Effect.Effect<void>): Where =>
  replacingUpdate((id, change, real) =>
    Effect.gen(function* () {
      const before = (yield* real.list).find((key) => key.id === id)
      if (before === undefined) return Option.none()
      yield* pause
      const changed = change(before)
      return yield* real.update(id, () => changed)
    })
  )

/** Inserts the first key without a lock: checks that there is no key, and inserts one after a pause. */
export const checkThenInsert = (pause: Effect.Effect<void>): Where =>
  replacingInsertFirst((key, real) =>
    Effect.gen(function* () {
      if ((yield* real.list).length > 0) return false
      yield* pause
      yield* real.insert(key)
      return true
    })
  )
