/** Stores of API keys that store, find, list or change something else. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey, StoredSecret } from "../../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../../core/access/KeyEvent.ts"
import type { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import type { ApiKeyStore, KeyUpdate } from "../../../core/ports/ApiKeyStore.ts"
import type { Where } from "../Fault.ts"
import * as AtPort from "./AtPort.ts"

type Keys = ApiKeyStore["Service"]

/** Changes `insert` as a whole. */
export const inserting = (insert: (key: ApiKey, real: Keys) => ReturnType<Keys["insert"]>): Where =>
  AtPort.keys((real) => ({ ...real, insert: (key) => insert(key, real) }))

/** Changes `insertFirst` as a whole. */
export const insertingFirst = (
  insertFirst: (key: ApiKey, real: Keys) => ReturnType<Keys["insertFirst"]>
): Where => AtPort.keys((real) => ({ ...real, insertFirst: (key) => insertFirst(key, real) }))

/** Changes `findByHash` as a whole. */
export const looking = (find: (hash: string, real: Keys) => ReturnType<Keys["findByHash"]>): Where =>
  AtPort.keys((real) => ({ ...real, findByHash: (hash) => find(hash, real) }))

/** Changes `update` as a whole. */
export const changing = (
  update: <A>(
    id: string,
    change: KeyUpdate<A>,
    real: Keys
  ) => Effect.Effect<Option.Option<A>, StoreUnavailable>
): Where => AtPort.keys((real) => ({ ...real, update: (id, change) => update(id, change, real) }))

/** Lists other keys, or in another order. */
export const listing = (change: (all: ReadonlyArray<ApiKey>) => ReadonlyArray<ApiKey>): Where =>
  AtPort.keys((real) => ({ ...real, list: Effect.map(real.list, change) }))

/** Stores other fields than were given. */
export const keeping = (change: (key: ApiKey) => Partial<ApiKey>): Where =>
  inserting((key, real) => real.insert({ ...key, ...change(key) }))

/** Finds the first key in the list that meets another condition. */
export const finding = (
  isFound: (secret: StoredSecret, hash: string, key: ApiKey, index: number) => boolean
): Where =>
  looking((hash, real) =>
    Effect.map(real.list, (all) =>
      Option.fromUndefinedOr(
        all.find((key) => key.secrets.some((secret, index) => isFound(secret, hash, key, index)))
      )
    )
  )

/** Changes the recorded events. */
export const recording = (
  change: (events: ReadonlyArray<KeyEvent>, id: string | undefined) => ReadonlyArray<KeyEvent>
): Where =>
  AtPort.keys((real) => ({
    ...real,
    events: (id) =>
      Effect.map(real.events === undefined ? Effect.succeed([]) : real.events(), (all) => change(all, id))
  }))

/** Changes `markSeen` as a whole. */
export const marking = (
  markSeen: (ids: ReadonlyArray<string>, day: number, real: Keys) => Effect.Effect<void, StoreUnavailable>
): Where => AtPort.keys((real) => ({ ...real, markSeen: (ids, day) => markSeen(ids, day, real) }))

/** Stores another key than the changed one. */
export const updating = (after: (changed: ApiKey, before: ApiKey) => ApiKey): Where =>
  changing((id, change, real) =>
    real.update(id, (before) => {
      const [result, changed] = change(before)
      return [result, after(changed, before)]
    })
  )

/** Reads a key, and writes it after a pause. */
export const readThenWrite = (pause: Effect.Effect<void>): Where =>
  changing((id, change, real) =>
    Effect.gen(function* () {
      const before = (yield* real.list).find((key) => key.id === id)
      if (before === undefined) return Option.none()
      yield* pause
      const changed = change(before)
      return yield* real.update(id, () => changed)
    })
  )

/** Checks that there is no key, and inserts one after a pause. */
export const lookThenInsert = (pause: Effect.Effect<void>): Where =>
  insertingFirst((key, real) =>
    Effect.gen(function* () {
      if ((yield* real.list).length > 0) return false
      yield* pause
      yield* real.insert(key)
      return true
    })
  )

/** Handles the defect of a change that throws. */
export const catching = (
  handle: (real: Keys, id: string, defect: unknown) => Effect.Effect<Option.Option<never>, StoreUnavailable>
): Where =>
  changing((id, change, real) =>
    Effect.catchDefect(real.update(id, change), (defect) => handle(real, id, defect))
  )
