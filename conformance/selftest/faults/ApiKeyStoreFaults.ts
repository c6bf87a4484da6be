/** Faulty stores of API keys, at least one for each law of the port. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey, StoredSecret } from "../../../core/access/ApiKey.ts"
import type { KeyUpdate } from "../../../core/ports/ApiKeyStore.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"

/** Changes fields of a key before it is stored. */
const changingInserted = (change: (key: ApiKey) => Partial<ApiKey>): Where =>
  AtPort.keys((real) => ({ insert: (key, event) => real.insert({ ...key, ...change(key) }, event) }))

/** Changes the listed keys or their order. */
const changingList = (change: (all: ReadonlyArray<ApiKey>) => ReadonlyArray<ApiKey>): Where =>
  AtPort.keys((real) => ({ list: Effect.map(real.list, change) }))

/** Finds the first listed key with a secret for which `isFound` is true. */
const findingWhere = (
  isFound: (secret: StoredSecret, hash: string, key: ApiKey, index: number) => boolean
): Where =>
  AtPort.keys((real) => ({
    findByHash: (hash) =>
      Effect.map(real.list, (all) =>
        Option.fromUndefinedOr(
          all.find((key) => key.secrets.some((secret, index) => isFound(secret, hash, key, index)))
        )
      )
  }))

export const faults: ReadonlyArray<Fault> = [
  fault("keys-store.label-empty", "Stores an absent label as an empty string.")
    .breaks("keys-store.exact")
    .by(changingInserted(({ label = "" }) => ({ label }))),
  fault("keys-store.times-32-bits", "Truncates the time of creation to 32 bits.")
    .breaks("keys-store.exact")
    .by(changingInserted(({ createdAt }) => ({ createdAt: createdAt | 0 }))),
  fault("keys-store.find-newest", "Finds a key only by its newest secret.")
    .breaks("keys-store.find.each-secret")
    .by(findingWhere((secret, hash, _key, index) => secret.hash === hash && index === 0)),
  fault("keys-store.find-by-prefix", "Compares only the first 16 digits of hashes.")
    .breaks("keys-store.find.by-hash")
    .by(findingWhere((secret, hash) => secret.hash.startsWith(hash.slice(0, 16)))),
  fault("keys-store.find-unrevoked", "Does not find revoked keys.")
    .breaks("keys-store.find.each-secret")
    .by(findingWhere((secret, hash, key) => secret.hash === hash && key.revokedAt === undefined)),
  fault(
    "keys-store.list-by-date",
    "Lists keys by time of creation, which may differ from the order of insertion."
  )
    .breaks("keys-store.list.order")
    .by(changingList((all) => all.toSorted((a, b) => a.createdAt - b.createdAt))),
  fault("keys-store.list-without-revoked", "Does not list revoked keys.")
    .breaks("keys-store.list.all")
    .by(changingList((all) => all.filter(({ revokedAt }) => revokedAt === undefined))),
  fault("keys-store.update-null-is-none", "Treats a result of null or undefined as an unknown key.")
    .breaks("keys-store.update.answer")
    .by(
      AtPort.keys((real) => ({
        update: (id, change) =>
          Effect.map(
            real.update(id, change),
            Option.filter((result) => result !== null && result !== undefined)
          )
      }))
    ),
  fault("keys-store.update-by-pattern", "Treats ids as SQL LIKE patterns.")
    .breaks("keys-store.update.none")
    .by(
      AtPort.keys((real) => ({
        update: (id, change) =>
          Effect.flatMap(real.list, (all) => real.update(id === "%" ? (all[0]?.id ?? id) : id, change))
      }))
    ),
  fault(
    "keys-store.update-raced",
    "Reads a key, yields, and writes the changed key, so that one of two updates is lost."
  )
    .breaks("keys-store.update.atomic")
    .by(
      AtPort.keys((real) => ({
        update: Effect.fnUntraced(function* <A>(id: string, change: KeyUpdate<A>) {
          const before = (yield* real.list).find((key) => key.id === id)
          if (before === undefined) return Option.none()
          yield* Effect.yieldNow
          const changed = change(before)
          return yield* real.update(id, () => changed)
        })
      }))
    ),
  fault("keys-store.insert-first-always", "Inserts the key in `insertFirst` even if the store is not empty.")
    .breaks("keys-store.insert-first")
    .by(AtPort.keys((real) => ({ insertFirst: (key, event) => Effect.as(real.insert(key, event), true) }))),
  fault(
    "keys-store.insert-first-raced-closely",
    "Checks that there is no key and inserts one in a second step, without yielding between them."
  )
    .breaks("keys-store.insert-first.atomic")
    .by(
      AtPort.keys((real) => ({
        insertFirst: Effect.fnUntraced(function* (key, event) {
          if ((yield* real.list).length > 0) return false
          yield* Effect.void
          yield* real.insert(key, event)
          return true
        })
      }))
    ),
  fault("keys-store.throwing-change-locked", "Does not release its lock when a change throws.")
    .breaks("keys-store.update.atomic")
    .by(
      AtPort.keys((real) => {
        const guarded = AtPort.leakyLock()
        return { update: (id, change) => guarded(real.update(id, change)) }
      })
    ),
  fault("keys-store.outage-none", "Finds no key when its backend does not respond.")
    .breaks("keys-store.fails-typed")
    .by(
      AtPort.keys((real) => ({
        findByHash: (hash) => Effect.catch(real.findByHash(hash), () => Effect.succeed(Option.none()))
      }))
    ),
  fault("keys-store.find-by-id-in-any-case", "Finds a key by its id in upper or lower case.")
    .breaks("keys-store.find-by-id")
    .by(
      AtPort.keys((real) => ({
        find: (id) =>
          Effect.map(real.list, (all) =>
            Option.fromUndefinedOr(all.find((key) => key.id.toLowerCase() === id.toLowerCase()))
          )
      }))
    ),
  fault("keys-store.events-of-all", "Returns the events of all keys for each key.")
    .breaks("keys-store.events")
    .by(AtPort.keys((real) => ({ events: () => real.events?.() ?? Effect.succeed([]) })))
]
